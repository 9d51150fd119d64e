import pg from "pg";
import { OrbError } from "../../base/errors.ts";
import type { Value } from "../sql/kernel/connection.ts";
import { cleaned } from "../postgres/cleaned.ts";
import { WRITER_LOCK } from "../postgres/connection.ts";
import { plainError, postgresError } from "../postgres/errors.ts";
import { LATEST, newSchema, refuseOldServer, UNFINISHED } from "../postgres/migrate.ts";

/** Two copies into one schema would each empty what the other has written. */
const COPY_LOCK = 0x4f726263;
/** Who was killed holds the lock until the server has noticed it. */
const LOCK_WAIT_MS = 15_000;
const CONNECT_MS = 5000;
/** Tables in which people find again what they know; of others it is enough that there is something. */
const TOLD = ["runs", "tasks", "jobs", "results", "artifacts", "workflows", "sessions", "proxies"];

export interface TargetColumn {
  name: string;
  type: "bigint" | "double precision" | "text" | "bytea";
  /** Its numbers are given by the database. */
  numbered: boolean;
}

/** Only Postgres has them. */
const NOT_COPIED: readonly string[] = ["schema_version", "crash_sentinel", UNFINISHED];

/** A schema in Postgres into which a copy is written. Until it is finished nobody can start on it. */
export class CopyTarget implements AsyncDisposable {
  readonly #client: pg.Client;
  readonly #schema: string;
  /** Texts in which something was replaced that Postgres does not keep. */
  cleaned = 0;

  private constructor(client: pg.Client, schema: string) {
    this.#client = client;
    this.#schema = schema;
  }

  static async open(url: string, schema: string): Promise<CopyTarget> {
    const client = new pg.Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_MS,
      application_name: "orbweaver copy",
      options: `-c search_path=${schema} -c synchronous_commit=off -c lock_timeout=${LOCK_WAIT_MS} -c statement_timeout=0`,
    });
    // Said again by every question that it cannot answer.
    client.on("error", () => {});
    const target = new CopyTarget(client, schema);
    try {
      await client.connect();
    } catch (error) {
      void client.end().catch(() => {});
      throw postgresError(plainError(error));
    }
    return target;
  }

  /** Makes the tables, or empties those that an interrupted copy has left; refuses whatever else is there. */
  async begin(instance: string, ours: readonly string[]): Promise<void> {
    const [server] = await this.#ask<{ number: string }>("SELECT current_setting('server_version_num') AS number");
    refuseOldServer(Number(server?.number));
    await this.#alone();
    await this.#ask("BEGIN");
    // As those who bring a schema up to date: none of them begins in between.
    await this.#ask(`SELECT pg_advisory_xact_lock(${WRITER_LOCK}, hashtext('${this.#schema}'))`);
    const there = await this.#tables();
    if (there.length === 0)
      await this.#ask(`${newSchema(this.#schema)}; CREATE TABLE ${UNFINISHED} (began_at TIMESTAMPTZ NOT NULL);
        INSERT INTO ${UNFINISHED} VALUES (now())`);
    else if (there.includes(UNFINISHED)) {
      await this.#refuseOtherVersion();
      const foreign = there.filter((name) => !NOT_COPIED.includes(name) && !ours.includes(name));
      if (foreign.length > 0) throw this.#foreign(foreign);
    } else await this.#refuseOccupied(there, instance);
    await this.#ask(`TRUNCATE ${ours.map((name) => `"${name}"`).join(", ")}`);
    await this.#ask("COMMIT");
  }

  async #alone(): Promise<void> {
    try {
      await this.#ask(`SELECT pg_advisory_lock(${COPY_LOCK}, hashtext('${this.#schema}'))`);
    } catch (error) {
      if ((error as { code?: string }).code !== "database_busy") throw error;
      throw new OrbError("database_busy", `another copy into the schema ${this.#schema} is under way`, {
        hint: "Wait for its end, or stop it and begin again.",
      });
    }
  }

  async #refuseOtherVersion(): Promise<void> {
    const [row] = await this.#ask<{ version: string }>("SELECT version FROM schema_version");
    if (Number(row?.version) === LATEST) return;
    throw new OrbError(
      "database_unfinished",
      `the schema ${this.#schema} holds an interrupted copy by another version of orb`,
      { hint: this.#makeRoom() },
    );
  }

  async #refuseOccupied(tables: readonly string[], instance: string): Promise<void> {
    if (!tables.includes("schema_version") || !tables.includes("meta")) throw this.#foreign(tables);
    const [row] = await this.#ask<{ value: string }>("SELECT value FROM meta WHERE name = 'instance'");
    const known: string[] = [];
    for (const name of TOLD.filter((one) => tables.includes(one))) {
      const rows = await this.count(name);
      if (rows > 0) known.push(`${rows} ${name}`);
    }
    const what = row?.value === instance ? "this instance already" : "another instance of Orbweaver";
    throw new OrbError(
      "database_foreign",
      `the schema ${this.#schema} is not empty: it holds ${what} (${known.length === 0 ? "no runs yet" : known.join(", ")})`,
      { hint: this.#makeRoom() },
    );
  }

  #foreign(tables: readonly string[]): OrbError {
    const what = `the schema ${this.#schema} is not empty: it holds ${listed(tables)} of another program`;
    return new OrbError("database_foreign", what, {
      hint: "Name a schema of its own: postgres://…?schema=NAME",
    });
  }

  #makeRoom(): string {
    return `Name another schema (postgres://…?schema=NAME), or remove this one if nobody needs it: DROP SCHEMA ${this.#schema} CASCADE`;
  }

  async #tables(): Promise<string[]> {
    const list = await this.#ask<{ name: string }>(
      // Also those of others, which information_schema keeps to itself.
      `SELECT c.relname AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY c.relname`,
      [this.#schema],
    );
    return list.map(({ name }) => name);
  }

  /** The columns of its tables, but for those that only Postgres has. */
  async tables(): Promise<Map<string, TargetColumn[]>> {
    const list = await this.#ask<{ table: string; name: string; type: TargetColumn["type"]; identity: string }>(
      `SELECT table_name AS table, column_name AS name, data_type AS type, is_identity AS identity
       FROM information_schema.columns WHERE table_schema = $1 AND table_name <> ALL ($2)
       ORDER BY table_name, ordinal_position`,
      [this.#schema, NOT_COPIED],
    );
    return new Map(
      [...Map.groupBy(list, ({ table }) => table)].map(([table, columns]) => [
        table,
        columns.map(({ name, type, identity }) => ({ name, type, numbered: identity === "YES" })),
      ]),
    );
  }

  async now(): Promise<number> {
    const [row] = await this.#ask<{ now: string }>("SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now");
    return Number(row?.now);
  }

  async count(table: string): Promise<number> {
    const [row] = await this.#ask<{ n: string }>(`SELECT count(*) AS n FROM "${table}"`);
    return Number(row?.n);
  }

  async insert(table: string, columns: readonly TargetColumn[], rows: readonly Value[][]): Promise<void> {
    const names = columns.map(({ name }) => `"${name}"`).join(", ");
    const lists = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(", ");
    const values = columns.map((column, index) => rows.map((row) => this.#fit(column, row[index] ?? null)));
    await this.#ask(`INSERT INTO "${table}" (${names}) SELECT * FROM unnest(${lists})`, values);
  }

  #fit({ type }: TargetColumn, value: Value): Value | Buffer {
    if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    if (typeof value === "string") {
      const clean = cleaned(value);
      if (clean !== value) this.cleaned += 1;
      return clean;
    }
    // SQLite keeps a fraction where it is given one.
    return type === "bigint" && typeof value === "number" ? Math.round(value) : value;
  }

  /** The next row gets a number that none had before. */
  async continueBehind(table: string, column: string, last: number): Promise<void> {
    await this.#ask("SELECT setval(pg_get_serial_sequence($1, $2), $3, $4)", [
      `${this.#schema}.${table}`,
      column,
      Math.max(1, last),
      last > 0,
    ]);
  }

  /** So that the first questions are answered by the indexes that the full tables need. */
  async analyze(tables: Iterable<string>): Promise<void> {
    await this.#ask(`ANALYZE ${[...tables].map((name) => `"${name}"`).join(", ")}`);
  }

  /** From now on it can be started on, also after a power cut. */
  async finish(): Promise<void> {
    await this.#ask(`BEGIN; SET LOCAL synchronous_commit = on; DROP TABLE ${UNFINISHED}; COMMIT`);
  }

  async #ask<T>(text: string, values?: unknown[]): Promise<T[]> {
    try {
      return (await this.#client.query(text, values)).rows as T[];
    } catch (error) {
      throw postgresError(plainError(error), text);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end().catch(() => {});
  }
}

const MOST_LISTED = 5;

function listed(tables: readonly string[]): string {
  const more = tables.length - MOST_LISTED;
  return `the tables ${tables.slice(0, MOST_LISTED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
