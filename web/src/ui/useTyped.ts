import { useEffect, useState } from "react";

const WAIT_MS = 350;

/** Text of a filter that takes effect when typing stops, or at once by `submit`; spaces around it do not count. */
export function useTyped(value: string, onChange: (value: string) => void) {
  const [text, setText] = useState(value);
  // What somebody is typing stays as it is, also the space before the next word.
  useEffect(() => setText((old) => (old.trim() === value ? old : value)), [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = window.setTimeout(() => onChange(text.trim()), WAIT_MS);
    return () => clearTimeout(timer);
  });
  return { text, setText, submit: () => onChange(text.trim()) };
}
