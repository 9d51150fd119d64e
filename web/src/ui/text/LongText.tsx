import { useState } from "react";
import { shortNumber } from "../../logic/format.ts";
import { Button } from "../Button.tsx";
import "./long-text.css";

const AT_FIRST = 20_000;

/** Text of any length in a scrolling box; very long ones are cut until expanded. */
export function LongText({ text, label, code = false }: { text: string; label: string; code?: boolean }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? text : text.slice(0, AT_FIRST);
  return (
    <div className="long-text">
      {/* Scrollable, so it must be focusable. */}
      <pre className={code ? "" : "long-text-prose"} tabIndex={0} role="region" aria-label={label}>
        {shown}
      </pre>
      {shown.length < text.length ? (
        <div className="row">
          <Button size="small" onClick={() => setWhole(true)}>
            Show all
          </Button>
          <span className="soft">
            The first {shortNumber(AT_FIRST)} of {shortNumber(text.length)} characters.
          </span>
        </div>
      ) : null}
    </div>
  );
}
