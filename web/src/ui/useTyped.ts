import { useEffect, useRef, useState } from "react";
import { TYPED_MS } from "../logic/typed-time.ts";

/** Filter text that applies when typing stops, or at once by `submit`; trimmed. */
export function useTyped(value: string, onChange: (value: string) => void) {
  const [typed, setTyped] = useState({ text: value, for: value });
  // In the same render as the new value: otherwise a slow update would re-apply the previous search. Text being typed
  // stays, including the space before the next word.
  if (typed.for !== value) setTyped({ text: typed.text.trim() === value ? typed.text : value, for: value });
  const { text } = typed;
  const latest = useRef(onChange);
  useEffect(() => {
    latest.current = onChange;
  });
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = window.setTimeout(() => latest.current(text.trim()), TYPED_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return {
    text,
    setText: (next: string) => setTyped({ text: next, for: value }),
    submit: () => onChange(text.trim()),
  };
}
