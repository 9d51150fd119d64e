import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button, IconButton } from "../Button.tsx";
import { enterTopLayer } from "./top-layer.ts";
import "./dialog.css";

const FIELD = ".dialog-body :is(input, select, textarea):not(:disabled)";

/** A dialog over the page; Esc, the cross and a click beside it close it. `side` comes in from the edge, for details. */
export function Dialog({
  open,
  onClose,
  title,
  side = false,
  wide = false,
  unsaved = false,
  actions,
  children,
}: {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  side?: boolean;
  wide?: boolean;
  /** Closing would drop what was typed: it is asked about first. */
  unsaved?: boolean;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog === null || dialog.open === open) return;
    if (!open) return dialog.close();
    dialog.showModal();
    // Who opens a form wants to fill it in; else the browser goes to the cross, and Enter closes what was typed.
    if (!side) dialog.querySelector<HTMLElement>(FIELD)?.focus();
  }, [open, side]);
  useEffect(() => (open && element.current !== null ? enterTopLayer(element.current) : undefined), [open]);
  const [asking, setAsking] = useState(false);
  useEffect(() => setAsking(false), [open, unsaved]);
  const asks = unsaved && !asking;
  const leave = () => (asks ? setAsking(true) : element.current?.close());
  /** Text that is marked and dragged ends anywhere; only what began beside the dialog is meant for what is there. */
  const began = useRef(false);
  return (
    <dialog
      ref={element}
      className={`dialog ${side ? "dialog-side" : ""} ${wide ? "dialog-wide" : ""}`}
      aria-labelledby={titleId}
      onClose={onClose}
      onCancel={(event) => {
        if (!asks || event.target !== event.currentTarget) return;
        event.preventDefault();
        setAsking(true);
      }}
      onPointerDown={(event) => {
        began.current = event.target === event.currentTarget;
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget && began.current) leave();
      }}
      onInput={() => setAsking(false)}
    >
      {open ? (
        <div className="dialog-box">
          <header className="dialog-head">
            <h2 id={titleId}>{title}</h2>
            <IconButton label="Close" icon="close" size="small" onClick={leave} />
          </header>
          <div className="dialog-body">{children}</div>
          {asking ? (
            <div className="dialog-ask" role="alert">
              <span>Your changes are not saved.</span>
              <Button size="small" onClick={() => setAsking(false)}>
                Keep editing
              </Button>
              <Button size="small" kind="danger" onClick={() => element.current?.close()}>
                Discard
              </Button>
            </div>
          ) : null}
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
  dismiss = "Cancel",
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
  /** Where the other button cannot be called Cancel. */
  dismiss?: string;
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
          <Button onClick={onClose}>{dismiss}</Button>
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
