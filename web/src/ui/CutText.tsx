import { cutAt } from "../logic/cut-text.ts";
import "./cut-text.css";

/** One line that is cut in the middle where it has no room: texts that begin alike are told apart by their ends. */
export function CutText({ text, title = text, className = "" }: { text: string; title?: string; className?: string }) {
  const at = cutAt(text);
  return (
    <span className={`cut-text ${className}`} title={title}>
      <span className="cut-text-head">{text.slice(0, at)}</span>
      {at === text.length ? null : <span className="cut-text-tail">{text.slice(at)}</span>}
    </span>
  );
}
