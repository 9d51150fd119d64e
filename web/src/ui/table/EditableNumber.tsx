import type { OperationName } from "../../api/client.ts";
import { useEffect, useId, useRef, useState } from "react";
import { capital } from "../../logic/format.ts";
import { type NumberRule, readNumber, showNumber } from "../../logic/limits.ts";
import { useRefusal } from "../rights.ts";
import "./editable-number.css";

/** A number edited in place: saved by Enter or blur; Esc reverts. */
export function EditableNumber({
  label,
  value,
  inherited,
  rule,
  needs,
  onSave,
}: {
  label: string;
  /** Null: not set, `inherited` applies. */
  value: number | null;
  inherited: string;
  rule: NumberRule;
  /** The call that it makes. */
  needs: OperationName;
  onSave: (value: number | null) => void;
}) {
  const refusal = useRefusal(needs);
  const shown = showNumber(value);
  const [typed, setTyped] = useState({ text: shown, for: shown });
  const [wrong, setWrong] = useState<string | null>(null);
  // In the same render as the new value: a blur a moment later would save the old one again.
  if (typed.for !== shown) {
    setTyped({ text: shown, for: shown });
    setWrong(null);
  }
  const { text } = typed;
  const setText = (next: string) => setTyped({ text: next, for: shown });
  const id = useId();
  // The saved value is shown after the server's response: a blur meanwhile must not save it again.
  const sent = useRef<string | null>(null);
  useEffect(() => {
    sent.current = null;
  }, [shown]);
  const save = () => {
    const read = readNumber(text, rule);
    setWrong("error" in read ? read.error : null);
    if ("error" in read) return;
    if (read.value === value) setText(shown);
    else {
      sent.current = text;
      onSave(read.value);
    }
  };
  return (
    <span className="editable-number-box">
      <input
        className="control editable-number num"
        aria-label={label}
        aria-invalid={wrong === null ? undefined : true}
        aria-describedby={wrong === null ? undefined : id}
        disabled={refusal !== null}
        title={refusal ?? (value === null ? `${label}: ${inherited}, the server default` : label)}
        inputMode="decimal"
        autoComplete="off"
        placeholder={inherited}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setWrong(null);
        }}
        onFocus={(event) => event.target.select()}
        onBlur={() => {
          if (text !== shown && text !== sent.current) save();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            save();
          }
          if (event.key !== "Escape" || text === shown) return;
          event.preventDefault();
          setText(shown);
          setWrong(null);
        }}
      />
      {wrong === null ? null : (
        <span className="field-error" id={id} role="alert">
          {capital(wrong)}
        </span>
      )}
    </span>
  );
}
