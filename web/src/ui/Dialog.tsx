import { type ReactNode, useEffect, useId, useRef } from "react";
import { Button, IconButton } from "./Button.tsx";
import "./dialog.css";

/** A dialog over the page; Esc, the cross and a click beside it close it. `side` comes in from the edge, for details. */
export function Dialog({
  open,
  onClose,
  title,
  side = false,
  wide = false,
  actions,
  children,
}: {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  side?: boolean;
  wide?: boolean;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog === null || dialog.open === open) return;
    if (open) dialog.showModal();
    else dialog.close();
  }, [open]);
  return (
    <dialog
      ref={element}
      className={`dialog ${side ? "dialog-side" : ""} ${wide ? "dialog-wide" : ""}`}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) event.currentTarget.close();
      }}
    >
      {open ? (
        <div className="dialog-box">
          <header className="dialog-head">
            <h2 id={titleId}>{title}</h2>
            <IconButton label="Close" icon="close" size="small" onClick={() => element.current?.close()} />
          </header>
          <div className="dialog-body">{children}</div>
          {actions === undefined ? null : <footer className="dialog-foot">{actions}</footer>}
        </div>
      ) : null}
    </dialog>
  );
}

/** Asks before something that cannot be taken back. */
export function Confirm({
  open,
  onClose,
  onConfirm,
  title,
  verb,
  danger = false,
  busy = false,
  children,
}: {
  open: boolean;
  onClose: () => void;
  onConfirm: () => void;
  title: string;
  /** What the button does: "Delete job". */
  verb: string;
  danger?: boolean;
  busy?: boolean;
  children: ReactNode;
}) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={title}
      actions={
        <>
          <Button onClick={onClose}>Keep as it is</Button>
          <Button kind={danger ? "danger" : "primary"} busy={busy} onClick={onConfirm}>
            {verb}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
