/** Polls a workflow and the runs its steps wait for. */
import type { OrbweaverClient } from "../../api-client/client.ts";
import { mayPass } from "../../api-client/retry.ts";
import { AT_SITES, isHeld, WHILE_AT_WORK } from "../../domain/run/waiting.ts";
import type { CrawlDetail } from "../../orchestrator/crawls/view.ts";
import type { RunSiteView } from "../../orchestrator/runs/sites.ts";
import type { WorkflowProgress } from "../../orchestrator/workflows/progress.ts";
import { refusal } from "../api/problem.ts";
import { waitsAsAWhole } from "../crawl/crawl-block.ts";
import { plural } from "../print/output.ts";
import type { ChildMoment } from "./workflow-block.ts";
import type { Details, WorkflowDisplay } from "./workflow-display.ts";
import { resultWords } from "./workflow-line.ts";

export const WORKFLOW_OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

const LOOK_MS = 300;
/** Each child run costs a call and reads more slowly. */
const LOOK_AT_CHILDREN_MS = 1000;
const MOST_CHILDREN = 10;
/** Enough for a server restart. */
const MOST_FAILURES = 10;

export interface Followed {
  api: OrbweaverClient;
  id: string;
  display: WorkflowDisplay;
  /** Ends the polling, not the workflow. */
  signal: AbortSignal;
  wait: (ms: number) => Promise<void>;
}

export async function lookAt(api: OrbweaverClient, id: string): Promise<WorkflowProgress> {
  return (await api.workflows.progress(id)) as WorkflowProgress;
}

/** Shows it until it has ended, or `signal` aborts. */
export async function follow({ api, id, display, signal, wait }: Followed): Promise<WorkflowProgress> {
  const details = new WorkflowDetails(api);
  let failures = 0;
  for (;;) {
    try {
      const view = await lookAt(api, id);
      display.show(view, await details.of(view));
      failures = 0;
      if (WORKFLOW_OVER.has(view.status) || signal.aborted) return view;
    } catch (error) {
      failures += 1;
      if (!mayPass(error) || failures > MOST_FAILURES || signal.aborted) throw error;
    }
    await wait(failures === 0 ? LOOK_MS : LOOK_AT_CHILDREN_MS);
  }
}

/** Child runs and outputs of steps, queried when they change. */
export class WorkflowDetails {
  readonly #api: OrbweaverClient;
  readonly #results = new Map<number, string>();
  #children = new Map<string, ChildMoment>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(api: OrbweaverClient) {
    this.#api = api;
  }

  async of(view: WorkflowProgress): Promise<Details> {
    await this.#readResults(view);
    if (performance.now() - this.#lookedAt >= LOOK_AT_CHILDREN_MS) {
      this.#lookedAt = performance.now();
      await this.#readChildren(view);
    }
    return { results: this.#results, children: this.#children };
  }

  async #readResults({ workflow_id: id, steps }: WorkflowProgress): Promise<void> {
    for (const [index, { status }] of steps.entries()) if (status !== "completed") this.#results.delete(index);
    if (!steps.some(({ status }, index) => status === "completed" && !this.#results.has(index))) return;
    for await (const { step_index: index, result } of this.#api.workflows.tasks(id, { status: "completed" }))
      this.#results.set(index, resultWords(result));
  }

  async #readChildren({ steps }: WorkflowProgress): Promise<void> {
    const ids = steps.flatMap(({ waiting_for: why }) => (why?.for === "run" ? [why.run_id] : []));
    const children = new Map<string, ChildMoment>();
    for (const id of ids.slice(0, MOST_CHILDREN)) {
      const child = await lookAtChild(this.#api, id);
      if (child !== null) children.set(id, child);
    }
    this.#children = children;
  }
}

/** Progress of a child run; null: it was deleted. */
async function lookAtChild(api: OrbweaverClient, id: string): Promise<ChildMoment | null> {
  try {
    const run = await api.runs.get(id);
    if (run.kind === "crawl") {
      const crawl: CrawlDetail = await api.crawls.status(id);
      return { words: crawlWords(crawl), waits: waitsAsAWhole(crawl) ?? siteWaits(crawl.waiting_sites) };
    }
    const held = isHeld(run.waiting_for) ? run.waiting_for : null;
    const atSites = held === null || AT_SITES.has(held.reason);
    const waits = (atSites ? await allWait(api, id) : null) ?? held?.message ?? null;
    const again = run.attempt > 1 ? `, attempt ${run.attempt}` : "";
    if (run.kind === "page") return { words: `fetching ${run.url ?? "a page"}${again}`, waits };
    const words = run.status === "running" ? `files: ${run.progress} %` : `files: ${run.status}`;
    return { words, waits };
  } catch (error) {
    if (refusal(error, "not_found") !== null) return null;
    throw error;
  }
}

type SiteAtRest = Pick<RunSiteView, "site" | "waiting_for" | "last_failure">;

/** What the first site waits for, and how many others wait as well; null: none. */
function siteWaits(sites: readonly SiteAtRest[]): string | null {
  const held = sites.flatMap(({ site, waiting_for: why, last_failure: last }) =>
    why === null || WHILE_AT_WORK.has(why.reason) ? [] : [{ site, why: why.message, last: last?.message ?? null }],
  );
  const [first] = held;
  if (first === undefined) return null;
  const because = first.last === null ? "" : ` (${first.last})`;
  const others = held.length > 1 ? `; ${plural(held.length - 1, "other site waits", "other sites wait")} too` : "";
  return `${first.site}: ${first.why}${because}${others}`;
}

const MOST_SITES = 10;

/** Tasks in flight at one site do not wait for another: reported only when all remaining tasks wait. */
async function allWait(api: OrbweaverClient, id: string): Promise<string | null> {
  const { rows } = await api.runs.sites(id, { limit: MOST_SITES }).page();
  const open = rows.filter(({ counts }) => counts.queued + counts.running + counts.retrying > 0);
  return open.some(({ waiting_for: why }) => why === null) ? null : siteWaits(open);
}

function crawlWords(crawl: CrawlDetail): string {
  if (crawl.status === "pending") return "crawl queued";
  if (crawl.status !== "running") return `the crawl is ${crawl.status}`;
  const ended = crawl.completed_items + crawl.failed_items + crawl.skipped_items;
  const failed = crawl.failed_items === 0 ? "" : `, ${crawl.failed_items} failed`;
  const pace = crawl.pages_per_second > 0 ? `, ${crawl.pages_per_second.toFixed(1)}/s` : "";
  return `${ended} of ${plural(crawl.total_items, "known page")}${pace}${failed}`;
}
