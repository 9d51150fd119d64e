import type { Turn } from "../../ports/claim-port.ts";
import type { NewTask } from "../../records/run-records.ts";

/**
 * The database interface of the store methods: synchronous statements, in transactions. SQLite works that way; for
 * Postgres a thread blocks until the answer arrives (docs/decisions/0010-one-store-two-databases.md). SQLite has one
 * writer at a time; on Postgres, what a transaction excludes depends on the write scope of its store method
 * (`../../ports/access.ts`).
 */
export type Value = string | number | bigint | Uint8Array | null;
export type Row = Record<string, Value>;

export interface Changes {
  /** Rows written. On Postgres, reading it waits for the statement. */
  readonly changes: number | bigint;
}

export interface Statement {
  get(...values: Values): Row | undefined;
  all(...values: Values): unknown[];
  run(...values: Values): Changes;
}

/** Positional; or one object of named values. */
export type Values = (Value | Record<string, Value>)[];

export interface WriteOptions {
  /** Survives a power cut; otherwise one may undo the last transactions, as whole transactions. */
  durable?: boolean;
  /** Executes in the scope `all`, whatever the scope of the method. */
  exclusive?: boolean;
  /** Waits no longer than this for each lock, and fails as `database_busy`; other databases than Postgres ignore it. */
  lockMs?: number;
}

/** How long a method that takes its turn waits for locks. */
export const limitsOf = (turn: Turn | undefined): WriteOptions =>
  typeof turn === "object" ? { lockMs: turn.waitMs } : {};

export interface Connection {
  readonly dialect: Dialect;
  /** A statement prepared once per connection; with `lists` its rows are lists of values. */
  sql(text: string, options?: { lists: boolean }): Statement;
  /** Runs `work` in one transaction, within the write scope of the store method. */
  write<T>(work: () => T, options?: WriteOptions): T;
  /**
   * Collects a change of rows that many writers share, such as counters of sites and the numbers of events. They are
   * written at the end of the transaction, always in the same order, so that no other writer waits for them longer than
   * the COMMIT takes, and none deadlocks.
   */
  atEnd<Item>(collector: Collector<Item>, item: Item): void;
  /**
   * Like a durable `write`, but concurrent calls may share one commit. Each succeeds or fails on its own. What they lock
   * is locked first, for all of them in order.
   */
  writeTogether<T>(work: () => T, locks?: SharedLocks): Promise<T>;
  /** Runs several reads on one snapshot. */
  read<T>(work: () => T): T;
  close(): void;
}

/** Names (`Dialect.lockName`), and ids of runs (`Dialect.lockRuns`). */
export interface SharedLocks {
  names: readonly string[];
  runs: readonly string[];
}

/** Writes what a transaction has collected; see `atEnd`. */
export interface Collector<Item> {
  /** The position among the collectors of a transaction. */
  rank: number;
  write(connection: Connection, items: readonly Item[]): void;
}

/** A query; with `lists` its rows are lists of values. */
export interface Query {
  text: string;
  values: Values;
  lists?: boolean;
}

/**
 * A statement that applies to every row of a list: `new` is the list, `new.name` a value of a row, and `new.row_index`
 * its position, to order by. So it can run row by row, or for all rows at once.
 */
export interface ForEach {
  text: string;
  /** The values of a row, in order. */
  columns: Readonly<Record<string, "bigint" | "double precision" | "text" | "bytea">>;
}

/** A statement that reports which rows it changed. */
export interface ForEachChanged extends ForEach {
  /** Identifies changed rows: this table column has the value of the same name in the row. */
  key: string;
}

/** Whether a run was locked. */
export interface RunLocks {
  (run: number): boolean;
  /** Whether some were left out, because others have locked them. */
  missed(): boolean;
}

/** Operations that need different statements on the two databases, or too many on one. */
export interface Dialect {
  /** Executes the statement for a list. Within a transaction. */
  each(connection: Connection, statement: ForEach, list: readonly Value[][]): void;
  /** As `each`; returns which rows changed. No two rows have the same key. */
  eachChanged(connection: Connection, statement: ForEachChanged, list: readonly Value[][]): boolean[];
  /** The first result row for each row of the list. The statement selects `new.row_index AS row_index`. */
  eachFirst(connection: Connection, statement: ForEach, list: readonly Value[][]): (Row | undefined)[];
  /** As `eachFirst`, sent with the next statement whose answer is needed; nothing that it reads may change before. */
  lookUp(connection: Connection, statement: ForEach, list: readonly Value[][]): () => (Row | undefined)[];
  /** As `firsts`, sent with the next statement whose answer is needed. */
  ask(connection: Connection, list: readonly Query[]): () => (Row | undefined)[];
  /** The first row of each query. Executed in order, in one round trip. */
  firsts(connection: Connection, list: readonly Query[]): (Row | undefined)[];
  /** All rows of each query. Executed in order, in one round trip. */
  lists(connection: Connection, list: readonly Query[]): unknown[][];
  /** Others write at the same time, and an answer takes a round trip. */
  readonly isShared: boolean;
  /** Locks the selected rows until the end of the transaction; empty where writers exclude each other. */
  readonly forUpdate: string;
  /** Keeps the selected rows from being deleted until the end of the transaction. */
  readonly forKeyShare: string;
  /** As `forUpdate`, but leaves out rows that others have locked. */
  readonly unlessLocked: string;
  /**
   * Locks runs for this transaction, each with all runs of its workflow: others may read them, but change nothing of
   * them. The query selects numbers of runs. Returns whether a run is among them. Must come before other statements.
   * In the turn `try` it waits for nobody, and leaves out runs that others have locked.
   */
  lockRuns(connection: Connection, query: Query, turn?: Turn): RunLocks;
  /** Excludes other transactions that lock the same name. */
  lockName(connection: Connection, name: string): void;
  /**
   * As `lockName`, for all names that a query selects as `name`, in order. Sent with the next statement. Returns those
   * that it left out: none, but in the turn `try`.
   */
  lockNames(connection: Connection, query: Query, turn?: Turn): () => ReadonlySet<string>;
  /** An SQL expression: a number that only `tick` increases. Orders events between runs; see `site-deps.ts`. */
  readonly clock: string;
  /** An SQL expression: the next number of `clock`. */
  readonly tick: string;
  /** The number of the next row of a table, never used before. Within a transaction. */
  nextNumber(connection: Connection, table: "jobs" | "sessions"): number;
  /** Changes whenever another process wrote. */
  foreignVersion(connection: Connection): number;
  /** Inserts queued tasks; returns the number of each, or null where its key exists. */
  insertTasks(connection: Connection, list: readonly NewTaskRow[], now: number): (number | null)[];
  /** Tests which of these keys have a task; tasks added meanwhile do not matter. */
  tasksAmong(connection: Connection, hashes: readonly Uint8Array[]): (hash: Uint8Array) => boolean;
  /** Tests which of these keys are aliases of pages of a run. */
  aliasesAmong(connection: Connection, run: number, hashes: readonly Uint8Array[]): (hash: Uint8Array) => boolean;
  /**
   * Makes this transaction survive a crash of the database server: others act on it irrevocably. (For a crash of the
   * machine, see `durable`.)
   */
  outliveCrash(connection: Connection): void;
  /** Size on our disk, without free pages. */
  bytes(connection: Connection): number;
  /** Corruption of the database itself. */
  damage(connection: Connection): string[];
  /** Writes and deletes a row, to test whether writes work. Within a transaction. */
  probe(connection: Connection): void;
}

interface NewTaskRow {
  target: { stream: number };
  hash: Uint8Array;
  task: Pick<NewTask, "priority" | "key" | "url" | "handler" | "payload">;
}
