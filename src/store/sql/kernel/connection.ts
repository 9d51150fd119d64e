import type { NewTask } from "../../records/run-records.ts";

/**
 * How the methods of the store speak to a database: statements that answer at once, in transactions of one writer at a time.
 * SQLite does so by nature; for Postgres a thread waits for the answers (docs/decisions/0010-one-store-two-databases.md).
 */
export type Value = string | number | bigint | Uint8Array | null;
export type Row = Record<string, Value>;

export interface Changes {
  /** How many rows were written. Where statements travel, asking for it is what waits. */
  readonly changes: number | bigint;
}

export interface Statement {
  get(...values: Values): Row | undefined;
  all(...values: Values): unknown[];
  run(...values: Values): Changes;
}

/** In order; or by name, as the only one. */
export type Values = (Value | Record<string, Value>)[];

export interface WriteOptions {
  /** Survives a power cut; without it the last transactions may be undone by one, as whole transactions. */
  durable?: boolean;
}

export interface Connection {
  readonly dialect: Dialect;
  /** A statement prepared once per connection; with `lists` its rows are lists of values. */
  sql(text: string, options?: { lists: boolean }): Statement;
  /** Runs `work` in one transaction, beside no other that writes. */
  write<T>(work: () => T, options?: WriteOptions): T;
  /** Like a durable `write`, but several that come at once may share one commit. Each succeeds or fails by itself. */
  writeTogether<T>(work: () => T): Promise<T>;
  /** Runs several reads on one snapshot. */
  read<T>(work: () => T): T;
  close(): void;
}

/**
 * A statement that is said of every row of a list. In it `new` is the list, `new.name` a value of a row and
 * `new.row_index` its place in the list, to order by; so it can be said of one row after the other, or of all at once.
 */
export interface ForEach {
  text: string;
  /** The values of a row, in their order. */
  columns: Readonly<Record<string, "bigint" | "double precision" | "text" | "bytea">>;
}

/** One that tells of which rows it has written something. */
export interface ForEachChanged extends ForEach {
  /** What it writes is told by this column of its table, which has the value of that name in the row. */
  key: string;
}

/** What cannot be said to both in the same words, or would take too many of them. */
export interface Dialect {
  /** Writes a list. Within a transaction. */
  each(connection: Connection, statement: ForEach, list: readonly Value[][]): void;
  /** As above; tells of which rows something was written. No two have the same key. */
  eachChanged(connection: Connection, statement: ForEachChanged, list: readonly Value[][]): boolean[];
  /** What the statement answers to each row of the list: one row or none. It says `new.row_index AS row_index` in its answer. */
  eachFirst(connection: Connection, statement: ForEach, list: readonly Value[][]): (Row | undefined)[];
  /** The first row of each answer. What is asked first is done first; nobody waits in between. */
  firsts(connection: Connection, list: readonly { text: string; values: Values }[]): (Row | undefined)[];
  /** The number that the next row of a table will have; none had it before. Within a transaction. */
  nextNumber(connection: Connection, table: "jobs" | "sessions"): number;
  /** Changes whenever another process wrote. */
  foreignVersion(connection: Connection): number;
  /** Adds tasks that wait; the number of each, or null where its key was there. */
  insertTasks(connection: Connection, list: readonly NewTaskRow[], now: number): (number | null)[];
  /** Tells which of these keys have a task; what is added meanwhile does not matter. */
  tasksAmong(connection: Connection, hashes: readonly Uint8Array[]): (hash: Uint8Array) => boolean;
  /** Tells which of these keys are other names of pages that a run has. */
  aliasesAmong(connection: Connection, run: number, hashes: readonly Uint8Array[]): (hash: Uint8Array) => boolean;
  /**
   * Somebody outside acts on what this transaction writes, and could not take it back: it outlives a crash of the
   * database's own. (Of the machine's: see `durable`.)
   */
  outliveCrash(connection: Connection): void;
  /** What the database takes on our disk, without what it has free inside. */
  bytes(connection: Connection): number;
  /** What is broken in the database itself. */
  damage(connection: Connection): string[];
  /** Writes something and takes it back, to learn whether it can. Within a transaction. */
  probe(connection: Connection): void;
}

interface NewTaskRow {
  target: { stream: number };
  hash: Uint8Array;
  task: Pick<NewTask, "priority" | "key" | "url" | "handler" | "payload">;
}
