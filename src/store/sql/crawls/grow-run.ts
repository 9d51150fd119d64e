/** How a run gets more tasks from those it has: at their end, or while they are at work. */
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

/** Links that are looked for at once. */
const LINKS_AT_ONCE = 5000;

/** The pages that others lead to become tasks in the transaction in which those end: a crash loses neither. */
export class Discoveries {
  readonly #found = new Map<number, { tasks: NewTask[]; hashes: Uint8Array[]; tooDeep: Uint8Array[] }>();

  add(run: number, { task, report }: SettledTask): void {
    if (report?.discovered === undefined && report?.tooDeep === undefined) return;
    let found = this.#found.get(run);
    if (found === undefined) this.#found.set(run, (found = { tasks: [], hashes: [], tooDeep: [] }));
    for (const one of report.discovered ?? []) {
      found.tasks.push(toTask(one, task));
      found.hashes.push(keyHash(task.runId, one.key));
    }
    for (const key of report.tooDeep ?? []) found.tooDeep.push(keyHash(task.runId, key));
  }

  /** Says which lanes got work. */
  write(context: Context, deltas: CounterDeltas, now: number): string[] {
    const { connection } = context;
    const opened: string[] = [];
    for (const [run, { tasks, hashes, tooDeep }] of this.#found) {
      for (let from = 0; from < tasks.length; from += LINKS_AT_ONCE) {
        const to = from + LINKS_AT_ONCE;
        const { lanes } = addDiscovered(context, run, tasks.slice(from, to), hashes.slice(from, to), 0, deltas, now);
        opened.push(...lanes);
      }
      // Found on another page, nearer to the start, it is no page that was left.
      const isKnown = connection.dialect.tasksAmong(connection, tooDeep);
      if (tooDeep.some((hash) => !isKnown(hash))) noteLeft(context, run, "depth");
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
  const tasks = found.map((one) => toTask(one, task));
  // Hashing happens before the lock is taken: other writers wait only for the inserts.
  const hashes = hashesOf(task, tasks);
  return context.connection.write(() => {
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
    // What serves to find pages comes before them, and what is nearer to the start before the rest.
    priority: auxiliary ? 1 : -found.depth,
    handler: found.handler ?? finder.handler,
    payload: auxiliary ? found.auxiliary : { depth: found.depth },
    auxiliary,
  };
}

function hashesOf({ runId }: ClaimedTask, tasks: readonly NewTask[]): Uint8Array[] {
  return tasks.map(({ key }) => keyHash(runId, key));
}

/** What a limit of the crawl has kept out; told by how it ends. */
function noteLeft(context: Context, run: number, what: "pages" | "depth"): void {
  const row = context.connection.sql("SELECT facts FROM runs WHERE n = ?").get(run) as { facts: string | null };
  const left = parseJson<RunFacts>(row.facts, {}).left ?? {};
  if (left[what] !== true) mergeFacts(context, run, { left: { ...left, [what]: true } });
}

/** Adds what is not known yet, up to the run's limits. Within a transaction of the caller's. */
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
  const pages = connection
    .sql("SELECT pages_limit, pages_known, pages_counted FROM runs WHERE n = ?")
    .get(run) as unknown as PagesOfRun;
  const quota = {
    pages: roomFor(pages),
    auxiliary: tasks.some(({ auxiliary }) => auxiliary === true)
      ? Math.max(0, auxiliaryLimit - countAuxiliary(context, run))
      : 0,
  };
  const { added, lanes, leftOut } = insertTasks(context, run, tasks, hashes, deltas, now, quota);
  if (added.pages > 0)
    connection.sql("UPDATE runs SET pages_known = pages_known + ? WHERE n = ?").run(added.pages, run);
  if (leftOut.pages) noteLeft(context, run, "pages");
  return { added: added.pages + added.auxiliary, lanes, leftOut: leftOut.pages || leftOut.auxiliary };
}

interface PagesOfRun {
  pages_limit: number | null;
  pages_known: number;
  pages_counted: number;
}

/** More become known than may be fetched, because some of them will not count; how many are fetched is seen to by claims. */
function roomFor({ pages_limit: limit, pages_known: known, pages_counted: counted }: PagesOfRun): number {
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
