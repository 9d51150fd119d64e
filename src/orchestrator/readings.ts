/** Metrics about the state of an installation. */
import type { Clock } from "../base/clock.ts";
import { ALERT_KINDS } from "../domain/run/alerts.ts";
import { summaryOf } from "../domain/site/site-health.ts";
import { SITE_STATES } from "../domain/site/site-states.ts";
import { RUN_STATES } from "../domain/run/states.ts";
import type { Store } from "../store/ports/port.ts";
import type { SiteRecord } from "../store/records/site-records.ts";
import { counter, gauge, type Reading } from "./reading.ts";

/** Site names are labels, and their number is unlimited: only this many are shown individually. */
const MOST_SITES = 20;
const DELIVERIES = ["waiting", "delivered", "given_up", "off"] as const;

/** Metrics from the store; empty states are reported as 0. */
export async function stateReadings({ store, clock }: { store: Store; clock: Clock }): Promise<Reading[]> {
  const now = clock.now();
  return [
    ...(await runReadings(store)),
    ...(await siteReadings(store, now)),
    ...(await proxyReadings(store)),
    ...(await scheduleReadings(store)),
    ...(await degradedReadings(store)),
    ...(await alertReadings(store)),
  ];
}

async function runReadings(store: Store): Promise<Reading[]> {
  const counts = await store.countRuns();
  const kinds = [...new Set(["page", "crawl", "workflow", ...counts.map(({ kind }) => kind)])];
  const count = (kind: string, status: string) =>
    counts.find((one) => one.kind === kind && one.status === status)?.count ?? 0;
  return gauge(
    "orb_runs",
    "Stored runs, by kind and status.",
    kinds.flatMap((kind) => RUN_STATES.map((status) => [{ kind, status }, count(kind, status)] as const)),
  );
}

async function siteReadings(store: Store, now: number): Promise<Reading[]> {
  const { counts, sites, byState } = await store.siteTotals(now);
  const busy = await store.busySites(MOST_SITES);
  return [
    { name: "orb_sites_seen", help: "Known sites.", value: sites },
    ...gauge(
      "orb_sites",
      "Sites by state: active and waiting sites have open work, blocked sites an open circuit.",
      SITE_STATES.map((state) => [{ state }, byState[state]]),
    ),
    ...gauge(
      "orb_tasks",
      "Pages of all runs at all sites, by state.",
      Object.entries(counts).map(([state, value]) => [{ state }, value]),
    ),
    ...gauge(
      "orb_site_tasks",
      `Open pages of the ${MOST_SITES} busiest sites, by state.`,
      busy.flatMap(({ site, counts }) =>
        (["queued", "running", "retrying"] as const).map((state) => [{ site, state }, counts[state]] as const),
      ),
    ),
    ...busy.flatMap((site) => healthReadings(site, now)),
  ];
}

function healthReadings({ site, health }: SiteRecord, now: number): Reading[] {
  const { errorRate, p50Ms, p95Ms } = summaryOf(health, now);
  const latencies = [
    ["0.5", p50Ms],
    ["0.95", p95Ms],
  ] as const;
  return [
    {
      name: "orb_site_error_ratio",
      help: `Error rate of the ${MOST_SITES} busiest sites in the last ten minutes, 0 to 1.`,
      labels: { site },
      value: errorRate ?? 0,
    },
    ...gauge(
      "orb_site_latency_seconds",
      `Response time of the ${MOST_SITES} busiest sites in the last ten minutes.`,
      // Unmeasured values are omitted, as in every Prometheus summary.
      latencies.map(([quantile, ms]) => [{ site, quantile }, ms === null ? Number.NaN : ms / 1000]),
    ),
  ];
}

async function proxyReadings(store: Store): Promise<Reading[]> {
  const { total, usable, unchecked, resting, disabled } = await store.countProxies();
  return [
    { name: "orb_proxies_total", help: "Proxies in the pool.", value: total },
    ...gauge("orb_proxies", "Proxies in the pool, by state.", [
      [{ state: "usable" }, usable],
      [{ state: "unchecked" }, unchecked],
      [{ state: "resting" }, resting],
      [{ state: "disabled" }, disabled],
    ]),
  ];
}

async function scheduleReadings(store: Store): Promise<Reading[]> {
  return counter(
    "orb_schedule_slots_total",
    "Scheduled times, by outcome.",
    Object.entries(await store.occurrenceTotals()).map(([outcome, value]) => [{ outcome }, value]),
  );
}

async function degradedReadings(store: Store): Promise<Reading[]> {
  const help = "Runs of jobs whose records were worse than those of earlier runs.";
  return counter("orb_degraded_runs_total", help, [[{}, await store.countDegradedRuns()]]);
}

async function alertReadings(store: Store): Promise<Reading[]> {
  const counts = await store.countAlerts();
  return gauge(
    "orb_alerts",
    "Stored alerts, by kind and delivery state.",
    ALERT_KINDS.flatMap((kind) =>
      DELIVERIES.map((delivery) => {
        const count = counts.find((one) => one.kind === kind && one.delivery === delivery)?.count ?? 0;
        return [{ kind, delivery }, count] as const;
      }),
    ),
  );
}
