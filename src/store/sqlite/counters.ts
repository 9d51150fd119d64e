/** What streams and runs count of their tasks; written in the transactions that move the tasks. */
import { NO_TASKS, type TaskCounts } from "../../domain/run-end.ts";
import { OPEN_TASK_STATES, TASK_STATES, type TaskState } from "../../domain/states.ts";
import type { Connection } from "./connection.ts";
import type { Context } from "./context.ts";

/** How the tasks of a stream have moved; `unfetched` of those that failed were never fetched. */
export type CounterChange = Partial<TaskCounts> & { unfetched?: number };

/** How the pages of a run have moved: what somebody has in hand, and what ended, counting for its limit or not. */
export interface PageChange {
  inHand: number;
  counted: number;
  uncounted: number;
}

const SUM_OPEN = OPEN_TASK_STATES.join(" + ");

/** Only what changes stands in the statement: SQLite then leaves the indexes alone that say nothing of it. */
function addTo(table: "streams" | "site_counts", states: readonly TaskState[]): string {
  const changes = states.map((name) => `${name} = ${name} + ?`).join(", ");
  return table === "streams"
    ? `UPDATE streams SET ${changes} WHERE id = ? RETURNING run, aside, site, opened_at, ${SUM_OPEN} AS open`
    : `UPDATE site_counts SET ${changes} WHERE site = ?`;
}

const CHANGE_PAGES = `UPDATE runs SET pages_in_hand = pages_in_hand + ?, pages_counted = pages_counted + ?,
  pages_uncounted = pages_uncounted + ? WHERE n = ? AND kind = 'crawl'`;

export function changeCounters(context: Context, stream: number, change: CounterChange): void {
  changeAllCounters(context, [[stream, change]]);
}

export interface Counted {
  runs: Map<number, PageChange>;
  /** Sites at which a run has nothing open any more under one of its resolvers. */
  closed: Set<string>;
}

/** Changes the counters of streams together with the tasks they count, and those of their runs and sites, each row once. */
export function changeAllCounters(
  { connection }: Context,
  changes: Iterable<readonly [stream: number, change: CounterChange]>,
): Counted {
  const runs = new Map<number, PageChange & { open: number }>();
  const sites = new Map<string, TaskCounts>();
  const closed = new Set<string>();
  const openings = new Openings(connection);
  for (const [stream, change] of changes) {
    const states = TASK_STATES.filter((name) => (change[name] ?? 0) !== 0);
    // What came and went at once leaves the numbers as they are; its run was touched all the same.
    if (states.length === 0) states.push("completed");
    const values = states.map((name) => change[name] ?? 0);
    const row = connection.sql(addTo("streams", states)).get(...values, stream) as unknown as ChangedStream;
    let run = runs.get(row.run);
    if (run === undefined) runs.set(row.run, (run = { inHand: 0, counted: 0, uncounted: 0, open: 0 }));
    const before = row.open - OPEN_TASK_STATES.reduce((sum, name) => sum + (change[name] ?? 0), 0);
    run.open += Number(row.open > 0) - Number(before > 0);
    if (row.site !== "" && before > 0 !== row.open > 0) {
      if (row.open === 0) closed.add(row.site);
      openings.changed(stream, row);
    }
    if (row.aside === 1) continue;
    if (row.site !== "") addUp(sites, row.site, change);
    const { running = 0, completed = 0, failed = 0, skipped = 0, unfetched = 0 } = change;
    run.inHand += running;
    run.counted += completed + failed - unfetched;
    run.uncounted += skipped + unfetched;
  }
  for (const [run, change] of runs) writeRun(connection, run, change);
  for (const [site, change] of sites) {
    const states = TASK_STATES.filter((name) => change[name] !== 0);
    if (states.length === 0) continue;
    connection.sql(addTo("site_counts", states)).run(...states.map((name) => change[name]), site);
  }
  return { runs, closed };
}

interface ChangedStream {
  run: number;
  aside: number;
  site: string;
  opened_at: number | null;
  open: number;
}

/**
 * Since when a run has had open work at a site without a break. It may have several streams there, and what one of them
 * leaves to another in the same transaction is no break.
 */
class Openings {
  readonly #connection: Connection;
  readonly #closed = new Map<string, number | null>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  changed(stream: number, { run, site, opened_at: since, open }: ChangedStream): void {
    const place = `${run} ${site}`;
    if (open === 0) this.#closed.set(place, since);
    const opened = open === 0 ? null : (this.#closed.get(place) ?? this.#sinceOf(run, site));
    this.#connection.sql("UPDATE streams SET opened_at = ? WHERE id = ?").run(opened, stream);
  }

  #sinceOf(run: number, site: string): number {
    const found = this.#connection.sql(
      `SELECT coalesce((SELECT min(opened_at) FROM streams WHERE run = ? AND site = ?), (SELECT max(n) FROM events), 0) AS n`,
    );
    return (found.get(run, site) as { n: number }).n;
  }
}

function addUp(sites: Map<string, TaskCounts>, site: string, change: CounterChange): void {
  let sum = sites.get(site);
  if (sum === undefined) sites.set(site, (sum = { ...NO_TASKS }));
  for (const name of TASK_STATES) sum[name] += change[name] ?? 0;
}

function writeRun(connection: Connection, run: number, change: PageChange & { open: number }): void {
  const { open, inHand, counted, uncounted } = change;
  if (open !== 0) connection.sql("UPDATE runs SET open_streams = open_streams + ? WHERE n = ?").run(open, run);
  if (inHand !== 0 || counted !== 0 || uncounted !== 0)
    connection.sql(CHANGE_PAGES).run(inHand, counted, uncounted, run);
}
