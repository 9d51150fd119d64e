import { OrbError } from "../../../base/errors.ts";
import type { Created, IdempotencyKey } from "../../records/job-records.ts";
import type { SharedLocks } from "./connection.ts";
import { requireVisibleObject } from "./caller-limits.ts";
import type { Context } from "./context.ts";

/** Keys are remembered this long. */
const KEPT_MS = 7 * 24 * 3_600_000;
const EXPIRE_BATCH = 100;

/**
 * Creates at most once per key: the response is stored in the creating transaction, so that a repetition gets the same
 * one, even after a restart or a later change.
 */
export function createOnce<T>(
  context: Context,
  once: IdempotencyKey | undefined,
  now: number,
  create: () => { created: T; lanes: string[] },
  /** Runs that exist already, and are written; names that only one writer at a time may create. */
  { runs = [], names = [] }: Partial<SharedLocks> = {},
): Promise<Created<T>> {
  const locks = { names: once === undefined ? names : [...names, `key:${once.key}`], runs };
  return context.connection.writeTogether(() => createOnceInTransaction(context, once, now, create), locks);
}

/** As `createOnce`, within the caller's transaction. */
function createOnceInTransaction<T>(
  context: Context,
  once: IdempotencyKey | undefined,
  now: number,
  create: () => { created: T; lanes: string[] },
): Created<T> {
  if (once === undefined) return { ...create(), replayed: false };
  const before = storedResponse(context, once, now);
  if (before !== null) return { created: before as T, lanes: [], replayed: true };
  const { connection } = context;
  const { created, lanes } = create();
  connection
    .sql(`INSERT INTO idempotency_keys (key, fingerprint, response, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
         SET fingerprint = excluded.fingerprint, response = excluded.response, created_at = excluded.created_at`)
    .run(once.key, once.fingerprint, JSON.stringify(created), now);
  connection
    .sql(
      `DELETE FROM idempotency_keys WHERE key IN (SELECT key FROM idempotency_keys WHERE created_at < ? ORDER BY created_at LIMIT ${EXPIRE_BATCH} ${connection.dialect.unlessLocked})`,
    )
    .run(now - KEPT_MS);
  return { created, lanes, replayed: false };
}

/** The stored response of this key; null: a new call. */
export function storedResponse(context: Context, once: IdempotencyKey, now: number): unknown {
  const { connection } = context;
  // An expired key does not count, whether or not it is deleted yet.
  const before = connection
    .sql("SELECT fingerprint, response FROM idempotency_keys WHERE key = ? AND created_at >= ?")
    .get(once.key, now - KEPT_MS) as { fingerprint: string; response: string } | undefined;
  if (before === undefined) return null;
  if (before.fingerprint !== once.fingerprint)
    throw new OrbError("idempotency_conflict", "this Idempotency-Key was used for another request", {
      hint: "Use a new key for every new request.",
    });
  const response = JSON.parse(before.response) as { id: string };
  // The limits of the caller may be narrower now, or what it created may have left them.
  requireVisibleObject(context, response.id);
  return response;
}
