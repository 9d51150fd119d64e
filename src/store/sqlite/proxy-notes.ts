/** What uses and checks of proxies have shown. */
import { decodeId, encodeId } from "../../domain/ids.ts";
import { MOST_REMEMBERED } from "../../domain/proxy-score.ts";
import type { ProxyNote } from "../proxy-port.ts";
import { type Context, rows } from "./context.ts";

const NOTED_AT_ONCE = 500;
/** Of the sites that a proxy was used at, so many are remembered: those it was used at last. */
const SITES_PER_PROXY = 100;

/** Whoever has read the proxies is to read them again. Within a transaction of the caller's. */
export function bumpProxies({ connection }: Context): void {
  connection.sql("UPDATE control SET proxies = proxies + 1").run();
}

export function noteProxies(context: Context, notes: readonly ProxyNote[], now: number): void {
  for (let from = 0; from < notes.length; from += NOTED_AT_ONCE) {
    const part = notes.slice(from, from + NOTED_AT_ONCE);
    context.connection.write(() => {
      const changed = part.filter((note) => writeNote(context, note, now));
      if (changed.length > 0) bumpProxies(context);
    });
  }
}

const BEFORE = "SELECT state, checked_at FROM proxies WHERE n = ?";

const COUNT_ONLY = `UPDATE proxies SET successes = successes + ?, failures = failures + ?, blocks = blocks + ?, used_at = ?
  WHERE n = ?`;

// A proxy that somebody has switched off meanwhile stays so; what is known of it is kept beside that.
const WRITE = `UPDATE proxies SET state = CASE WHEN ?1 = 'disabled' THEN state ELSE ?1 END, score = ?2, latency_ms = ?3,
  rest_until = ?4, rest_step = ?5, last_error = ?6, successes = successes + ?7, failures = failures + ?8,
  blocks = blocks + ?9, checked_at = coalesce(?10, checked_at), used_at = coalesce(?11, used_at) WHERE n = ?12 RETURNING state`;

/** Says whether whoever wrote it is to look at it again: its state is another one now. A proxy that is gone is left out. */
function writeNote(context: Context, note: ProxyNote, now: number): boolean {
  const { connection, instance } = context;
  const n = decodeId(instance, "proxy", note.id);
  const before = connection.sql(BEFORE).get(n) as { state: string; checked_at: number | null } | undefined;
  if (n === null || before === undefined) return false;
  for (const site of note.sites) writeSite(context, n, site, now);
  if (note.sites.length > 0) forgetOldSites(context, n);
  // Uses are written a moment later: a check that came after them knows better how the proxy is now.
  if (note.checkedAt === null && note.usedAt !== null && (before.checked_at ?? 0) > note.usedAt) {
    connection.sql(COUNT_ONLY).run(note.successes, note.failures, note.blocks, note.usedAt, n);
    return true;
  }
  const { state } = connection
    .sql(WRITE)
    .get(
      note.state,
      note.score,
      note.latencyMs,
      Math.round(note.restUntil),
      note.restStep,
      note.lastError,
      note.successes,
      note.failures,
      note.blocks,
      note.checkedAt,
      note.usedAt,
      n,
    ) as { state: string };
  return state !== before.state;
}

const COUNTED = "successes + failures + blocks";
const KEPT = `CASE WHEN ${COUNTED} >= ${MOST_REMEMBERED} THEN 0.5 ELSE 1 END`;

function writeSite({ connection }: Context, proxy: number, at: ProxyNote["sites"][number], now: number): void {
  connection
    .sql(
      `INSERT INTO proxy_sites (proxy, site, successes, failures, blocks, noted_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET successes = successes * ${KEPT} + excluded.successes,
         failures = failures * ${KEPT} + excluded.failures, blocks = blocks * ${KEPT} + excluded.blocks,
         noted_at = excluded.noted_at`,
    )
    .run(proxy, at.site, at.successes, at.failures, at.blocks, now);
}

function forgetOldSites({ connection }: Context, proxy: number): void {
  connection
    .sql(
      `DELETE FROM proxy_sites WHERE proxy = ?1 AND noted_at <
         (SELECT noted_at FROM proxy_sites WHERE proxy = ?1 ORDER BY noted_at DESC LIMIT 1 OFFSET ${SITES_PER_PROXY - 1})`,
    )
    .run(proxy);
}

export function readProxySites(
  { connection, instance }: Context,
  site: string,
): { id: string; successes: number; failures: number; blocks: number }[] {
  const list = rows<{ proxy: number; successes: number; failures: number; blocks: number }>(
    connection.sql("SELECT proxy, successes, failures, blocks FROM proxy_sites WHERE site = ?").all(site),
  );
  return list.map(({ proxy, ...counts }) => ({ id: encodeId(instance, "proxy", proxy), ...counts }));
}
