/** Counts of proxies, and which of them are due for a check. */
import { encodeId } from "../../../domain/run/ids.ts";
import type { CheckedProxies } from "../../../domain/proxy/proxy-refresh.ts";
import { type ProxyState, REST_MAX_MS } from "../../../domain/proxy/proxy-score.ts";
import type { ProxyCounts } from "../../ports/proxy-port.ts";
import { type Context, rows } from "../kernel/context.ts";

export function countProxies({ connection }: Context): ProxyCounts {
  const counts = { total: 0, usable: 0, unchecked: 0, resting: 0, disabled: 0 };
  const groups = connection.sql("SELECT disabled, state, count(*) AS n FROM proxies GROUP BY disabled, state").all();
  for (const { disabled, state, n } of rows<{ disabled: number; state: ProxyState; n: number }>(groups)) {
    counts.total += n;
    counts[disabled === 1 ? "disabled" : state] += n;
  }
  const { at } = connection.sql("SELECT max(used_at) AS at FROM proxies").get() as { at: number | null };
  return { ...counts, usedAt: at };
}

// A rest longer than the maximum was set before the clock was set back.
const HAS_RESTED = "(state = 'resting' AND (rest_until <= ?1 OR rest_until > ?2))";
const WHICH: Readonly<Record<CheckedProxies, string>> = {
  all: "CAST(?1 AS BIGINT) IS NOT NULL AND CAST(?2 AS BIGINT) IS NOT NULL",
  due: `(state IN ('unchecked', 'usable') OR ${HAS_RESTED})`,
  wanting: `(state = 'unchecked' OR ${HAS_RESTED})`,
};

/** Longest unchecked first: an interrupted check does not leave out the same proxies again. */
export function proxiesToCheck({ connection, instance }: Context, which: CheckedProxies, now: number): string[] {
  const list = connection
    .sql(`SELECT n FROM proxies WHERE disabled = 0 AND ${WHICH[which]} ORDER BY checked_at NULLS FIRST, n`)
    .all(now, now + REST_MAX_MS);
  return rows<{ n: number }>(list).map(({ n }) => encodeId(instance, "proxy", n));
}
