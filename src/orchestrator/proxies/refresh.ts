/** A check of all proxies is a run. */
import { OrbError } from "../../base/errors.ts";
import { isoOrNull } from "../../base/iso.ts";
import {
  type CheckedProxies,
  type ChunkDetail,
  PROXIES_LANE,
  PROXIES_PER_CHUNK,
  PROXY_CHECK_HANDLER,
  refreshTimeLimit,
  type RefreshSnapshot,
} from "../../domain/proxy/proxy-refresh.ts";
import type { RunState } from "../../domain/run/states.ts";
import type { NewTask, RunRecord } from "../../store/ports/port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import type { ProxyRules } from "./rules.ts";

export interface RefreshDeps extends OrchestratorDeps {
  proxyRules: ProxyRules;
  defaultMaxAttempts: number;
}

export interface RefreshView {
  job_id: string;
  status: "dispatched" | "processing" | "complete" | "failed";
  total: number;
  total_chunks: number;
  completed_chunks: number;
  /** Proxies found usable. */
  result_count: number;
  /** `reachable`: no check URL is configured, so nothing was fetched through them. */
  checks: RefreshSnapshot["checks"];
  started_at: string | null;
  completed_at: string | null;
  message: string;
}

const READ_AT_ONCE = 1000;

/** Starts a check of all proxies, or returns the running one. */
export async function refreshProxies(deps: RefreshDeps): Promise<{ view: RefreshView; started: boolean }> {
  const { view, started } = await checkProxies(deps, "all");
  if (view !== null) return { view, started };
  throw new OrbError("illegal_transition", "there are no proxies to check", {
    hint: "Import some first: POST /proxies, or orb proxies import FILE.",
  });
}

const NAMES: Readonly<Record<CheckedProxies, string>> = {
  all: "Check of all proxies",
  due: "Regular proxy check",
  wanting: "Check of proxies that are new or due again",
};

/** Starts a check of these proxies, or returns the running one. Null: none of them exists. */
export async function checkProxies(
  deps: RefreshDeps,
  which: CheckedProxies,
): Promise<{ view: RefreshView | null; started: boolean }> {
  const { store, clock, proxyRules: rules } = deps;
  const ids = await store.proxiesToCheck(which, clock.now());
  if (ids.length === 0) return { view: null, started: false };
  const chunks = Array.from({ length: Math.ceil(ids.length / PROXIES_PER_CHUNK) }, (_, index) =>
    ids.slice(index * PROXIES_PER_CHUNK, (index + 1) * PROXIES_PER_CHUNK),
  );
  const snapshot: RefreshSnapshot = {
    which,
    total: ids.length,
    chunks: chunks.length,
    checks: rules.checkUrl === null ? "reachable" : "fetch",
  };
  const { run, started, lanes } = await store.startRefresh(
    {
      kind: "proxy_refresh",
      name: NAMES[which],
      maxAttempts: deps.defaultMaxAttempts,
      snapshot,
      meta: { proxies: snapshot.total, chunks: snapshot.chunks, checks: snapshot.checks },
      timeLimitMs: refreshTimeLimit(chunks.length, rules.chunksAtOnce, rules.checkTimeoutMs),
      temporary: true,
    },
    chunks.map(toTask),
    clock.now(),
  );
  if (lanes.length > 0) await deps.wake(lanes);
  return { view: await viewOf(deps, run), started };
}

function toTask(ids: readonly string[], index: number): NewTask {
  return {
    key: `chunk ${index + 1}`,
    lane: PROXIES_LANE,
    site: null,
    resolver: null,
    url: null,
    priority: 0,
    handler: PROXY_CHECK_HANDLER,
    payload: { ids },
  };
}

export async function showRefresh(deps: RefreshDeps, id: string): Promise<RefreshView> {
  const run = await deps.store.run(id);
  if (run === null || run.kind !== "proxy_refresh")
    throw new OrbError("not_found", `there is no check of proxies with the id ${id}`);
  return viewOf(deps, run);
}

const STATUS: Readonly<Record<RunState, RefreshView["status"]>> = {
  queued: "dispatched",
  running: "processing",
  paused: "processing",
  waiting_for_human: "processing",
  recovering: "processing",
  completed: "complete",
  // Some of the proxies were not checked.
  partial: "failed",
  failed: "failed",
  cancelled: "failed",
};

async function viewOf({ store }: RefreshDeps, run: RunRecord): Promise<RefreshView> {
  const { total, chunks, checks } = run.snapshot as RefreshSnapshot;
  const { totals } = await store.overview(run.id, 0);
  const found = await countUsable(store, run.id);
  const status = STATUS[run.status];
  return {
    job_id: run.id,
    status,
    total,
    total_chunks: chunks,
    completed_chunks: totals.completed,
    result_count: found,
    checks,
    started_at: isoOrNull(run.startedAt),
    completed_at: isoOrNull(run.finishedAt),
    message: messageOf(run, status, { found, total, done: totals.completed, chunks, checks }),
  };
}

async function countUsable(store: RefreshDeps["store"], id: string): Promise<number> {
  let sum = 0;
  for (let after: string | undefined; ;) {
    const page = await store.tasks(id, {
      states: ["completed"],
      limit: READ_AT_ONCE,
      ...(after === undefined ? {} : { after }),
    });
    for (const { detail } of page) sum += (detail as ChunkDetail | null)?.usable ?? 0;
    after = page.at(-1)?.id;
    if (page.length < READ_AT_ONCE) return sum;
  }
}

function messageOf(
  run: RunRecord,
  status: RefreshView["status"],
  {
    found,
    total,
    done,
    chunks,
    checks,
  }: Record<"found" | "total" | "done" | "chunks", number> & Pick<RefreshView, "checks">,
): string {
  const how =
    checks === "fetch"
      ? "are usable"
      : "are reachable; nothing was fetched through them, because APP_PROXY_CHECK_URL is not set";
  if (status === "complete") return `${found} of ${total} proxies ${how}`;
  if (status === "failed") return `${run.message ?? "Run failed"}; ${done} of ${chunks} parts were checked`;
  return `${done} of ${chunks} parts checked; so far, ${found} proxies ${how}`;
}
