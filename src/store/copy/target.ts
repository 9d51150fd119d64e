import pg from "pg";
import { OrbError } from "../../base/errors.ts";
import type { Value } from "../sql/kernel/connection.ts";
import { cleaned } from "../postgres/cleaned.ts";
import { DEPLOYMENT_LOCK } from "../postgres/connection.ts";
import { plainError, postgresError } from "../postgres/errors.ts";
import { LATEST, newSchema, refuseOldServer, UNFINISHED } from "../postgres/migrate.ts";

/** Two concurrent copies into one schema would each empty the other's tables. */
const COPY_LOCK = 0x4f726263;
/** A killed process holds the lock until the server notices. */
const LOCK_WAIT_MS = 15_000;
const CONNECT_MS = 5000;
/** Tables that users recognise, for the error about an occupied schema. */
const REPORTED_TABLES = ["runs", "tasks", "jobs", "results", "artifacts", "workflows", "sessions", "proxies"];

export interface TargetColumn {
  name: string;
  type: "bigint" | "double precision" | "text" | "bytea";
  /** An identity column. */
  numbered: boolean;
}

/** Tables that only Postgres has. */
const NOT_COPIED: readonly string[] = ["schema_version", "crash_sentinel", UNFINISHED];

/** The Postgres schema that receives the copy. No process can start on it until `finish`. */
export class CopyTarget implements AsyncDisposable {
  readonly #client: pg.Client;
  readonly #schema: string;
  /** Texts in which characters that Postgres cannot store were replaced. */
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
    // Every following query fails with the same error.
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

  /** Creates the tables, or empties those of an interrupted copy; refuses any other content. */
  async begin(instance: string, ours: readonly string[]): Promise<void> {
    const [server] = await this.#query<{ number: string }>("SELECT current_setting('server_version_num') AS number");
    refuseOldServer(Number(server?.number));
    await this.#lockSchema();
    await this.#query("BEGIN");
    // The lock of migrations: none can start in between.
    await this.#query(`SELECT pg_advisory_xact_lock(${DEPLOYMENT_LOCK}, hashtext('${this.#schema}'))`);
    const there = await this.#tables();
    if (there.length === 0)
      await this.#query(`${newSchema(this.#schema)}; CREATE TABLE ${UNFINISHED} (began_at TIMESTAMPTZ NOT NULL);
        INSERT INTO ${UNFINISHED} VALUES (now())`);
    else if (there.includes(UNFINISHED)) {
      await this.#refuseOtherVersion();
      const foreign = there.filter((name) => !NOT_COPIED.includes(name) && !ours.includes(name));
      if (foreign.length > 0) throw this.#foreign(foreign);
    } else await this.#refuseOccupied(there, instance);
    await this.#query(`TRUNCATE ${ours.map((name) => `"${name}"`).join(", ")}`);
    await this.#query("COMMIT");
  }

  async #lockSchema(): Promise<void> {
    try {
      await this.#query(`SELECT pg_advisory_lock(${COPY_LOCK}, hashtext('${this.#schema}'))`);
    } catch (error) {
      if ((error as { code?: string }).code !== "database_busy") throw error;
      throw new OrbError("database_busy", `another copy into the schema ${this.#schema} is running`, {
        hint: "Wait until it ends, or stop it and run the command again.",
      });
    }
  }

  async #refuseOtherVersion(): Promise<void> {
    const [row] = await this.#query<{ version: string }>("SELECT version FROM schema_version");
    if (Number(row?.version) === LATEST) return;
    throw new OrbError(
      "database_unfinished",
      `the schema ${this.#schema} contains an interrupted copy by another version of orb`,
      { hint: this.#occupiedHint() },
    );
  }

  async #refuseOccupied(tables: readonly string[], instance: string): Promise<void> {
    if (!tables.includes("schema_version") || !tables.includes("meta")) throw this.#foreign(tables);
    const [row] = await this.#query<{ value: string }>("SELECT value FROM meta WHERE name = 'instance'");
    const known: string[] = [];
    for (const name of REPORTED_TABLES.filter((table) => tables.includes(table))) {
      const rows = await this.count(name);
      if (rows > 0) known.push(`${rows} ${name}`);
    }
    const what =
      row?.value === instance
        ? "already contains a copy of this database"
        : "contains the database of another Orbweaver installation";
    throw new OrbError(
      "database_foreign",
      `the schema ${this.#schema} is not empty: it ${what} (${known.length === 0 ? "without runs" : known.join(", ")})`,
      { hint: this.#occupiedHint() },
    );
  }

  #foreign(tables: readonly string[]): OrbError {
    const what = `the schema ${this.#schema} is not empty: it contains ${listed(tables)} of another program`;
    return new OrbError("database_foreign", what, {
      hint: "Use another schema: postgres://…?schema=NAME",
    });
  }

  #occupiedHint(): string {
    return `Name another schema (postgres://…?schema=NAME), or remove this one if nobody needs it: DROP SCHEMA ${this.#schema} CASCADE`;
  }

  async #tables(): Promise<string[]> {
    const list = await this.#query<{ name: string }>(
      // Unlike information_schema, this includes tables of other roles.
      `SELECT c.relname AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY c.relname`,
      [this.#schema],
    );
    return list.map(({ name }) => name);
  }

  /** Columns by table, without the tables that only Postgres has. */
  async tables(): Promise<Map<string, TargetColumn[]>> {
    const list = await this.#query<{ table: string; name: string; type: TargetColumn["type"]; identity: string }>(
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
    const [row] = await this.#query<{ now: string }>("SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now");
    return Number(row?.now);
  }

  async count(table: string): Promise<number> {
    const [row] = await this.#query<{ n: string }>(`SELECT count(*) AS n FROM "${table}"`);
    return Number(row?.n);
  }

  async insert(table: string, columns: readonly TargetColumn[], rows: readonly Value[][]): Promise<void> {
    const names = columns.map(({ name }) => `"${name}"`).join(", ");
    const lists = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(", ");
    const values = columns.map((column, index) => rows.map((row) => this.#fit(column, row[index] ?? null)));
    await this.#query(`INSERT INTO "${table}" (${names}) SELECT * FROM unnest(${lists})`, values);
  }

  #fit({ type }: TargetColumn, value: Value): Value | Buffer {
    if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    if (typeof value === "string") {
      const clean = cleaned(value);
      if (clean !== value) this.cleaned += 1;
      return clean;
    }
    // SQLite stores fractions in integer columns.
    return type === "bigint" && typeof value === "number" ? Math.round(value) : value;
  }

  /** Continues the sequence, so that no number is reused. */
  async continueBehind(table: string, column: string, last: number): Promise<void> {
    await this.#query("SELECT setval(pg_get_serial_sequence($1, $2), $3, $4)", [
      `${this.#schema}.${table}`,
      column,
      Math.max(1, last),
      last > 0,
    ]);
  }

  /** Fresh statistics: without them, the first queries on the full tables get plans for empty ones. */
  async analyze(tables: Iterable<string>): Promise<void> {
    await this.#query(`ANALYZE ${[...tables].map((name) => `"${name}"`).join(", ")}`);
  }

  /** Makes the copy durable and lets processes start on it. */
  async finish(): Promise<void> {
    await this.#query(`BEGIN; SET LOCAL synchronous_commit = on; DROP TABLE ${UNFINISHED}; COMMIT`);
  }

  async #query<T>(text: string, values?: unknown[]): Promise<T[]> {
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

const MAX_LISTED = 5;

function listed(tables: readonly string[]): string {
  const more = tables.length - MAX_LISTED;
  return `the tables ${tables.slice(0, MAX_LISTED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
