/** Reads the kept pages of a degraded run again by repaired rules. Nothing is fetched, and nothing is written. */
import type { CrawlPayload } from "../../domain/crawl/crawl-options.ts";
import { without } from "../../base/without.ts";
import { degradedReasons } from "../../domain/health/compare.ts";
import { describeReason } from "../../domain/health/describe-reason.ts";
import { ProfileBuilder } from "../../domain/health/profile.ts";
import { ruleFieldsOf } from "../../domain/health/run-records.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Recipe } from "../../domain/run/recipe.ts";
import type { RereadRun, RunPageRecord } from "../../store/ports/repair-port.ts";
import { type FixtureDeps, pageRulesOf, readAgain } from "./fixtures.ts";
import { type Degraded, keptPages, snapshotWith } from "./repair-proposal.ts";

type JsonRecord = Record<string, JsonValue>;

/** They are in memory, and written in one transaction. */
const MAX_RECORDS = 50_000;
const CHUNK = 200;

/** The run as the new rules read it, or why its records must stay as they are. */
export async function rereadRun(
  deps: FixtureDeps,
  { job, run, health }: Degraded,
  rules: Pick<Recipe, "fields" | "items">,
  signal: AbortSignal,
): Promise<{ reread: RereadRun } | { why: string }> {
  const recipe = { ...pageRulesOf(job), ...rules };
  const tasks = new Map<string, JsonRecord[]>();
  let [count, failed] = [0, 0];
  for await (const page of keptPages(deps, run.id)) {
    const { extraction } = await readAgain(deps, job, recipe, page, signal);
    if (extraction.errors.length > 0) {
      failed += 1;
      continue;
    }
    const read = JSON.parse(JSON.stringify(extraction.records)) as JsonRecord[];
    tasks.set(page.taskId, await recordsOf(deps, run.kind, page, read, extraction.title));
    count += read.length;
    if (count > MAX_RECORDS) return { why: `the run has more than ${MAX_RECORDS} records` };
  }
  if (tasks.size === 0) return { why: "no pages of the run are kept" };
  const { profile, missing } = await profileOf(deps, run.id, run.kind, tasks, signal);
  const [newest] = health;
  const baseline = health.filter(({ isBaseline, rules: of }) => isBaseline && of === newest?.rules);
  const reasons = degradedReasons(
    profile,
    baseline.map((one) => one.profile),
    { isPartial: run.status === "partial" },
  );
  if (reasons.length > 0) return { why: `read again, the run would still be degraded: ${describeReason(reasons[0]!)}` };
  const reread: RereadRun = {
    generation: run.generation,
    snapshot: snapshotWith(run, rules),
    profile,
    tasks: [...tasks].map(([taskId, records]) => ({ taskId, records })),
    missing: missing + failed,
  };
  return { reread };
}

/** As the handler of the page writes them: what is not from the rules stays. */
async function recordsOf(
  { store }: FixtureDeps,
  kind: string,
  { taskId, url }: RunPageRecord,
  read: readonly JsonRecord[],
  title: string | null,
): Promise<JsonRecord[]> {
  const [first] = (await store.resultsOf(taskId)) as JsonRecord[];
  const document = first?.["document"];
  const withDocument = (index: number): JsonRecord => (index > 0 || document === undefined ? {} : { document });
  if (kind !== "crawl") return read.map((fields, index) => ({ ...fields, ...withDocument(index) }));
  const task = first === undefined ? await store.task(taskId) : null;
  const { depth = 0 } = (task?.payload ?? {}) as Partial<CrawlPayload>;
  const about = first === undefined ? { url, depth, title } : without(first, "fields", "document");
  return read.map((fields, index) => ({ ...about, fields, ...withDocument(index) }));
}

/** Of the run as it would be; `missing`: pages that were read and are not kept. */
async function profileOf(
  { store }: FixtureDeps,
  runId: string,
  kind: string,
  tasks: ReadonlyMap<string, readonly JsonRecord[]>,
  signal: AbortSignal,
) {
  const builder = new ProfileBuilder();
  for (const [taskId, records] of tasks)
    for (const data of records) builder.add(ruleFieldsOf(kind, data), taskId, urlOf(data));
  const missing = new Set<string>();
  let after: string | undefined;
  do {
    signal.throwIfAborted();
    const page = await store.results(runId, { limit: CHUNK, ...(after === undefined ? {} : { after }) });
    for (const { data, taskId, url } of page) {
      if (tasks.has(taskId)) continue;
      builder.add(ruleFieldsOf(kind, data), taskId, url);
      // The server confirmed that the page is as it was: its records are those of an earlier run.
      if ((data as JsonRecord | null)?.["unchanged"] !== true) missing.add(taskId);
    }
    after = page.length < CHUNK ? undefined : page.at(-1)?.id;
  } while (after !== undefined);
  return { profile: builder.profile(), missing: missing.size };
}

function urlOf(data: JsonRecord): string | null {
  const { url } = data;
  return typeof url === "string" ? url : null;
}
