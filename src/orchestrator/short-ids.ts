/** Short ids: the prefix that screens show, or `last`. */
import { OrbError } from "../base/errors.ts";
import type { Store } from "../store/ports/port.ts";

/** Job ids share their prefix, so they cannot be shortened. */
export type NamedThing = "run" | "crawl" | "workflow";

/** Screens show eight characters; fewer than six are ambiguous. */
const BEGINNING = /^[0-9a-f]{6}[0-9a-f-]{0,29}$/i;
const CANDIDATES_SHOWN = 5;

/** Expands a short id. A full id costs no query; neither does text that cannot be an id, which the caller rejects. */
export async function fullId(
  { store }: { store: Pick<Store, "idsFrom" | "runs"> },
  what: NamedThing,
  text: string,
): Promise<string> {
  if (text === "last") return newestOf(store, what);
  if (!BEGINNING.test(text)) return text;
  const ids = await store.idsFrom(what, text.toLowerCase(), CANDIDATES_SHOWN + 1);
  const [only] = ids;
  if (only === undefined) throw new OrbError("not_found", `there is no ${what} whose id begins with ${text}`);
  if (ids.length === 1) return only;
  const shown = ids.slice(0, CANDIDATES_SHOWN).join(", ");
  const message = `several ids begin with ${text}: ${shown}${ids.length > CANDIDATES_SHOWN ? " and more" : ""}`;
  throw new OrbError("input_invalid", message, {
    hint: "Use more characters of the id.",
    fields: [{ path: `path.${what === "crawl" ? "task" : what}_id`, message }],
  });
}

/** Ignores runs that workflow steps started: `last` means the user's last run. */
async function newestOf(store: Pick<Store, "runs">, what: NamedThing): Promise<string> {
  const kind = what === "run" ? {} : { kind: what };
  const [newest] = await store.runs({ ...kind, parent: "none", limit: 1 });
  if (newest !== undefined) return newest.id;
  throw new OrbError("not_found", `\`last\` cannot be used: there is no ${what} yet`);
}
