import { withoutCredentials } from "../../../domain/text/sealed-text.ts";
import { TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { RunRecord, Store, TaskRecord } from "../../../store/ports/port.ts";
import type { ChildEnd } from "../../../workflows/step-kind.ts";

const PAGE_SIZE = 500;

export interface Children {
  ended: readonly ChildEnd[];
  /** Ids of child runs that have not ended. */
  live: readonly string[];
}

export async function childrenOf(store: Store, ids: readonly string[]): Promise<Children> {
  const ended: ChildEnd[] = [];
  const live: string[] = [];
  for (const id of ids) {
    const run = await store.run(id);
    if (run === null) continue;
    if (TERMINAL_RUN_STATES.includes(run.status)) ended.push(await endOf(store, run));
    else live.push(id);
  }
  return { ended, live };
}

async function endOf(store: Store, run: RunRecord): Promise<ChildEnd> {
  const { failure_reason: reason, error_message: message, stats } = run.facts;
  const failed = run.status === "failed" && reason !== undefined && reason !== null;
  return {
    runId: run.id,
    status: run.status,
    message: run.message,
    failure: failed
      ? { reason, message: message ?? "the page could not be fetched", httpStatus: stats?.http_status ?? null }
      : null,
    counts: { ...(await store.overview(run.id, 1)).totals },
    results: () => resultsOf(store, run.id),
    failures: () => failuresOf(store, run.id),
    downloads: () => downloadsOf(store, run.id),
  };
}

async function* resultsOf(store: Store, runId: string): ReturnType<ChildEnd["results"]> {
  for (let after: string | undefined; ;) {
    const page = await store.results(runId, { limit: PAGE_SIZE, ...(after === undefined ? {} : { after }) });
    for (const { url, data } of page)
      yield { url: withoutCredentials(url ?? ""), data: data as Readonly<Record<string, JsonValue>> };
    after = page.at(-1)?.id;
    if (page.length < PAGE_SIZE) return;
  }
}

async function* failuresOf(store: Store, runId: string): ReturnType<ChildEnd["failures"]> {
  for (let after: string | undefined; ;) {
    const window = { limit: PAGE_SIZE, ...(after === undefined ? {} : { after }) };
    const page = await store.tasks(runId, { states: ["failed"], pagesOnly: true, ...window });
    for (const task of page)
      yield { url: task.url ?? "", error: errorOf(task), httpStatus: task.failure?.httpStatus ?? null };
    after = page.at(-1)?.id;
    if (page.length < PAGE_SIZE) return;
  }
}

async function* downloadsOf(store: Store, runId: string): ReturnType<ChildEnd["downloads"]> {
  for (let after: string | undefined; ;) {
    const page = await store.tasks(runId, { limit: PAGE_SIZE, ...(after === undefined ? {} : { after }) });
    for (const task of page) {
      const file = task.state === "completed" ? ((await store.artifactsOf(task.id))[0] ?? null) : null;
      yield {
        url: withoutCredentials(task.url ?? ""),
        data: task.payload as JsonValue,
        file,
        error: file === null ? errorOf(task) : null,
      };
    }
    after = page.at(-1)?.id;
    if (page.length < PAGE_SIZE) return;
  }
}

function errorOf({ failure, state, detail }: TaskRecord): string {
  const why = (detail as { why?: string } | null)?.why;
  return failure?.message ?? why ?? (state === "cancelled" ? "it was cancelled" : "it returned no file");
}
