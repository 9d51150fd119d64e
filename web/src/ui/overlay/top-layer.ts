/** The topmost dialog: everything outside of it is inert, so toasts are rendered into it. */
import { useSyncExternalStore } from "react";

let dialogs: readonly HTMLElement[] = [];
const listeners = new Set<() => void>();

function change(next: readonly HTMLElement[]): void {
  dialogs = next;
  for (const listener of listeners) listener();
}

/** The returned function closes it. */
export function enterTopLayer(dialog: HTMLElement): () => void {
  change([...dialogs, dialog]);
  return () => change(dialogs.filter((one) => one !== dialog));
}

export function useTopDialog(): HTMLElement | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => dialogs.at(-1) ?? null,
  );
}
