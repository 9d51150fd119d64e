/** Drafts of forms, kept in this browser tab until they are sent or discarded. */
import { useEffect, useState } from "react";
import { type Draft, draftOf, readDraft } from "./logic/draft.ts";
import type { Form } from "./logic/new-form.ts";

const PREFIX = "orb.draft.";

/** Without storage, which a browser may deny, there are no drafts. */
function withStorage<Result>(work: (storage: Storage) => Result, otherwise: Result): Result {
  try {
    return work(sessionStorage);
  } catch {
    return otherwise;
  }
}

export function clearDrafts(): void {
  withStorage((storage) => {
    for (const key of Object.keys(storage)) if (key.startsWith(PREFIX)) storage.removeItem(key);
  }, undefined);
}

/** The draft of the form of this name when the page was opened. */
export function useStoredDraft(name: string): { draft: Draft | null; clear: () => void } {
  const key = PREFIX + name;
  const [draft, setDraft] = useState(() => withStorage((storage) => readDraft(storage.getItem(key)), null));
  const clear = () => {
    withStorage((storage) => storage.removeItem(key), undefined);
    setDraft(null);
  };
  return { draft, clear };
}

/** Stores what is typed; `isSent`: deletes it. */
export function useKeepDraft(name: string, form: Form, first: Form, isSent: () => boolean): void {
  const draft = draftOf(form, first);
  const text = draft === null ? null : JSON.stringify(draft);
  useEffect(() => {
    if (isSent()) return;
    withStorage((storage) => {
      if (text === null) storage.removeItem(PREFIX + name);
      else storage.setItem(PREFIX + name, text);
    }, undefined);
  }, [name, text]);
}
