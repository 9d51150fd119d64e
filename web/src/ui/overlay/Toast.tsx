import { useSyncExternalStore } from "react";
import { createPortal } from "react-dom";
import { MESSAGE_MS } from "../logic/message-time.ts";
import type { Tone } from "../../logic/states.ts";
import { Button, IconButton } from "../Button.tsx";
import { Icon } from "../Icon.tsx";
import { useTopDialog } from "./top-layer.ts";
import "../badge.css";
import "./toast.css";

interface ToastMessage {
  id: number;
  tone: Extract<Tone, "good" | "bad" | "info">;
  text: string;
  action: ToastAction | null;
}

/** An immediate action, such as undo. */
interface ToastAction {
  name: string;
  run: () => void;
}

let messages: readonly ToastMessage[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function change(next: readonly ToastMessage[]): void {
  messages = next;
  for (const listener of listeners) listener();
}

const dismiss = (id: number) => change(messages.filter((message) => message.id !== id));

/** A brief message that something was done or failed. What needs action belongs in the page instead. */
export function toast(text: string, tone: ToastMessage["tone"] = "good", action: ToastAction | null = null): void {
  const id = (lastId += 1);
  // A repeated message replaces the first: two would look like two actions.
  const others = messages.filter((message) => message.text !== text || message.tone !== tone);
  change([...others.slice(-3), { id, tone, text, action }]);
  // Errors stay until dismissed.
  if (tone !== "bad") setTimeout(() => dismiss(id), action === null ? MESSAGE_MS : 2 * MESSAGE_MS);
}

/** An error in one sentence. */
export function toastError(error: unknown): void {
  toast(error instanceof Error ? error.message : String(error), "bad");
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => messages,
  );
  const dialog = useTopDialog();
  const list = (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, tone, text, action }) => (
        <div key={id} className={`toast tone-${tone}`}>
          <Icon name={tone === "bad" ? "warning" : tone === "good" ? "check" : "info"} />
          <span className="wrap">{text}</span>
          {action === null ? null : (
            <Button
              size="small"
              onClick={() => {
                dismiss(id);
                action.run();
              }}
            >
              {action.name}
            </Button>
          )}
          <IconButton label="Dismiss" icon="close" size="small" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
  return dialog === null ? list : createPortal(list, dialog);
}
