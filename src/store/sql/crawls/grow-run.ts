/** Adds discovered tasks to a run: when their finder ends, or while it runs. */
import { mostKnown } from "../../../domain/crawl/crawl-end.ts";
import { priorityOfScore } from "../../../domain/crawl/goal-score.ts";
import type { Discovered } from "../../../domain/run/outcome.ts";
import type { RunFacts } from "../../../domain/run/run-facts.ts";
import { TASK_STATES, TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { Grown, Growth } from "../../ports/crawl-port.ts";
import type { ClaimedTask, LaneHold, NewTask, SettledTask } from "../../ports/port.ts";
import { type Context, keyHash, mergeFacts, parseJson } from "../kernel/context.ts";
import { lookUpSites, lookUpStreams } from "../lanes/lane-assignments.ts";
import { insertTasks, type KnownOfRun } from "../tasks/insert-tasks.ts";
import { holdsLane } from "../lanes/lanes.ts";
import { runRow } from "../runs/runs.ts";
import { CounterDeltas } from "../tasks/counter-deltas.ts";
import { lockRuns } from "../kernel/lock-runs.ts";

/** Links per lookup. */
const LOOKUP_BATCH = 5000;

interface Found {
  tasks: NewTask[];
  hashes: Uint8Array[];
}

/** Discovered pages become tasks in the transaction that ends their finder: a crash loses neither. */
export class Discoveries {
  readonly #context: Context;
  readonly #ofTask = new Map<SettledTask, Found>();
  readonly #known = new Map<number, () => KnownOfRun>();
  readonly #found = new Map<number, Found & { tooDeep: Uint8Array[] }>();

  constructor(context: Context, tasks: readonly SettledTask[]) {
    this.#context = context;
    const { isShared } = context.connection.dialect;
    const byRun = new Map<number, Found>();
    for (const settled of tasks) {
      const { task, report } = settled;
      if (report?.discovered === undefined) continue;
      const found = report.discovered.map((discovered) => toTask(discovered, task));
      const hashes = hashesOf(task, found);
      this.#ofTask.set(settled, { tasks: found, hashes });
      if (!isShared) continue;
      const all = byRun.get(task.run) ?? { tasks: [], hashes: [] };
      byRun.set(task.run, all);
      all.tasks.push(...found);
      all.hashes.push(...hashes);
    }
    // A redirect makes another URL known while the outcomes are written.
    if (tasks.some(({ report }) => report?.landed !== undefined)) return;
    for (const [run, all] of byRun)
      if (all.tasks.length <= LOOKUP_BATCH) this.#known.set(run, lookUpRun(context, run, all));
  }

  add(run: number, settled: SettledTask): void {
    const { task, report } = settled;
    if (report?.discovered === undefined && report?.tooDeep === undefined) return;
    let found = this.#found.get(run);
    if (found === undefined) this.#found.set(run, (found = { tasks: [], hashes: [], tooDeep: [] }));
    const { tasks, hashes } = this.#ofTask.get(settled) ?? { tasks: [], hashes: [] };
    found.tasks.push(...tasks);
    found.hashes.push(...hashes);
    for (const key of report.tooDeep ?? []) found.tooDeep.push(keyHash(task.runId, key));
  }

  /** Returns the lanes that got work. */
  write(deltas: CounterDeltas, now: number): string[] {
    const context = this.#context;
    const { connection } = context;
    const opened: string[] = [];
    for (const [run, { tasks, hashes, tooDeep }] of this.#found) {
      for (let from = 0; from < tasks.length; from += LOOKUP_BATCH) {
        const part = { tasks: tasks.slice(from, from + LOOKUP_BATCH), hashes: hashes.slice(from, from + LOOKUP_BATCH) };
        const { lanes } = addDiscovered(context, run, part, 0, deltas, now, this.#known.get(run));
        opened.push(...lanes);
      }
      if (tooDeep.length === 0) continue;
      // A link that another page reached within the depth limit was not left out.
      const isKnown = connection.dialect.tasksAmong(connection, tooDeep);
      if (tooDeep.some((hash) => !isKnown(hash))) recordLimitHit(context, run, "depth");
    }
    return opened;
  }
}

/** Looks up what adding these tasks may need, before it is known which of them are added. */
function lookUpRun(context: Context, run: number, { tasks, hashes }: Found): () => KnownOfRun {
  const { connection } = context;
  const exists = connection.dialect.tasksAmong(connection, hashes);
  const pages = connection.dialect.ask(connection, [{ text: PAGES_OF_RUN, values: [run] }]);
  const withSite = tasks.flatMap(({ site, resolver, auxiliary = false }) =>
    site === null ? [] : [{ site, resolver, auxiliary }],
  );
  const sites = lookUpSites(context, [...new Set(withSite.map(({ site }) => site))]);
  const wanted = new Map(
    withSite.map((stream) => [`${stream.site}\0${stream.resolver ?? ""}\0${stream.auxiliary}`, stream]),
  );
  const streams = lookUpStreams(context, run, [...wanted.values()]);
  return () => {
    const row = pages()[0] as unknown as PagesOfRun;
    const quota = { pages: remainingPages(row), auxiliary: 0 };
    return { quota, exists, isAliased: row.aliased === 1, sites: sites(), streams: streams() };
  };
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
    const grown = addDiscovered(context, run.n, { tasks, hashes }, auxiliaryLimit, deltas, now);
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
    // Auxiliary tasks come before pages, and pages near the start before deeper ones, or the most promising ones.
    priority: auxiliary ? 1 : found.score === undefined ? -found.depth : priorityOfScore(found.score),
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

const PAGES_OF_RUN = `SELECT pages_limit, pages_known, pages_counted,
    EXISTS (SELECT 1 FROM page_aliases a WHERE a.run = runs.n) AS aliased
  FROM runs WHERE n = ?`;

/** Adds unknown tasks up to the run's limits. Within the caller's transaction. */
function addDiscovered(
  context: Context,
  run: number,
  { tasks, hashes }: Found,
  auxiliaryLimit: number,
  deltas: CounterDeltas,
  now: number,
  lookedUp?: () => KnownOfRun,
): Grown {
  const { connection } = context;
  const known = lookedUp?.() ?? readKnown(context, run, hashes);
  if (tasks.some(({ auxiliary }) => auxiliary === true))
    known.quota.auxiliary = Math.max(0, auxiliaryLimit - countAuxiliary(context, run));
  const { added, lanes, leftOut } = insertTasks(context, run, tasks, hashes, deltas, now, known);
  if (added.pages > 0)
    connection.sql("UPDATE runs SET pages_known = pages_known + ? WHERE n = ?").run(added.pages, run);
  if (leftOut.pages) recordLimitHit(context, run, "pages");
  return { added: added.pages + added.auxiliary, lanes, leftOut: leftOut.pages || leftOut.auxiliary };
}

function readKnown({ connection }: Context, run: number, hashes: readonly Uint8Array[]): KnownOfRun {
  const exists = connection.dialect.tasksAmong(connection, hashes);
  const pages = connection.sql(PAGES_OF_RUN).get(run) as unknown as PagesOfRun;
  return { quota: { pages: remainingPages(pages), auxiliary: 0 }, exists, isAliased: pages.aliased === 1 };
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
