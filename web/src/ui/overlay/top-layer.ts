/** The dialog that lies on top: all that is outside of it can be neither pressed nor heard, so what must be is put into it. */
import { useSyncExternalStore } from "react";

let dialogs: readonly HTMLElement[] = [];
const listeners = new Set<() => void>();

function change(next: readonly HTMLElement[]): void {
  dialogs = next;
  for (const listener of listeners) listener();
}

/** The returned function says that it is closed again. */
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
