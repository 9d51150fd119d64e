/** Adds discovered tasks to a run: when their finder ends, or while it runs. */
import { mostKnown } from "../../../domain/crawl/crawl-end.ts";
import type { Discovered } from "../../../domain/run/outcome.ts";
import type { RunFacts } from "../../../domain/run/run-facts.ts";
import { TASK_STATES, TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { Grown, Growth } from "../../ports/crawl-port.ts";
import type { ClaimedTask, LaneHold, NewTask, SettledTask } from "../../ports/port.ts";
import { type Context, keyHash, mergeFacts, parseJson } from "../kernel/context.ts";
import { insertTasks } from "../tasks/insert-tasks.ts";
import { holdsLane } from "../lanes/lanes.ts";
import { runRow } from "../runs/runs.ts";
import { CounterDeltas } from "../tasks/counter-deltas.ts";
import { lockRuns } from "../kernel/lock-runs.ts";

/** Links per lookup. */
const LOOKUP_BATCH = 5000;

/** Discovered pages become tasks in the transaction that ends their finder: a crash loses neither. */
export class Discoveries {
  readonly #found = new Map<number, { tasks: NewTask[]; hashes: Uint8Array[]; tooDeep: Uint8Array[] }>();

  add(run: number, { task, report }: SettledTask): void {
    if (report?.discovered === undefined && report?.tooDeep === undefined) return;
    let found = this.#found.get(run);
    if (found === undefined) this.#found.set(run, (found = { tasks: [], hashes: [], tooDeep: [] }));
    for (const discovered of report.discovered ?? []) {
      found.tasks.push(toTask(discovered, task));
      found.hashes.push(keyHash(task.runId, discovered.key));
    }
    for (const key of report.tooDeep ?? []) found.tooDeep.push(keyHash(task.runId, key));
  }

  /** Returns the lanes that got work. */
  write(context: Context, deltas: CounterDeltas, now: number): string[] {
    const { connection } = context;
    const opened: string[] = [];
    for (const [run, { tasks, hashes, tooDeep }] of this.#found) {
      for (let from = 0; from < tasks.length; from += LOOKUP_BATCH) {
        const to = from + LOOKUP_BATCH;
        const { lanes } = addDiscovered(context, run, tasks.slice(from, to), hashes.slice(from, to), 0, deltas, now);
        opened.push(...lanes);
      }
      // A link that another page reached within the depth limit was not left out.
      const isKnown = connection.dialect.tasksAmong(connection, tooDeep);
      if (tooDeep.some((hash) => !isKnown(hash))) recordLimitHit(context, run, "depth");
    }
    return opened;
  }
}

export function growRun(
  context: Context,
  hold: LaneHold,
  task: ClaimedTask,
  { found, auxiliaryLimit }: Growth,
  now: number,
): Grown | null {
  const tasks = found.map((discovered) => toTask(discovered, task));
  // Hashes before taking the lock: other writers wait only for the inserts.
  const hashes = hashesOf(task, tasks);
  return context.connection.write(() => {
    lockRuns(context, [task.runId]);
    if (!holdsLane(context, hold)) return null;
    const run = runRow(context, task.runId);
    if (run === null || TERMINAL_RUN_STATES.includes(run.status)) return null;
    const deltas = new CounterDeltas();
    const grown = addDiscovered(context, run.n, tasks, hashes, auxiliaryLimit, deltas, now);
    deltas.apply(context);
    return grown;
  });
}

function toTask(found: Discovered, finder: ClaimedTask): NewTask {
  const auxiliary = found.auxiliary !== undefined;
  return {
    key: found.key,
    lane: found.lane,
    site: found.site,
    resolver: finder.resolver,
    url: found.url,
    // Auxiliary tasks come before pages, and pages near the start before deeper ones.
    priority: auxiliary ? 1 : -found.depth,
    handler: found.handler ?? finder.handler,
    payload: auxiliary ? found.auxiliary : { depth: found.depth },
    auxiliary,
  };
}

function hashesOf({ runId }: ClaimedTask, tasks: readonly NewTask[]): Uint8Array[] {
  return tasks.map(({ key }) => keyHash(runId, key));
}

/** Records that a limit excluded pages; the crawl's end reason reports it. */
function recordLimitHit(context: Context, run: number, what: "pages" | "depth"): void {
  const row = context.connection.sql("SELECT facts FROM runs WHERE n = ?").get(run) as { facts: string | null };
  const left = parseJson<RunFacts>(row.facts, {}).left ?? {};
  if (left[what] !== true) mergeFacts(context, run, { left: { ...left, [what]: true } });
}

/** Adds unknown tasks up to the run's limits. Within the caller's transaction. */
function addDiscovered(
  context: Context,
  run: number,
  tasks: readonly NewTask[],
  hashes: readonly Uint8Array[],
  auxiliaryLimit: number,
  deltas: CounterDeltas,
  now: number,
): Grown {
  const { connection } = context;
  // Sent together.
  const exists = connection.dialect.tasksAmong(connection, hashes);
  const pages = connection
    .sql(
      `SELECT pages_limit, pages_known, pages_counted, EXISTS (SELECT 1 FROM page_aliases a WHERE a.run = runs.n) AS aliased
       FROM runs WHERE n = ?`,
    )
    .get(run) as unknown as PagesOfRun;
  const quota = {
    pages: remainingPages(pages),
    auxiliary: tasks.some(({ auxiliary }) => auxiliary === true)
      ? Math.max(0, auxiliaryLimit - countAuxiliary(context, run))
      : 0,
  };
  const { added, lanes, leftOut } = insertTasks(context, run, tasks, hashes, deltas, now, {
    quota,
    exists,
    isAliased: pages.aliased === 1,
  });
  if (added.pages > 0)
    connection.sql("UPDATE runs SET pages_known = pages_known + ? WHERE n = ?").run(added.pages, run);
  if (leftOut.pages) recordLimitHit(context, run, "pages");
  return { added: added.pages + added.auxiliary, lanes, leftOut: leftOut.pages || leftOut.auxiliary };
}

interface PagesOfRun {
  pages_limit: number | null;
  pages_known: number;
  pages_counted: number;
  /** Some pages are known under several URLs. */
  aliased: number;
}

/** More pages may become known than fetched, because some will not count; claims enforce the limit. */
function remainingPages({ pages_limit: limit, pages_known: known, pages_counted: counted }: PagesOfRun): number {
  if (limit === null) return Number.POSITIVE_INFINITY;
  return counted >= limit ? 0 : Math.max(0, mostKnown(limit) - known);
}

function countAuxiliary({ connection }: Context, run: number): number {
  const all = TASK_STATES.join(" + ");
  const row = connection
    .sql(`SELECT coalesce(sum(${all}), 0) AS n FROM streams WHERE run = ? AND auxiliary = 1`)
    .get(run);
  return (row as { n: number }).n;
}
