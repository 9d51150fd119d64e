import { existsSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import { OrbError } from "../../base/errors.ts";
import { isOutOfSight, isProvenAlive } from "../../base/machine.ts";
import type { AuditReport } from "../records/audit-records.ts";
import { audit } from "../sql/ops/audit.ts";
import type { Value } from "../sql/kernel/connection.ts";
import type { Context } from "../sql/kernel/context.ts";
import { engineHolder } from "../sql/lanes/engine-lock.ts";
import { readWorkers } from "../sql/ops/workers.ts";
import { isForeign, SqliteConnection } from "../sqlite/connection.ts";
import { storeError } from "../sqlite/errors.ts";
import { MIGRATIONS, schemaVersion } from "../sqlite/migrate.ts";

/** At most this much of a table is in memory at a time, whichever is reached first. */
const CHUNK_ROWS = 1000;
const CHUNK_CHARACTERS = 4 * 1024 * 1024;

/** The SQLite database being copied. All reads use one snapshot; nothing is written to it. */
export class CopySource implements Disposable {
  readonly #connection: SqliteConnection;
  /** Outside the snapshot, to detect writes of other processes. */
  readonly #watcher: SqliteConnection;
  readonly #context: Context;
  readonly #writesAtStart: number;

  constructor(path: string, clock: Clock) {
    if (!existsSync(path))
      throw new OrbError("database_unavailable", `there is no database at ${path}`, {
        hint: "Set APP_DATABASE_URL to the SQLite database to copy: sqlite:PATH",
      });
    this.#connection = new SqliteConnection(path, { readOnly: true });
    this.#watcher = new SqliteConnection(path, { readOnly: true });
    try {
      this.#refuseOtherVersion();
      const row = this.#connection.sql("SELECT value FROM meta WHERE name = 'instance'").get();
      this.#context = {
        connection: this.#connection,
        instance: String(row?.["value"]),
        singleEngine: true,
        leaseNow: () => clock.monotonic(),
        wallNow: () => clock.now(),
      };
      this.#writesAtStart = this.#writes();
      this.#refuseInUse();
      this.#connection.db.exec("BEGIN");
      // The first read takes the snapshot.
      this.tables();
    } catch (error) {
      this[Symbol.dispose]();
      throw storeError(error);
    }
  }

  get instance(): string {
    return this.#context.instance;
  }

  #refuseOtherVersion(): void {
    if (isForeign(this.#connection.db))
      throw new OrbError("database_foreign", "the database file belongs to another program");
    const version = schemaVersion(this.#connection);
    const ours = MIGRATIONS.at(-1)?.version ?? 0;
    if (version === ours) return;
    const is = `the database has schema version ${version}, this program ${ours}`;
    if (version > ours)
      throw new OrbError("database_newer", is, { hint: "Copy it with the version of orb that wrote it." });
    throw new OrbError("database_unavailable", `${is}: both must have the same schema version`, {
      hint: "Make a backup, upgrade it with `orb migrate`, and run the command again.",
    });
  }

  /** Writes during the copy would be lost with the old database. */
  #refuseInUse(): void {
    const engine = engineHolder(this.#context);
    // Processes of another machine, or of another boot of this one, cannot have the file open.
    const live = (who: Parameters<typeof isOutOfSight>[0], hasLease: boolean) =>
      isProvenAlive(who) || (hasLease && isOutOfSight(who));
    if (engine !== null && live(engine, engine.remainingMs > 0)) throw inUse(`process ${engine.pid} is its engine`);
    const worker = readWorkers(this.#context, { live: true, limit: 10_000 }).find(({ identity, state }) =>
      live(identity, state !== "lost"),
    );
    if (worker !== undefined)
      throw inUse(`worker ${worker.id} (orb ${worker.command}, process ${worker.identity.pid}) is alive`);
  }

  #writes(): number {
    return this.#watcher.dialect.foreignVersion(this.#watcher);
  }

  refuseChanged(): void {
    if (this.#writes() !== this.#writesAtStart) throw inUse("it changed during the copy");
  }

  /** Column names by table. */
  tables(): Map<string, string[]> {
    const columns = this.#connection.db
      .prepare(
        `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema t JOIN pragma_table_info(t.name) c
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite@_%' ESCAPE '@' ORDER BY t.name, c.cid`,
      )
      .all() as { table: string; column: string }[];
    return new Map(
      [...Map.groupBy(columns, ({ table }) => table)].map(([table, list]) => [table, list.map(({ column }) => column)]),
    );
  }

  count(table: string): number {
    return Number(this.#connection.db.prepare(`SELECT count(*) AS n FROM "${table}"`).get()?.["n"]);
  }

  /** The highest number that the table ever assigned; 0: none. */
  lastNumber(table: string, column: string): number {
    const { db } = this.#connection;
    const sequence = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = ?").get(table);
    const highest = db.prepare(`SELECT max("${column}") AS n FROM "${table}"`).get();
    return Math.max(Number(sequence?.["seq"] ?? 0), Number(highest?.["n"] ?? 0));
  }

  /** All rows, as lists of values in column order. */
  *chunks(table: string, columns: readonly string[]): Generator<Value[][]> {
    const names = columns.map((column) => `"${column}"`).join(", ");
    const statement = this.#connection.db.prepare(`SELECT ${names} FROM "${table}"`);
    statement.setReturnArrays(true);
    let chunk: Value[][] = [];
    let size = 0;
    for (const row of statement.iterate() as unknown as Iterable<Value[]>) {
      chunk.push(row);
      for (const value of row) size += typeof value === "string" || value instanceof Uint8Array ? value.length : 8;
      if (chunk.length < CHUNK_ROWS && size < CHUNK_CHARACTERS) continue;
      yield chunk;
      chunk = [];
      size = 0;
    }
    if (chunk.length > 0) yield chunk;
  }

  /** Only after the last chunk: ends the snapshot. */
  audit(): AuditReport {
    this.#connection.db.exec("ROLLBACK");
    return audit(this.#context);
  }

  [Symbol.dispose](): void {
    this.#connection.close();
    this.#watcher.close();
  }
}

function inUse(what: string): OrbError {
  return new OrbError("database_busy", `the database is in use: ${what}`, {
    hint: "Stop all processes that use it (SIGTERM; wait until they exit), and run the command again.",
  });
}
