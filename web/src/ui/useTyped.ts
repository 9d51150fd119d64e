import { useEffect, useRef, useState } from "react";
import { TYPED_MS } from "../logic/typed-time.ts";

/** Text of a filter that takes effect when typing stops, or at once by `submit`; spaces around it do not count. */
export function useTyped(value: string, onChange: (value: string) => void) {
  const [typed, setTyped] = useState({ text: value, for: value });
  // In the same step as the new value: where that took a moment, what was searched for before would take effect again.
  // What somebody is typing stays as it is, also the space before the next word.
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
