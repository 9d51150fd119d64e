import { Fragment, useEffect, useRef, useState } from "react";
import { codeParts } from "../logic/code-parts.ts";
import { Button, IconButton } from "../Button.tsx";
import type { IconName } from "../Icon.tsx";
import { toast } from "../overlay/Toast.tsx";
import "./code.css";

/** Copies text; without `children` it is an icon. */
export function CopyButton({
  text,
  label = "Copy",
  icon: sign = "copy",
  size = "small",
  children,
}: {
  text: string;
  label?: string;
  icon?: IconName;
  size?: "small" | "normal";
  children?: string;
}) {
  const [copied, setCopied] = useState(false);
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    if (!(await copyText(text))) return;
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setCopied(false), 1800);
  };
  const icon = copied ? "check" : sign;
  return (
    <>
      {children === undefined ? (
        <IconButton label={label} icon={icon} size={size} onClick={() => void copy()} />
      ) : (
        <Button size={size} icon={icon} onClick={() => void copy()}>
          {children}
        </Button>
      )}
      <span className="spoken" role="status">
        {copied ? "Copied" : ""}
      </span>
    </>
  );
}

/** Whether it was copied; a failure shows a toast. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await writeText(text);
    return true;
  } catch {
    toast("The browser blocks copying. Select the text and copy it by hand.", "bad");
    return false;
  }
}

/** Pages without TLS may not use the clipboard API. */
async function writeText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "spoken";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("not copied");
}

/** Commands and data to read and copy. */
export function Code({ text, label = "Copy", wrap = false }: { text: string; label?: string; wrap?: boolean }) {
  return (
    <div className="code">
      {/* Scrollable, so it must be focusable. */}
      <pre className={wrap ? "code-wrap" : ""} tabIndex={0} aria-label="Text to copy" role="region">
        {wrap
          ? codeParts(text).map(({ text: part, whole, joint }, index) => (
              <Fragment key={index}>
                {joint ? <wbr /> : null}
                {whole ? <span className="code-whole">{part}</span> : part}
              </Fragment>
            ))
          : text}
      </pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}
