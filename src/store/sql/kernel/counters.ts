/** What streams and runs count of their tasks; written in the transactions that move the tasks. */
import { NO_TASKS, type TaskCounts } from "../../../domain/run/run-end.ts";
import { OPEN_TASK_STATES, TASK_STATES, type TaskState } from "../../../domain/run/states.ts";
import type { Connection, ForEach } from "./connection.ts";
import type { Context } from "./context.ts";

/** How the tasks of a stream have moved; `unfetched` of those that failed were never fetched. */
export type CounterChange = Partial<TaskCounts> & { unfetched?: number };

/** How the pages of a run have moved: what somebody has in hand, and what ended, counting for its limit or not. */
export interface PageChange {
  inHand: number;
  counted: number;
  uncounted: number;
}

const SUM_OPEN = OPEN_TASK_STATES.map((name) => `streams.${name}`).join(" + ");

/** Only what changes stands in the statement: SQLite then leaves the indexes alone that say nothing of it. */
function addTo(table: "streams" | "site_counts", states: readonly TaskState[]): ForEach {
  const name = table + states.join();
  let statement = ADDING.get(name);
  if (statement === undefined) ADDING.set(name, (statement = adding(table, states)));
  return statement;
}

const ADDING = new Map<string, ForEach>();

function adding(table: "streams" | "site_counts", states: readonly TaskState[]): ForEach {
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

/** While only the first page is done, the others of the crawl are hardly found: it counts as if there were so many. */
const FIRST_GUESS = 20;

const DONE = "(pages_counted + ?2 + pages_uncounted + ?3)";
const KNOWN = `CASE WHEN ${DONE} < 2 THEN max(pages_known, ${FIRST_GUESS}) ELSE pages_known END`;
/** All that the crawl may do; pages that do not count come on top of its limit. */
const MOST = "coalesce(pages_limit + pages_uncounted + ?3, pages_known)";
/** SQLite divides numbers that it was given as fractions. */
const PERCENT = `CAST(min(99, 100 * ${DONE} / max(1, min(${KNOWN}, ${MOST}))) AS BIGINT)`;

/** Pages are found before the page that links to them is counted. New ones hold the progress where it is, until it is true again. */
const CHANGE_PAGES = `UPDATE runs SET pages_in_flight = pages_in_flight + ?1, pages_counted = pages_counted + ?2,
  pages_uncounted = pages_uncounted + ?3, progress = max(progress, ${PERCENT}) WHERE n = ?4 AND kind = 'crawl'`;

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
  const list = [...changes];
  const rows = changeStreams(connection, list);
  for (const [index, [stream, change]] of list.entries()) {
    const row = rows[index] as ChangedStream;
    let run = runs.get(row.run);
    if (run === undefined) runs.set(row.run, (run = { inHand: 0, counted: 0, uncounted: 0, open: 0 }));
    const before = row.open - OPEN_TASK_STATES.reduce((sum, name) => sum + (change[name] ?? 0), 0);
    run.open += Number(row.open > 0) - Number(before > 0);
    if (row.site !== "" && before > 0 !== row.open > 0) {
      if (row.open === 0) closed.add(row.site);
      openings.changed(stream, row);
    }
    if (row.auxiliary === 1) continue;
    if (row.site !== "") addUp(sites, row.site, change);
    const { running = 0, completed = 0, failed = 0, skipped = 0, unfetched = 0 } = change;
    run.inHand += running;
    run.counted += completed + failed - unfetched;
    run.uncounted += skipped + unfetched;
  }
  openings.write();
  for (const [run, change] of runs) writeRun(connection, run, change);
  for (const [states, group] of byStates([...sites], ([, change]) => change)) {
    // What one stream of a site has left to another changes nothing for the site.
    if (states.length === 0) continue;
    connection.dialect.each(
      connection,
      addTo("site_counts", states),
      group.map(([site, change]) => [...states.map((name) => change[name]), site]),
    );
  }
  return { runs, closed };
}

/** Those in which the same numbers change: they are told together. */
function byStates<T>(list: readonly T[], changeOf: (one: T) => CounterChange): [TaskState[], T[]][] {
  const groups = new Map<string, [TaskState[], T[]]>();
  for (const one of list) {
    const change = changeOf(one);
    const states = TASK_STATES.filter((name) => (change[name] ?? 0) !== 0);
    const group = groups.get(states.join());
    if (group === undefined) groups.set(states.join(), [states, [one]]);
    else group[1].push(one);
  }
  return [...groups.values()];
}

function changeStreams(
  connection: Connection,
  list: readonly (readonly [stream: number, change: CounterChange])[],
): ChangedStream[] {
  const changed = new Map<number, ChangedStream>();
  for (const [states, group] of byStates(list, ([, change]) => change)) {
    // What came and went at once leaves the numbers as they are; its run was touched all the same.
    if (states.length === 0) states.push("completed");
    const values = group.map(([stream, change]) => [...states.map((name) => change[name] ?? 0), stream]);
    const rows = connection.dialect.eachFirst(connection, addTo("streams", states), values);
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
 * Since when a run has had open work at a site without a break. It may have several streams there, and what one of them
 * leaves to another in the same transaction is no break.
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
    const left = this.#list.map(
      ({ run, site, isOpen }) => (isOpen ? this.#closed.get(`${run} ${site}`) : null) ?? null,
    );
    const asked = this.#list.filter(({ isOpen }, index) => isOpen && left[index] === null);
    const found = dialect.eachFirst(
      this.#connection,
      OPEN_SINCE,
      asked.map(({ run, site }) => [run, site]),
    );
    const since = new Map(asked.map((one, index) => [one, found[index]?.["since"] ?? this.#lastEvent()]));
    dialect.each(
      this.#connection,
      NOTE_OPENING,
      this.#list.map((one, index) => [since.get(one) ?? left[index] ?? null, one.stream]),
    );
  }

  #lastEvent(): number {
    if (this.#last === null) {
      const row = this.#connection.sql("SELECT coalesce(max(n), 0) AS n FROM events").get();
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
