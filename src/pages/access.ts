import { isOrbError } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { Seal } from "../base/seal.ts";
import { type Credentials, mergeCredentials, noCredentials } from "../domain/text/credentials.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import type { Recipe } from "../domain/run/recipe.ts";
import type { SessionRecord } from "../store/records/job-records.ts";
import type { Store } from "../store/ports/port.ts";

/** The context that sealed bytes are bound to; sealing and opening must use the same. */
export const SEALED_FOR_JOB = "job";
export const SEALED_FOR_SESSION = "session";

/**
 * The credentials of a page: the job's own headers and cookies, and a session: the one supplied for this run, else the
 * one the job names, else (when the job requires a sign-in) the newest one of the origin. `elsewhere: "without"` fetches
 * pages of other origins than the session's without it, as a crawl beyond the site does.
 */
export async function credentialsFor(
  deps: { store: Store; seal: Seal; clock: Clock },
  recipe: Recipe,
  url: string,
  { supplied, elsewhere = "refuse" }: { supplied?: string | undefined; elsewhere?: "refuse" | "without" } = {},
): Promise<Credentials | null> {
  const { origin } = new URL(url);
  let credentials = noCredentials(origin);
  let hasAny = false;
  const add = (more: Credentials) => {
    if (more.origin !== origin) return;
    credentials = mergeCredentials(credentials, more);
    hasAny = true;
  };
  if (recipe.sealed !== null) add(unseal(deps.seal, Buffer.from(recipe.sealed, "base64"), SEALED_FOR_JOB));
  const session = await sessionFor(deps.store, recipe, origin, supplied);
  if (session !== null && session.origin !== origin) {
    if (elsewhere === "without") return hasAny ? credentials : null;
    const message = `the session ${session.name ?? session.id} belongs to ${session.origin} and is not sent to ${origin}`;
    throw new FetchFailure("session_unusable", message);
  }
  if (session !== null) {
    add(unseal(deps.seal, session.sealed, SEALED_FOR_SESSION));
    await noteUse(deps, session);
  }
  return hasAny ? credentials : null;
}

/** One write per minute: a crawl fetches many pages per second. */
const USE_RESOLUTION_MS = 60_000;

async function noteUse({ store, clock }: { store: Store; clock: Clock }, session: SessionRecord): Promise<void> {
  const now = clock.now();
  if (now - (session.lastUsedAt ?? Number.NEGATIVE_INFINITY) >= USE_RESOLUTION_MS)
    await store.noteSessionUse(session.id, now);
}

function unseal(seal: Seal, sealed: Uint8Array, about: string): Credentials {
  try {
    return seal.open(sealed, about) as Credentials;
  } catch (error) {
    if (!isOrbError(error, "secret_key_wrong")) throw error;
    throw new FetchFailure("session_unusable", `${error.message}. ${error.hint ?? ""}`.trim(), { cause: error });
  }
}

async function sessionFor(
  store: Store,
  recipe: Recipe,
  origin: string,
  supplied: string | undefined,
): Promise<SessionRecord | null> {
  const id = supplied ?? recipe.session_id;
  if (id === null || id === undefined)
    return recipe.requires_auth ? ((await store.sessions({ origin, limit: 1 }))[0] ?? null) : null;
  const session = await store.session(id);
  if (session === null) throw new FetchFailure("session_unusable", `the session ${id} was deleted`);
  return session;
}
