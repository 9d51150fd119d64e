import { closeSync, openSync, readSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { withCaller } from "../../domain/access/caller.ts";
import { OrbError } from "../../base/errors.ts";
import { makeFile, makeFolder } from "../../base/files/file-modes.ts";
import type { Collector, Connection, Statement, WriteOptions } from "../sql/kernel/connection.ts";
import { sqliteDialect } from "./dialect.ts";
import { PRIMARY_ERROR, storeError } from "./errors.ts";

/** "Orbw" as a number: marks the file as ours. */
export const APPLICATION_ID = 0x4f726277;

export function pragma(db: DatabaseSync, name: string): number {
  return Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
}

/** Whether the file belongs to another program. */
export function isForeign(db: DatabaseSync): boolean {
  // In this order: another process of ours creates tables and mark together.
  const tables = Number(db.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"] ?? 0);
  const owner = pragma(db, "application_id");
  return owner !== APPLICATION_ID && (tables > 0 || owner !== 0);
}

/** Offset of the application id in SQLite's file header, and the header's length. */
const ID_OFFSET = 68;
const HEADER_BYTES = 100;

/** Open connections of this process, by file. */
const OPEN_FILES = new Map<string, Set<DatabaseSync>>();

function fileKey(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}

/**
 * As `isForeign`, by the file header alone. A file that this process has open is queried through SQLite: POSIX drops
 * all locks of a process on a file when it closes any descriptor of it. Without its lock, another program that closes
 * the database, such as a backup tool, takes itself for the last user and removes the WAL that we write to: all later
 * writes are lost.
 */
export function isForeignFile(path: string): boolean {
  const [open] = OPEN_FILES.get(fileKey(path) ?? "") ?? [];
  if (open !== undefined) return isForeign(open);
  const header = Buffer.alloc(HEADER_BYTES);
  try {
    const file = openSync(path, "r");
    try {
      const length = readSync(file, header, 0, HEADER_BYTES, 0);
      // An empty file may become ours.
      return length > 0 && header.readUInt32BE(ID_OFFSET) !== APPLICATION_ID;
    } finally {
      closeSync(file);
    }
  } catch {
    // Missing or unreadable: opening the database reports it.
    return false;
  }
}

const BUSY_TIMEOUT_MS = 5000;
const WAL_RETRY_MS = 10;

/**
 * Switches a new file to WAL. SQLite does not wait for other processes here, whatever the busy timeout says: three that
 * opened 200 new files together failed with "database is locked" in each of four trials, with this loop in none of four.
 */
function useWal(db: DatabaseSync, timeoutMs: number): void {
  for (let waited = 0; ; waited += WAL_RETRY_MS) {
    try {
      db.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (waited >= timeoutMs || (error as { errcode?: number }).errcode !== PRIMARY_ERROR.BUSY) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_RETRY_MS);
    }
  }
}

interface GroupedWrite {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** One connection. Transactions are synchronous and short, and never span a turn of the event loop. */
export class SqliteConnection implements Connection {
  readonly db: DatabaseSync;
  readonly dialect = sqliteDialect;
  readonly #statements = new Map<string, StatementSync>();
  #durable: boolean | null = null;
  #grouped: GroupedWrite[] = [];
  #open = true;
  #file: string | null = null;

  constructor(path: string, options: { readOnly?: boolean; busyTimeoutMs?: number } = {}) {
    let db: DatabaseSync | undefined;
    try {
      if (path !== ":memory:" && options.readOnly !== true) {
        makeFolder(dirname(path));
        // SQLite gives WAL and shared-memory file the same mode.
        makeFile(path);
      }
      db = new DatabaseSync(path, {
        timeout: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS,
        readOnly: options.readOnly ?? false,
      });
      // Another program's file is rejected later, with a message; until then nothing in it changes.
      if (options.readOnly !== true && !isForeign(db)) {
        useWal(db, options.busyTimeoutMs ?? BUSY_TIMEOUT_MS);
        // Space of deleted rows is reused; 64 MB of cache keep the indexes of a million tasks in memory.
        db.exec("PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864");
      }
      this.db = db;
      this.#file = path === ":memory:" ? null : fileKey(path);
      if (this.#file !== null) OPEN_FILES.set(this.#file, (OPEN_FILES.get(this.#file) ?? new Set()).add(db));
    } catch (error) {
      db?.close();
      const mapped = storeError(error);
      throw mapped instanceof OrbError
        ? mapped
        : new OrbError("database_unavailable", `cannot open the database: ${(error as Error).message}`, {
            cause: error,
          });
    }
  }

  sql(text: string, options?: { lists: boolean }): Statement {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      // SQLite plans by the value of a bare LIMIT ?, and replans whenever one is bound: a claim took twice as long.
      statement = this.db.prepare(text.replaceAll("LIMIT ?", "LIMIT +?"));
      if (options?.lists === true) statement.setReturnArrays(true);
      this.#statements.set(text, statement);
    }
    return statement as Statement;
  }

  /** `durable` costs one fsync at commit (synchronous=FULL). */
  write<T>(work: () => T, options: WriteOptions = {}): T {
    const durable = options.durable ?? false;
    try {
      if (durable !== this.#durable) {
        this.db.exec(durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
        this.#durable = durable;
      }
      this.sql("BEGIN IMMEDIATE").run();
      try {
        const result = work();
        this.sql("COMMIT").run();
        return result;
      } catch (error) {
        // On a full disk SQLite rolls back by itself.
        if (this.db.isTransaction) this.sql("ROLLBACK").run();
        throw error;
      }
    } catch (error) {
      throw storeError(error);
    }
  }

  /** At once: there are no other writers. */
  atEnd<Item>(collector: Collector<Item>, item: Item): void {
    collector.write(this, [item]);
  }

  /**
   * Calls in one turn of the event loop share one commit and one fsync: with many callers that is most of the cost of a
   * submit.
   */
  writeTogether<T>(anyWork: () => T): Promise<T> {
    const work = withCaller(anyWork);
    return new Promise<T>((resolve, reject) => {
      this.#grouped.push({ work, resolve: resolve as (value: unknown) => void, reject });
      if (this.#grouped.length === 1) setImmediate(() => this.#commitGrouped());
    });
  }

  #commitGrouped(): void {
    const list = this.#grouped;
    this.#grouped = [];
    if (list.length === 0) return;
    let ends: (() => void)[] = [];
    try {
      this.write(
        () => {
          ends = list.map((write) => this.#inSavepoint(write));
        },
        { durable: true },
      );
    } catch (error) {
      for (const { reject } of list) reject(error);
      return;
    }
    for (const end of ends) end();
  }

  /** One of several in a transaction: a failure rolls back its own changes and keeps the others. */
  #inSavepoint({ work, resolve, reject }: GroupedWrite): () => void {
    this.sql("SAVEPOINT one").run();
    try {
      const result = work();
      this.sql("RELEASE one").run();
      return () => resolve(result);
    } catch (error) {
      // On a full disk SQLite rolls back everything: then all of them have failed.
      if (!this.db.isTransaction) throw error;
      this.sql("ROLLBACK TO one").run();
      this.sql("RELEASE one").run();
      return () => reject(storeError(error));
    }
  }

  read<T>(work: () => T): T {
    try {
      this.sql("BEGIN").run();
      try {
        return work();
      } finally {
        // Nothing to commit, and on a damaged file COMMIT fails and leaves the transaction open.
        if (this.db.isTransaction) this.sql("ROLLBACK").run();
      }
    } catch (error) {
      throw storeError(error);
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#commitGrouped();
    this.#open = false;
    this.#statements.clear();
    this.db.close();
    if (this.#file === null) return;
    const others = OPEN_FILES.get(this.#file);
    others?.delete(this.db);
    if (others?.size === 0) OPEN_FILES.delete(this.#file);
  }
}
