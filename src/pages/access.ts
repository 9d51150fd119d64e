import { isOrbError } from "../base/errors.ts";
import type { Seal } from "../base/seal.ts";
import { type Credentials, mergeCredentials, noCredentials } from "../domain/credentials.ts";
import { FetchFailure } from "../domain/failure.ts";
import type { Recipe } from "../domain/recipe.ts";
import type { Store } from "../store/port.ts";

/** What sealed bytes are bound to; sealing and opening must name the same. */
export const SEALED_FOR_JOB = "job";
export const SEALED_FOR_SESSION = "session";

/**
 * What lets this page in: the job's own headers and cookies, and a session: the one a person supplied for this run,
 * else the one the job names, else (when the job needs a sign-in) the newest one of the origin.
 */
export async function credentialsFor(
  deps: { store: Store; seal: Seal },
  recipe: Recipe,
  url: string,
  suppliedSession: string | undefined,
): Promise<Credentials | null> {
  const { origin } = new URL(url);
  let credentials = noCredentials(origin);
  let any = false;
  const add = (more: Credentials) => {
    if (more.origin !== origin) return;
    credentials = mergeCredentials(credentials, more);
    any = true;
  };
  if (recipe.sealed !== null) add(opened(deps.seal, Buffer.from(recipe.sealed, "base64"), SEALED_FOR_JOB));
  const session = await sessionFor(deps.store, recipe, origin, suppliedSession);
  if (session !== null) add(opened(deps.seal, session.sealed, SEALED_FOR_SESSION));
  return any ? credentials : null;
}

function opened(seal: Seal, sealed: Uint8Array, about: string): Credentials {
  try {
    return seal.open(sealed, about) as Credentials;
  } catch (error) {
    if (!isOrbError(error, "secret_key_wrong")) throw error;
    throw new FetchFailure("session_unusable", `${error.message}. ${error.hint ?? ""}`.trim(), { cause: error });
  }
}

async function sessionFor(store: Store, recipe: Recipe, origin: string, supplied: string | undefined) {
  const id = supplied ?? recipe.session_id;
  if (id === null || id === undefined)
    return recipe.requires_auth ? ((await store.sessions({ origin, limit: 1 }))[0] ?? null) : null;
  const session = await store.session(id);
  if (session === null) throw new FetchFailure("session_unusable", `the session ${id} does not exist any more`);
  if (session.origin !== origin)
    throw new FetchFailure(
      "session_unusable",
      `the session ${id} belongs to ${session.origin} and is not sent to ${origin}`,
    );
  return session;
}
