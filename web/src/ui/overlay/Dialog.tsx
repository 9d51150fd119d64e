import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button, IconButton } from "../Button.tsx";
import { enterTopLayer } from "./top-layer.ts";
import "./dialog.css";

const FIELD = ".dialog-body :is(input, select, textarea):not(:disabled)";

/** A modal dialog; Esc, the close button and a click outside close it. `side`: a drawer, for details. */
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
  /** Closing would discard input: asks first. */
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
    // Focus the first field; by default the browser focuses the close button, and Enter would close the form.
    if (!side) dialog.querySelector<HTMLElement>(FIELD)?.focus();
  }, [open, side]);
  useEffect(() => (open && element.current !== null ? enterTopLayer(element.current) : undefined), [open]);
  const [asking, setAsking] = useState(false);
  useEffect(() => setAsking(false), [open, unsaved]);
  const asks = unsaved && !asking;
  const leave = () => (asks ? setAsking(true) : element.current?.close());
  /** A text selection may end outside: only a click that started outside closes the dialog. */
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

/** Confirms an irreversible action. */
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
  /** The button's label: "Delete job". */
  verb: string;
  /** If the other button cannot be "Cancel". */
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
