/** How a run gets more tasks from those it has: at their end, or while they are at work. */
import { mostKnown } from "../../domain/crawl-end.ts";
import type { Discovered } from "../../domain/outcome.ts";
import type { RunFacts } from "../../domain/run-facts.ts";
import { TASK_STATES, TERMINAL_RUN_STATES } from "../../domain/states.ts";
import type { Grown, Growth } from "../crawl-port.ts";
import type { ClaimedTask, LaneHold, NewTask, SettledTask } from "../port.ts";
import { type Context, keyHash, mergeFacts, parseJson } from "./context.ts";
import { insertTasks, isKnown } from "./insert-tasks.ts";
import { holdsLane } from "./lanes.ts";
import { runRow } from "./runs.ts";

/** The pages that this one leads to become tasks with the same stroke: a crash loses neither. Says which lanes got work. */
export function takeDiscovered(context: Context, { task, report }: SettledTask, now: number): string[] {
  if (report?.discovered === undefined && report?.tooDeep === undefined) return [];
  const { n } = context.connection.sql("SELECT n FROM runs WHERE id = ?").get(task.runId) as { n: number };
  const found = (report.discovered ?? []).map((one) => toTask(one, task));
  const { lanes } = addDiscovered(context, n, found, hashesOf(task, found), 0, now);
  // Found on another page, nearer to the start, it is no page that was left.
  const isUnknown = (key: string) => !isKnown(context.connection, keyHash(task.runId, key));
  if (report.tooDeep?.some(isUnknown) === true) noteLeft(context, n, "depth");
  return lanes;
}

export function growRun(
  context: Context,
  hold: LaneHold,
  task: ClaimedTask,
  { found, asideLimit }: Growth,
  now: number,
): Grown | null {
  const tasks = found.map((one) => toTask(one, task));
  // Hashing happens before the lock is taken: other writers wait only for the inserts.
  const hashes = hashesOf(task, tasks);
  return context.connection.write(() => {
    if (!holdsLane(context, hold)) return null;
    const run = runRow(context, task.runId);
    if (run === null || TERMINAL_RUN_STATES.includes(run.status)) return null;
    return addDiscovered(context, run.n, tasks, hashes, asideLimit, now);
  });
}

function toTask(found: Discovered, finder: ClaimedTask): NewTask {
  const aside = found.aside !== undefined;
  return {
    key: found.key,
    lane: found.lane,
    site: found.site,
    resolver: finder.resolver,
    url: found.url,
    // What serves to find pages comes before them, and what is nearer to the start before the rest.
    priority: aside ? 1 : -found.depth,
    handler: found.handler ?? finder.handler,
    payload: aside ? found.aside : { depth: found.depth },
    aside,
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
  asideLimit: number,
  now: number,
): Grown {
  const { connection } = context;
  const pages = connection
    .sql("SELECT pages_limit, pages_known, pages_counted FROM runs WHERE n = ?")
    .get(run) as unknown as PagesOfRun;
  const room = {
    pages: roomFor(pages),
    aside: tasks.some(({ aside }) => aside === true) ? Math.max(0, asideLimit - countAside(context, run)) : 0,
  };
  const { added, lanes, leftOut } = insertTasks(context, run, tasks, hashes, now, room);
  if (added.pages > 0)
    connection.sql("UPDATE runs SET pages_known = pages_known + ? WHERE n = ?").run(added.pages, run);
  if (leftOut.pages) noteLeft(context, run, "pages");
  return { added: added.pages + added.aside, lanes, leftOut: leftOut.pages || leftOut.aside };
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

function countAside({ connection }: Context, run: number): number {
  const all = TASK_STATES.join(" + ");
  const row = connection.sql(`SELECT coalesce(sum(${all}), 0) AS n FROM streams WHERE run = ? AND aside = 1`).get(run);
  return (row as { n: number }).n;
}
