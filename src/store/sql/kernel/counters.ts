/** Task counters of streams, sites and runs; written in the transactions that move the tasks. */
import { NO_TASKS, type TaskCounts } from "../../../domain/run/run-end.ts";
import { OPEN_TASK_STATES, TASK_STATES, type TaskState } from "../../../domain/run/states.ts";
import type { Collector, Connection, ForEach } from "./connection.ts";
import { type Context, RANK } from "./context.ts";

/** Counter changes of a stream; `unfetched`: failed tasks that were never fetched. */
export type CounterChange = Partial<TaskCounts> & { unfetched?: number };

/** Page counter changes of a run: in flight, and ended, counting for its limit or not. */
export interface PageCountChange {
  inFlight: number;
  counted: number;
  uncounted: number;
}

const SUM_OPEN = OPEN_TASK_STATES.map((name) => `streams.${name}`).join(" + ");

/** Updates only the columns that change: SQLite then skips the indexes on others. */
function addStatement(table: "streams" | "site_counts", states: readonly TaskState[]): ForEach {
  const name = table + states.join();
  let statement = addStatements.get(name);
  if (statement === undefined) addStatements.set(name, (statement = buildAddStatement(table, states)));
  return statement;
}

const addStatements = new Map<string, ForEach>();

function buildAddStatement(table: "streams" | "site_counts", states: readonly TaskState[]): ForEach {
  const changes = states.map((name) => `${name} = ${table}.${name} + new.${name}`).join(", ");
  const numbers = Object.fromEntries(states.map((name) => [name, "bigint"] as const));
  return table === "streams"
    ? {
        text: `UPDATE streams SET ${changes} FROM new WHERE streams.id = new.id
          RETURNING new.row_index AS row_index, streams.run, streams.auxiliary, streams.site, streams.opened_event, ${SUM_OPEN} AS open`,
        columns: { ...numbers, id: "bigint" },
      }
    : {
        text: `UPDATE site_counts SET ${changes} FROM new WHERE site_counts.site = new.site`,
        columns: { ...numbers, site: "text" },
      };
}

/** Before the second page is done, few pages are known: progress assumes at least this many. */
const INITIAL_PAGES_ESTIMATE = 20;

const DONE = "(pages_counted + ?2 + pages_uncounted + ?3)";
const KNOWN = `CASE WHEN ${DONE} < 2 THEN max(pages_known, ${INITIAL_PAGES_ESTIMATE}) ELSE pages_known END`;
/** The crawl's upper bound; uncounted pages come on top of its limit. */
const UPPER_BOUND = "coalesce(pages_limit + pages_uncounted + ?3, pages_known)";
/** SQLite divides bound floats as floats. */
const PERCENT = `CAST(min(99, 100 * ${DONE} / max(1, min(${KNOWN}, ${UPPER_BOUND}))) AS BIGINT)`;

/** Discovered pages are added before their finder counts. `max` holds the progress until it is accurate again. */
const CHANGE_PAGES = `UPDATE runs SET pages_in_flight = pages_in_flight + ?1, pages_counted = pages_counted + ?2,
  pages_uncounted = pages_uncounted + ?3, progress = max(progress, ${PERCENT}) WHERE n = ?4 AND kind = 'crawl'`;

export function changeCounters(context: Context, stream: number, change: CounterChange): void {
  changeAllCounters(context, [[stream, change]]);
}

/** Changes of a run's counters; `open`: of its streams with open tasks. */
export interface RunChange extends PageCountChange {
  open: number;
}

export interface CounterEffects {
  runs: Map<number, RunChange>;
  /** Sites at which a stream of a run has no open tasks left. */
  closed: Set<string>;
}

/** Changes the counters of streams, and those of their runs and sites, each row once. */
export function changeAllCounters(
  { connection }: Context,
  changes: Iterable<readonly [stream: number, change: CounterChange]>,
): CounterEffects {
  const runs = new Map<number, RunChange>();
  const sites = new Map<string, TaskCounts>();
  const closed = new Set<string>();
  const openings = new Openings(connection);
  const list = [...changes];
  const rows = changeStreams(connection, list);
  for (const [index, [stream, change]] of list.entries()) {
    const row = rows[index] as ChangedStream;
    let run = runs.get(row.run);
    if (run === undefined) runs.set(row.run, (run = { inFlight: 0, counted: 0, uncounted: 0, open: 0 }));
    const before = row.open - OPEN_TASK_STATES.reduce((sum, name) => sum + (change[name] ?? 0), 0);
    run.open += Number(row.open > 0) - Number(before > 0);
    if (row.site !== "" && before > 0 !== row.open > 0) {
      if (row.open === 0) closed.add(row.site);
      openings.changed(stream, row);
    }
    if (row.auxiliary === 1) continue;
    if (row.site !== "") addToSite(sites, row.site, change);
    const { running = 0, completed = 0, failed = 0, skipped = 0, unfetched = 0 } = change;
    run.inFlight += running;
    run.counted += completed + failed - unfetched;
    run.uncounted += skipped + unfetched;
  }
  openings.write();
  for (const [run, change] of runs) writeRun(connection, run, change);
  if (sites.size > 0) connection.atEnd(SITE_COUNTS, sites);
  return { runs, closed };
}

const SITE_COUNTS: Collector<ReadonlyMap<string, TaskCounts>> = {
  rank: RANK.siteCounts,
  write(connection, changes) {
    const { dialect } = connection;
    const sites = changes.length === 1 ? (changes[0] as ReadonlyMap<string, TaskCounts>) : sumOf(changes);
    // A move between streams of a site changes nothing for the site.
    const changed = [...sites].filter(([, change]) => TASK_STATES.some((name) => change[name] !== 0));
    if (changed.length === 0) return;
    if (dialect.isShared) {
      const names = JSON.stringify(changed.map(([site]) => site));
      const lock = `SELECT 1 FROM site_counts WHERE site IN (SELECT value FROM json_each(?)) ORDER BY site ${dialect.forUpdate}`;
      connection.sql(lock).run(names);
    }
    for (const [states, group] of byStates(changed, ([, change]) => change))
      dialect.each(
        connection,
        addStatement("site_counts", states),
        group.map(([site, change]) => [...states.map((name) => change[name]), site]),
      );
  },
};

function sumOf(changes: readonly ReadonlyMap<string, TaskCounts>[]): Map<string, TaskCounts> {
  const sum = new Map<string, TaskCounts>();
  for (const sites of changes) for (const [site, change] of sites) addToSite(sum, site, change);
  return sum;
}

/** Groups changes of the same columns into one statement. */
function byStates<T>(list: readonly T[], changeOf: (item: T) => CounterChange): [TaskState[], T[]][] {
  const groups = new Map<string, [TaskState[], T[]]>();
  for (const item of list) {
    const change = changeOf(item);
    const states = TASK_STATES.filter((name) => (change[name] ?? 0) !== 0);
    const group = groups.get(states.join());
    if (group === undefined) groups.set(states.join(), [states, [item]]);
    else group[1].push(item);
  }
  return [...groups.values()];
}

function changeStreams(
  connection: Connection,
  list: readonly (readonly [stream: number, change: CounterChange])[],
): ChangedStream[] {
  const changed = new Map<number, ChangedStream>();
  for (const [states, group] of byStates(list, ([, change]) => change)) {
    // A change that cancels out leaves the counters as they are, but the run was touched.
    if (states.length === 0) states.push("completed");
    const values = group.map(([stream, change]) => [...states.map((name) => change[name] ?? 0), stream]);
    const rows = connection.dialect.eachFirst(connection, addStatement("streams", states), values);
    for (const [index, [stream]] of group.entries()) changed.set(stream, rows[index] as unknown as ChangedStream);
  }
  return list.map(([stream]) => changed.get(stream) as ChangedStream);
}

interface ChangedStream {
  run: number;
  auxiliary: number;
  site: string;
  opened_event: number | null;
  open: number;
}

/**
 * Since when a run has had open work at a site without interruption. It may have several streams there; a move between
 * them in one transaction is no interruption.
 */
class Openings {
  readonly #connection: Connection;
  readonly #closed = new Map<string, number | null>();
  readonly #list: { stream: number; run: number; site: string; isOpen: boolean }[] = [];
  #last: number | null = null;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  changed(stream: number, { run, site, opened_event: since, open }: ChangedStream): void {
    if (open === 0) this.#closed.set(`${run} ${site}`, since);
    this.#list.push({ stream, run, site, isOpen: open > 0 });
  }

  write(): void {
    const { dialect } = this.#connection;
    const continued = this.#list.map(
      ({ run, site, isOpen }) => (isOpen ? this.#closed.get(`${run} ${site}`) : null) ?? null,
    );
    const unresolved = this.#list.filter(({ isOpen }, index) => isOpen && continued[index] === null);
    const found = dialect.eachFirst(
      this.#connection,
      OPEN_SINCE,
      unresolved.map(({ run, site }) => [run, site]),
    );
    const since = new Map(unresolved.map((item, index) => [item, found[index]?.["since"] ?? this.#clock()]));
    dialect.each(
      this.#connection,
      NOTE_OPENING,
      this.#list.map((item, index) => [since.get(item) ?? continued[index] ?? null, item.stream]),
    );
  }

  #clock(): number {
    if (this.#last === null) {
      const row = this.#connection.sql(`SELECT ${this.#connection.dialect.clock} AS n`).get();
      this.#last = Number(row?.["n"]);
    }
    return this.#last;
  }
}

const OPEN_SINCE: ForEach = {
  text: `SELECT new.row_index AS row_index, (SELECT min(s.opened_event) FROM streams s WHERE s.run = new.run AND s.site = new.site) AS since
    FROM new`,
  columns: { run: "bigint", site: "text" },
};

const NOTE_OPENING: ForEach = {
  text: "UPDATE streams SET opened_event = new.opened_event FROM new WHERE streams.id = new.id",
  columns: { opened_event: "bigint", id: "bigint" },
};

function addToSite(sites: Map<string, TaskCounts>, site: string, change: CounterChange): void {
  let sum = sites.get(site);
  if (sum === undefined) sites.set(site, (sum = { ...NO_TASKS }));
  for (const name of TASK_STATES) sum[name] += change[name] ?? 0;
}

function writeRun(connection: Connection, run: number, change: RunChange): void {
  const { open, inFlight, counted, uncounted } = change;
  if (open !== 0) connection.sql("UPDATE runs SET open_streams = open_streams + ? WHERE n = ?").run(open, run);
  if (inFlight !== 0 || counted !== 0 || uncounted !== 0)
    connection.sql(CHANGE_PAGES).run(inFlight, counted, uncounted, run);
}
