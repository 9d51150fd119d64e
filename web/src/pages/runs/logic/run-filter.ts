/** Filters of the list of runs, as they are in the page's URL. */

export const RUN_STATES = [
  "queued",
  "running",
  "paused",
  "waiting_for_human",
  "recovering",
  "completed",
  "partial",
  "failed",
  "cancelled",
] as const;
export type RunState = (typeof RUN_STATES)[number];

export const RUN_KINDS = ["page", "crawl", "workflow", "queue", "download", "proxy_refresh"] as const;
export type RunKind = (typeof RUN_KINDS)[number];

export const KIND_NAMES: Readonly<Record<RunKind, string>> = {
  page: "Page",
  crawl: "Crawl",
  workflow: "Workflow",
  queue: "Queue",
  download: "Download",
  proxy_refresh: "Proxy check",
};

/** Time spans; the names are part of URLs. */
export const SPANS = [
  { id: "1h", name: "Last hour", ms: 3_600_000 },
  { id: "24h", name: "Last 24 hours", ms: 86_400_000 },
  { id: "7d", name: "Last 7 days", ms: 604_800_000 },
  { id: "30d", name: "Last 30 days", ms: 2_592_000_000 },
] as const;
export type Span = (typeof SPANS)[number]["id"];

export interface RunFilter {
  status: readonly RunState[];
  kind: RunKind | null;
  site: string;
  q: string;
  job: string;
  span: Span | null;
  /** Include runs of workflow steps: one workflow may have thousands. */
  steps: boolean;
}

export const NO_FILTER: RunFilter = { status: [], kind: null, site: "", q: "", job: "", span: null, steps: false };

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Unknown values in a URL are ignored: a user may have typed it. */
export function readFilter(search: URLSearchParams): RunFilter {
  const words = (search.get("status") ?? "").split(",");
  const job = search.get("job") ?? "";
  return {
    status: RUN_STATES.filter((state) => words.includes(state)),
    kind: RUN_KINDS.find((kind) => kind === search.get("kind")) ?? null,
    site: (search.get("site") ?? "").trim().slice(0, 300),
    q: (search.get("q") ?? "").trim().slice(0, 200),
    job: UUID.test(job) ? job : "",
    span: SPANS.find(({ id }) => id === search.get("time"))?.id ?? null,
    steps: search.get("steps") === "true",
  };
}

/** Only filters that are set go into the URL. */
export function writeFilter(filter: RunFilter): string {
  const search = new URLSearchParams();
  const { status, kind, site, q, job, span, steps } = filter;
  if (status.length > 0) search.set("status", status.join(","));
  if (kind !== null) search.set("kind", kind);
  if (site !== "") search.set("site", site);
  if (q !== "") search.set("q", q);
  if (job !== "") search.set("job", job);
  if (span !== null) search.set("time", span);
  if (steps) search.set("steps", "true");
  // Commas need no escape in a query, and are easier to read.
  return search.toString().replaceAll("%2C", ",");
}

/** Whether it may exclude runs, besides those of steps. */
export function isNarrowed(filter: RunFilter): boolean {
  return writeFilter({ ...filter, steps: false }) !== "";
}

export function isSame(one: RunFilter, other: RunFilter): boolean {
  return writeFilter(one) === writeFilter(other);
}

/** Rounded to full minutes, so that the query stays cacheable. */
function sinceOf(span: Span | null, now: number): { since?: string } {
  const ms = SPANS.find(({ id }) => id === span)?.ms;
  return ms === undefined ? {} : { since: new Date(Math.floor((now - ms) / 60_000) * 60_000).toISOString() };
}

/** A search by id finds that run, also one that a workflow started. */
function isIdBeginning(q: string): boolean {
  return /^[0-9a-f]{8}[0-9a-f-]*$/i.test(q);
}

function sharedOf({ kind, site, q, job, span, steps }: RunFilter, now: number) {
  return {
    ...(kind === null ? {} : { kind }),
    ...(site === "" ? {} : { site }),
    ...(q === "" ? {} : { q }),
    ...(job === "" ? {} : { job_id: job }),
    ...sinceOf(span, now),
    ...(steps || isIdBeginning(q) ? {} : { parent: "none" }),
  };
}

/** For `GET /runs`. */
export function queryOf(filter: RunFilter, now: number) {
  const { status } = filter;
  return { ...(status.length === 0 ? {} : { status: status.join(",") }), ...sharedOf(filter, now) };
}

/** For `POST /runs/bulk`. */
export function choiceOf(filter: RunFilter, now: number) {
  const { status } = filter;
  return { ...(status.length === 0 ? {} : { status: [...status] }), ...sharedOf(filter, now) };
}

/** The same for deletion: only ended runs that no step started. */
export function deletionOf(filter: RunFilter, now: number) {
  const { parent: _, ...shared } = sharedOf(filter, now);
  const ended = TERMINAL.filter((state) => filter.status.length === 0 || filter.status.includes(state));
  // A filter that excludes all ended runs must not turn into one that matches all.
  const status = ended.length === 0 ? { run_ids: [NO_RUN] } : filter.status.length === 0 ? {} : { status: ended };
  return { ...shared, ...status };
}

const TERMINAL = ["completed", "partial", "failed", "cancelled"] as const;
const NO_RUN = "00000000-0000-0000-0000-000000000000";

interface Matched {
  id: string;
  job_id: string | null;
  status: string;
  kind: string;
  site: string | null;
  name: string | null;
  url: string | null;
  created_at: string;
  /** The stream sends only runs without a parent, and omits the field. */
  parent?: { run_id: string } | null;
}

/** Whether a run that is new to the list belongs into it. The next reload corrects it. */
export function matches(filter: RunFilter, run: Matched, now: number): boolean {
  const { since } = sinceOf(filter.span, now);
  if (filter.status.length > 0 && !(filter.status as readonly string[]).includes(run.status)) return false;
  if (filter.kind !== null && run.kind !== filter.kind) return false;
  if (filter.site !== "" && run.site !== filter.site) return false;
  if (filter.job !== "" && run.job_id !== filter.job) return false;
  if (since !== undefined && Date.parse(run.created_at) < Date.parse(since)) return false;
  if (!filter.steps && !isIdBeginning(filter.q) && (run.parent ?? null) !== null) return false;
  if (filter.q === "") return true;
  const text = filter.q.toLowerCase();
  if (text.length >= 8 && run.id.startsWith(text)) return true;
  return [run.name, run.url].some((value) => value?.toLowerCase().includes(text) === true);
}
