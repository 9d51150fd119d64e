import type { Frame } from "./useFrame.ts";
import "./html-frame.css";

/** HTML of strangers, shown where it can do nothing: a frame without an origin, a network or scripts of its own. */
export function HtmlFrame({ frame, label, flush = false }: { frame: Frame; label: string; flush?: boolean }) {
  return (
    <iframe
      ref={frame.element}
      className={flush ? "html-frame html-frame-flush" : "html-frame"}
      src="/frame.html"
      sandbox="allow-scripts"
      title={label}
    />
  );
}
