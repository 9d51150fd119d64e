import { OrbError } from "../../../base/errors.ts";
import type { Created, IdempotencyKey } from "../../records/job-records.ts";
import type { Context } from "./context.ts";

/** Keys are remembered this long. */
const KEPT_MS = 7 * 24 * 3_600_000;
const FORGOTTEN_AT_ONCE = 100;

/**
 * Makes something at most once per key: the response is stored in the transaction that makes it, so that a repetition
 * gets the same one, also after a restart, and whatever has become of the thing since.
 */
export function makeOnce<T>(
  context: Context,
  once: IdempotencyKey | undefined,
  now: number,
  make: () => { created: T; lanes: string[] },
): Promise<Created<T>> {
  return context.connection.writeTogether(() => makeOnceWithin(context, once, now, make));
}

/** The same within a transaction of the caller's. */
function makeOnceWithin<T>(
  context: Context,
  once: IdempotencyKey | undefined,
  now: number,
  make: () => { created: T; lanes: string[] },
): Created<T> {
  if (once === undefined) return { ...make(), replayed: false };
  const before = storedResponse(context, once, now);
  if (before !== null) return { created: before as T, lanes: [], replayed: true };
  const { connection } = context;
  const { created, lanes } = make();
  connection
    .sql(`INSERT INTO idempotency_keys (key, fingerprint, response, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
         SET fingerprint = excluded.fingerprint, response = excluded.response, created_at = excluded.created_at`)
    .run(once.key, once.fingerprint, JSON.stringify(created), now);
  connection
    .sql(
      `DELETE FROM idempotency_keys WHERE key IN (SELECT key FROM idempotency_keys WHERE created_at < ? ORDER BY created_at LIMIT ${FORGOTTEN_AT_ONCE})`,
    )
    .run(now - KEPT_MS);
  return { created, lanes, replayed: false };
}

/** What a call under this key has answered; null: it is a new one. */
export function storedResponse({ connection }: Context, once: IdempotencyKey, now: number): unknown {
  // A key that is too old counts as forgotten, whether or not it was its turn to be removed.
  const before = connection
    .sql("SELECT fingerprint, response FROM idempotency_keys WHERE key = ? AND created_at >= ?")
    .get(once.key, now - KEPT_MS) as { fingerprint: string; response: string } | undefined;
  if (before === undefined) return null;
  if (before.fingerprint !== once.fingerprint)
    throw new OrbError("idempotency_conflict", "this Idempotency-Key was used for another request", {
      hint: "Use a new key for every new request.",
    });
  return JSON.parse(before.response) as unknown;
}
