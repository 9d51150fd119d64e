import { cutAt } from "../logic/cut-text.ts";
import "./cut-text.css";

/** One line, cut in the middle: texts with the same start differ at their ends. */
export function CutText({ text, title = text, className = "" }: { text: string; title?: string; className?: string }) {
  const at = cutAt(text);
  return (
    <span className={`cut-text ${className}`} title={title}>
      {at === text.length ? (
        <span className="cut-text-head">{text}</span>
      ) : (
        <>
          {/* For screen readers, in one piece. */}
          <span className="spoken cut-text-whole">{text}</span>
          <span className="cut-text-head" aria-hidden="true">
            {text.slice(0, at)}
          </span>
          <span className="cut-text-tail" aria-hidden="true">
            {text.slice(at)}
          </span>
        </>
      )}
    </span>
  );
}
