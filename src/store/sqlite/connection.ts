import { closeSync, openSync, readSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { OrbError } from "../../base/errors.ts";
import { makeFile, makeFolder } from "../../base/files/file-modes.ts";
import type { Connection, Statement, WriteOptions } from "../sql/kernel/connection.ts";
import { sqliteDialect } from "./dialect.ts";
import { PRIMARY_ERROR, storeError } from "./errors.ts";

/** "Orbw" as a number: marks the file as ours. */
export const APPLICATION_ID = 0x4f726277;

export function pragma(db: DatabaseSync, name: string): number {
  return Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
}

/** Whether the file holds something that we did not write. */
export function isForeign(db: DatabaseSync): boolean {
  // In this order: tables that another process of ours makes right now come together with its mark.
  const tables = Number(db.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"] ?? 0);
  const owner = pragma(db, "application_id");
  return owner !== APPLICATION_ID && (tables > 0 || owner !== 0);
}

/** Where SQLite keeps the application id in the header of a file, and how long that is. */
const ID_AT = 68;
const HEADER_BYTES = 100;

/** The connections of this process, by the file that they have open. */
const OPEN = new Map<string, Set<DatabaseSync>>();

function fileKey(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}

/**
 * The same by the header alone, without opening the database: a file that is there and does not have our mark. One that this
 * process has open is asked through SQLite: POSIX drops all locks of a process on a file when it closes any descriptor of
 * it. Without its lock another program that closes the database, such as a backup tool, takes itself for the last one and
 * removes the log that we write to: all that is written after that is lost.
 */
export function isForeignFile(path: string): boolean {
  const [open] = OPEN.get(fileKey(path) ?? "") ?? [];
  if (open !== undefined) return isForeign(open);
  const header = Buffer.alloc(HEADER_BYTES);
  try {
    const file = openSync(path, "r");
    try {
      const length = readSync(file, header, 0, HEADER_BYTES, 0);
      // A file that nothing was written into yet may become ours.
      return length > 0 && header.readUInt32BE(ID_AT) !== APPLICATION_ID;
    } finally {
      closeSync(file);
    }
  } catch {
    // It is not there, or it cannot be read, which whoever opens it says.
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

interface Together {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** One connection. Transactions are synchronous and short, so that they never span a turn of the event loop. */
export class SqliteConnection implements Connection {
  readonly db: DatabaseSync;
  readonly dialect = sqliteDialect;
  readonly #statements = new Map<string, StatementSync>();
  #durable: boolean | null = null;
  #together: Together[] = [];
  #open = true;
  #file: string | null = null;

  constructor(path: string, options: { readOnly?: boolean; busyTimeoutMs?: number } = {}) {
    let db: DatabaseSync | undefined;
    try {
      if (path !== ":memory:" && options.readOnly !== true) {
        makeFolder(dirname(path));
        // Its log and its index get the same mode from SQLite.
        makeFile(path);
      }
      db = new DatabaseSync(path, {
        timeout: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS,
        readOnly: options.readOnly ?? false,
      });
      // Another program's file is refused later, with a sentence; until then nothing in it is changed.
      if (options.readOnly !== true && !isForeign(db)) {
        useWal(db, options.busyTimeoutMs ?? BUSY_TIMEOUT_MS);
        // Space of deleted rows is reused; 64 MB of cache keep the indexes of a million tasks in memory.
        db.exec("PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864");
      }
      this.db = db;
      this.#file = path === ":memory:" ? null : fileKey(path);
      if (this.#file !== null) OPEN.set(this.#file, (OPEN.get(this.#file) ?? new Set()).add(db));
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

  /** A statement prepared once per connection; with `lists` its rows are lists of values. */
  sql(text: string, options?: { lists: boolean }): Statement {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      // SQLite plans by the value of a bare LIMIT ?, and so plans anew whenever one is bound: a claim took twice as long.
      statement = this.db.prepare(text.replaceAll("LIMIT ?", "LIMIT +?"));
      if (options?.lists === true) statement.setReturnArrays(true);
      this.#statements.set(text, statement);
    }
    return statement as Statement;
  }

  /**
   * Runs `work` in one transaction. `durable` survives a power cut (synchronous=FULL: one fsync at commit);
   * without it a power cut may undo the last transactions, as whole transactions.
   */
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
        // A full disk makes SQLite roll back by itself.
        if (this.db.isTransaction) this.sql("ROLLBACK").run();
        throw error;
      }
    } catch (error) {
      throw storeError(error);
    }
  }

  /**
   * Like a durable `write`, but all that come in one turn of the event loop share one commit, and one fsync: with many
   * callers that is most of what a submit costs. Each succeeds or fails by itself.
   */
  writeTogether<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#together.push({ work, resolve: resolve as (value: unknown) => void, reject });
      if (this.#together.length === 1) setImmediate(() => this.#commitTogether());
    });
  }

  #commitTogether(): void {
    const list = this.#together;
    this.#together = [];
    if (list.length === 0) return;
    let ends: (() => void)[] = [];
    try {
      this.write(
        () => {
          ends = list.map((one) => this.#apart(one));
        },
        { durable: true },
      );
    } catch (error) {
      for (const one of list) one.reject(error);
      return;
    }
    for (const end of ends) end();
  }

  /** One of several in a transaction: what it did before it failed is undone, the others stay. */
  #apart({ work, resolve, reject }: Together): () => void {
    this.sql("SAVEPOINT one").run();
    try {
      const result = work();
      this.sql("RELEASE one").run();
      return () => resolve(result);
    } catch (error) {
      // A full disk makes SQLite roll back everything by itself: then all of them have failed.
      if (!this.db.isTransaction) throw error;
      this.sql("ROLLBACK TO one").run();
      this.sql("RELEASE one").run();
      return () => reject(storeError(error));
    }
  }

  /** Runs several reads on one snapshot. */
  read<T>(work: () => T): T {
    try {
      this.sql("BEGIN").run();
      try {
        return work();
      } finally {
        // There is nothing to commit, and on a damaged file COMMIT fails and leaves the transaction open.
        if (this.db.isTransaction) this.sql("ROLLBACK").run();
      }
    } catch (error) {
      throw storeError(error);
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#commitTogether();
    this.#open = false;
    this.#statements.clear();
    this.db.close();
    if (this.#file === null) return;
    const others = OPEN.get(this.#file);
    others?.delete(this.db);
    if (others?.size === 0) OPEN.delete(this.#file);
  }
}
