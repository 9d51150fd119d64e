/** Looks at a workflow again and again, and at what its steps wait for. */
import type { OrbweaverClient } from "../api-client/client.ts";
import { mayPass } from "../api-client/retry.ts";
import type { CrawlDetail } from "../orchestrator/crawls/view.ts";
import type { WorkflowProgress } from "../orchestrator/workflows/progress.ts";
import { refusal } from "./api/problem.ts";
import { plural } from "./output.ts";
import type { Details, WorkflowDisplay } from "./workflow-display.ts";
import { resultWords } from "./workflow-line.ts";

export const WORKFLOW_OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

const LOOK_MS = 300;
/** What runs of their own are doing costs a call each, and is read more slowly. */
const LOOK_AT_CHILDREN_MS = 1000;
const MOST_CHILDREN = 10;
/** A server that is restarted is back by then. */
const MOST_FAILURES = 10;

export interface Followed {
  api: OrbweaverClient;
  id: string;
  display: WorkflowDisplay;
  /** Ends the following, not the workflow. */
  signal: AbortSignal;
  wait: (ms: number) => Promise<void>;
}

export async function lookAt(api: OrbweaverClient, id: string): Promise<WorkflowProgress> {
  return (await api.workflows.progress(id)) as WorkflowProgress;
}

/** Shows it until it has ended, or somebody has seen enough. */
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

/** What steps wait for and have put out: asked for when it is new. */
export class WorkflowDetails {
  readonly #api: OrbweaverClient;
  readonly #results = new Map<number, string>();
  #children = new Map<string, string>();
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
    const children = new Map<string, string>();
    for (const id of ids.slice(0, MOST_CHILDREN)) {
      const words = await childWords(this.#api, id);
      if (words !== null) children.set(id, words);
    }
    this.#children = children;
  }
}

/** How a run that a step waits for is getting on; null: it is gone. */
async function childWords(api: OrbweaverClient, id: string): Promise<string | null> {
  try {
    const run = await api.runs.get(id);
    if (run.kind === "crawl") return crawlWords(await api.crawls.status(id));
    const again = run.attempt > 1 ? `, try ${run.attempt}` : "";
    if (run.kind === "page") return `gets ${run.url ?? "a page"}${again}`;
    return run.status === "running" ? `files: ${run.progress} %` : `files: ${run.status}`;
  } catch (error) {
    if (refusal(error, "not_found") !== null) return null;
    throw error;
  }
}

function crawlWords(crawl: CrawlDetail): string {
  if (crawl.status === "pending") return "the crawl waits for its turn";
  if (crawl.status !== "running") return `the crawl is ${crawl.status}`;
  const ended = crawl.completed_items + crawl.failed_items + crawl.skipped_items;
  const failed = crawl.failed_items === 0 ? "" : `, ${crawl.failed_items} failed`;
  const pace = crawl.pages_per_second > 0 ? `, ${crawl.pages_per_second.toFixed(1)}/s` : "";
  return `${ended} of ${plural(crawl.total_items, "known page")}${pace}${failed}`;
}
