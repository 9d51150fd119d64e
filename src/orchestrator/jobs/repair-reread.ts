/** Reads the kept pages of a degraded run again by repaired rules. Nothing is fetched, and nothing is written. */
import type { CrawlPayload, CrawlRecipe } from "../../domain/crawl/crawl-options.ts";
import { without } from "../../base/without.ts";
import { degradedReasons } from "../../domain/health/compare.ts";
import { describeReason } from "../../domain/health/describe-reason.ts";
import { ProfileBuilder } from "../../domain/health/profile.ts";
import { ruleFieldsOf } from "../../domain/health/run-records.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Recipe } from "../../domain/run/recipe.ts";
import type { JobRecord } from "../../store/records/job-records.ts";
import type { RereadRun, RunPageRecord } from "../../store/ports/repair-port.ts";
import { type FixtureDeps, pageRulesOf, readAgain } from "./fixtures.ts";
import { type Degraded, keptPages, snapshotWith } from "./repair-proposal.ts";

type JsonRecord = Record<string, JsonValue>;

/** They are in memory, and written in one transaction. */
const MAX_RECORDS = 50_000;
const MAX_CHARACTERS = 32 * 1024 * 1024;
const CHUNK = 200;

/** The run as the new rules read it, or why its records must stay as they are. */
export async function rereadRun(
  deps: FixtureDeps,
  { job, run, health }: Degraded,
  rules: Pick<Recipe, "fields" | "items">,
  signal: AbortSignal,
): Promise<{ reread: RereadRun } | { why: string }> {
  const whyNot = whyNotAgain(job);
  if (whyNot !== null) return { why: whyNot };
  const recipe = { ...pageRulesOf(job), ...rules };
  const tasks = new Map<string, JsonRecord[]>();
  let [count, bytes] = [0, 0];
  let failed = 0;
  for await (const page of keptPages(deps, run.id)) {
    // A page that failed on a required field stays failed: only another run gives it records.
    if ((await deps.store.task(page.taskId))?.state === "failed") {
      failed += 1;
      continue;
    }
    const { extraction } = await readAgain(deps, job, recipe, page, signal);
    if (extraction.errors.length > 0) continue;
    const text = JSON.stringify(extraction.records);
    const read = JSON.parse(text) as JsonRecord[];
    tasks.set(page.taskId, await recordsOf(deps, run.kind, page, read, extraction.title));
    count += read.length;
    bytes += text.length;
    if (count > MAX_RECORDS) return { why: `the run has more than ${MAX_RECORDS} records` };
    if (bytes > MAX_CHARACTERS) return { why: "the records of the run are too large to be read again at once" };
  }
  const still = failed === 0 ? "" : "; pages that failed on a required field are not read again: run the job";
  if (tasks.size === 0) return { why: `no pages with records of the run are kept${still}` };
  const [newest] = health;
  const { profile: read, missing } = await profileOf(deps, run.id, run.kind, tasks, signal);
  const lost = newest?.profile.lost;
  const profile = lost === undefined ? read : { ...read, lost };
  const baseline = health.filter(({ isBaseline, rules: of }) => isBaseline && of === newest?.rules);
  const reasons = degradedReasons(
    profile,
    baseline.map((one) => one.profile),
    { isPartial: run.status === "partial" },
  );
  if (reasons.length > 0) {
    const few = missing === 0 ? "" : ` (${missing} of its pages are not kept; with auto_repair all are)`;
    return { why: `read again, the run would still be degraded: ${describeReason(reasons[0]!)}${few}${still}` };
  }
  const reread: RereadRun = {
    generation: run.generation,
    snapshot: snapshotWith(run, rules),
    profile,
    tasks: [...tasks].map(([taskId, records]) => ({ taskId, records })),
    missing,
  };
  return { reread };
}

/** Records that depend on more than the page and its rules. */
function whyNotAgain(job: JobRecord): string | null {
  if (pageRulesOf(job).document) return "its records contain whole pages (document), which are not read again";
  if (job.kind !== "crawl") return null;
  const { article, only_changed: onlyChanged } = (job.recipe as CrawlRecipe).crawl;
  if (article === true) return "its records contain articles, which are not read again";
  return onlyChanged === true ? "it stores only changed pages" : null;
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
  if (kind !== "crawl") return [...read];
  const task = first === undefined ? await store.task(taskId) : null;
  const { depth = 0 } = (task?.payload ?? {}) as Partial<CrawlPayload>;
  const about = first === undefined ? { url, depth, title } : without(first, "fields", "duplicate_of");
  return read.map((fields) => ({ ...about, fields }));
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
