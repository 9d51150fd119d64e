/** The part of a form that is stored as a draft: what was typed, without possible secrets. */
import type { Form } from "./new-form.ts";

export interface Draft {
  form: Partial<Form>;
  /** Part of the input is not stored. */
  dropped: boolean;
}

const SECRET_NAME =
  /pass(?:word|wd|phrase)|secret|token|api[_-]?key|authori[sz]ation|^auth$|credential|cookie|headers?$/i;
/** `https://name:password@host` */
const LOGIN = /\/\/[^/\s@]*@/;
/** A definition with such a name is not stored: its secrets cannot be identified. */
const SECRET_ENTRY = new RegExp(`(?:${SECRET_NAME.source.replaceAll(/[$^]/g, "")})["']?\\s*[:=]`, "i");

/** Null: nothing to lose. */
export function draftOf(form: Form, first: Form): Draft | null {
  const draft: Draft = { form: {}, dropped: false };
  for (const key of Object.keys(form) as (keyof Form)[]) {
    if (key === "kind" || JSON.stringify(form[key]) === JSON.stringify(first[key])) continue;
    const value = safe(key, form[key]);
    if (JSON.stringify(value) !== JSON.stringify(form[key])) draft.dropped = true;
    if (value !== undefined) Object.assign(draft.form, { [key]: value });
  }
  const typed = Object.keys(draft.form);
  // The form itself may have selected the template.
  if (!draft.dropped && typed.every((key) => key === "template")) return null;
  return { ...draft, form: { ...draft.form, kind: form.kind } };
}

/** Parses a stored draft; null: not a draft. */
export function readDraft(text: string | null): Draft | null {
  try {
    const draft = JSON.parse(text ?? "null") as Partial<Draft> | null;
    if (typeof draft?.form !== "object" || draft.form === null) return null;
    return { form: draft.form, dropped: draft.dropped === true };
  } catch {
    return null;
  }
}

function safe(key: keyof Form, value: Form[keyof Form]): unknown {
  if (key === "headers" || key === "cookies") return undefined;
  if (key === "definition") return SECRET_ENTRY.test(String(value)) || LOGIN.test(String(value)) ? undefined : value;
  if (key === "actions")
    // Text typed by a browser action may be a password.
    return (value as Form["actions"]).map((action) => (action.kind === "write" ? { ...action, text: "" } : action));
  return withoutSecrets(value);
}

function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return LOGIN.test(value) ? undefined : value;
  if (Array.isArray(value)) return value.map(withoutSecrets).filter((one) => one !== undefined);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const kept = SECRET_NAME.test(name) ? undefined : withoutSecrets(inner);
      return kept === undefined ? [] : [[name, kept]];
    }),
  );
}
