import type { Frame } from "./useFrame.ts";
import "./html-frame.css";

/** Third-party HTML in a sandbox: a frame without origin, network or own scripts. */
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
