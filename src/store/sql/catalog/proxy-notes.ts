/** Records outcomes of uses and checks of proxies. */
import { decodeId, encodeId } from "../../../domain/run/ids.ts";
import {
  afterUse,
  afterUseAtSite,
  type ProxyHealth,
  type ProxyState,
  type SiteRecordOfProxy,
} from "../../../domain/proxy/proxy-score.ts";
import type { ProxySeen } from "../../ports/proxy-port.ts";
import type { Collector, ForEach, Value } from "../kernel/connection.ts";
import { type Context, RANK, rows } from "../kernel/context.ts";

const NOTE_BATCH = 500;
/** Sites remembered per proxy, most recent first. */
const SITES_PER_PROXY = 100;

/** The next change number. Within the caller's transaction. */
export function nextChange({ connection }: Context): number {
  const { proxies } = connection.sql("UPDATE control SET proxies = proxies + 1 RETURNING proxies").get() as {
    proxies: number;
  };
  return proxies;
}

/** Makes readers load this proxy again. Within the caller's transaction. */
export function markChanged({ connection }: Context, n: number): void {
  connection.atEnd(CHANGED, n);
}

const MARK_CHANGED: ForEach = {
  text: "UPDATE proxies SET changed = c.proxies - new.later FROM control c, new WHERE proxies.n = new.n",
  columns: { later: "bigint", n: "bigint" },
};

/** All writers share the counter. */
const CHANGED: Collector<number> = {
  rank: RANK.proxies,
  write(connection, list) {
    const proxies = [...new Set(list)];
    connection.sql("UPDATE control SET proxies = proxies + ?").run(proxies.length);
    const rows = proxies.map((n, index): Value[] => [proxies.length - 1 - index, n]);
    connection.dialect.each(connection, MARK_CHANGED, rows);
  },
};

export function noteProxies(context: Context, seen: readonly ProxySeen[], now: number): void {
  for (let from = 0; from < seen.length; from += NOTE_BATCH) {
    const byProxy = Map.groupBy(seen.slice(from, from + NOTE_BATCH), ({ id }) => id);
    context.connection.write(() => {
      // Others add to the same states.
      context.connection.dialect.lockName(context.connection, "proxies");
      for (const [id, list] of byProxy) noteProxy(context, id, list, now);
    });
  }
}

interface Row {
  state: ProxyState;
  score: number;
  latency_ms: number | null;
  rest_until: number;
  rest_step: number;
  last_error: string | null;
  checked_at: number | null;
  used_at: number | null;
}

const BEFORE = `SELECT state, score, latency_ms, rest_until, rest_step, last_error, checked_at, used_at
  FROM proxies WHERE n = ?`;

// A proxy that was disabled meanwhile stays disabled; its state is kept beside that.
const WRITE = `UPDATE proxies SET state = ?, score = ?, latency_ms = ?, rest_until = ?, rest_step = ?, last_error = ?,
  successes = successes + ?, failures = failures + ?, blocks = blocks + ?, checked_at = ?, used_at = ? WHERE n = ?`;

/** Applies to the stored state, so that the outcomes of several processes add up. Removed proxies are skipped. */
function noteProxy(context: Context, id: string, seen: readonly ProxySeen[], now: number): void {
  const { connection, instance } = context;
  const n = decodeId(instance, "proxy", id);
  const row = connection.sql(BEFORE).get(n) as Row | undefined;
  if (n === null || row === undefined) return;
  let health: ProxyHealth = {
    state: row.state,
    score: row.score,
    latencyMs: row.latency_ms,
    restUntil: row.rest_until,
    restStep: row.rest_step,
    lastError: row.last_error,
  };
  let { checked_at: checkedAt, used_at: usedAt } = row;
  let overtaken = false;
  const count = { good: 0, reached: 0, blocked: 0, fault: 0, unsure: 0 };
  for (const { outcome, at, site } of seen) {
    count[outcome.kind] += 1;
    if (isLater(site === null ? row.used_at : row.checked_at, at, now)) overtaken = true;
    else health = afterUse(health, outcome, at);
    if (site === null) checkedAt = isLater(checkedAt, at, now) ? checkedAt : at;
    else usedAt = isLater(usedAt, at, now) ? usedAt : at;
  }
  connection
    .sql(WRITE)
    .run(
      health.state,
      health.score,
      health.latencyMs,
      Math.round(health.restUntil),
      health.restStep,
      health.lastError,
      count.good + count.reached,
      count.fault + count.unsure,
      count.blocked,
      checkedAt,
      usedAt,
      n,
    );
  noteSites(context, n, seen);
  // The writer of an overtaken outcome has another state in memory.
  if (health.state !== row.state || overtaken) markChanged(context, n);
}

/**
 * Checks and uses are written some time after they ended: a later one of the other kind knows the state better. A time
 * in the future is from before the clock was set back, and is not later than anything.
 */
function isLater(known: number | null, at: number, now: number): boolean {
  return known !== null && known > at && known <= now;
}

interface SiteRow extends SiteRecordOfProxy {
  proxy: number;
}

const SITE = "SELECT proxy, successes, failures, blocks, updated_at AS at FROM proxy_sites WHERE site = ?";

function noteSites(context: Context, proxy: number, seen: readonly ProxySeen[]): void {
  const { connection } = context;
  const records = new Map<string, SiteRecordOfProxy>();
  for (const { site, outcome, at } of seen) {
    if (site === null || outcome.kind === "fault") continue;
    const known =
      records.get(site) ?? (connection.sql(`${SITE} AND proxy = ?`).get(site, proxy) as SiteRow | undefined);
    records.set(site, afterUseAtSite(known ?? null, outcome, at));
  }
  for (const [site, { successes, failures, blocks, at }] of records)
    connection
      .sql(
        `INSERT INTO proxy_sites (proxy, site, successes, failures, blocks, updated_at)
         VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (site, proxy) DO UPDATE SET successes = excluded.successes, failures = excluded.failures,
           blocks = excluded.blocks, updated_at = excluded.updated_at`,
      )
      .run(proxy, site, successes, failures, blocks, at);
  if (records.size > 0) forgetOldSites(context, proxy);
}

function forgetOldSites({ connection }: Context, proxy: number): void {
  connection
    .sql(
      `DELETE FROM proxy_sites WHERE proxy = ?1 AND updated_at <
         (SELECT updated_at FROM proxy_sites WHERE proxy = ?1 ORDER BY updated_at DESC LIMIT 1 OFFSET ${SITES_PER_PROXY - 1})`,
    )
    .run(proxy);
}

export function readProxySites(
  { connection, instance }: Context,
  site: string,
): (SiteRecordOfProxy & { id: string })[] {
  return rows<SiteRow>(connection.sql(SITE).all(site)).map(({ proxy, ...record }) => ({
    id: encodeId(instance, "proxy", proxy),
    ...record,
  }));
}
