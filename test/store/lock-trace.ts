/**
 * Which locks transactions of the store take on a real Postgres, and in which order, as Postgres itself wrote it down: its
 * log of changes (WAL) has an entry for every row that is locked, changed, deleted or inserted. What is not in there is
 * added by functions and triggers of this server: advisory locks, the keys of new rows, and the text of statements.
 */
import pg from "pg";
import { DEPLOYMENT_LOCK } from "../../src/store/postgres/connection.ts";
import { NAME_LOCK, PARTITION_LOCK, PARTITIONS } from "../../src/store/postgres/dialect.ts";
import type { Acquired, Key, LockMode, Traced } from "./lock-order.ts";

const SCHEMA = "orbweaver";

/** Columns that tell whose a row is. */
const BELONGS = ["run", "stream", "task", "parent_run", "job", "change"] as const;
/** What runs of one job share. */
const OF_JOBS: ReadonlySet<string> = new Set(["page_states", "page_copies", "fixtures"]);
const OF_MONITORS: ReadonlySet<string> = new Set(["monitors", "monitor_states", "monitor_changes", "monitor_files"]);

/** Ids that are made from a number that the server gives. */
const GENERATED: ReadonlySet<string> = new Set(["jobs_id_key", "sessions_id_key"]);

/** Locked only by a query that leaves out what others have locked, and changes nothing: of queries no text is known. */
const TAKEN_IF_FREE: ReadonlySet<string> = new Set(["alerts"]);

/** Functions of the server are renamed, so that those of the same name can write down what they are asked. */
const TRACED_FUNCTIONS = `
  ALTER FUNCTION pg_catalog.pg_advisory_xact_lock(int, int) RENAME TO untraced_lock;
  ALTER FUNCTION pg_catalog.pg_advisory_xact_lock_shared(int, int) RENAME TO untraced_lock_shared;
  ALTER FUNCTION pg_catalog.pg_try_advisory_xact_lock(int, int) RENAME TO untraced_try_lock;
  ALTER FUNCTION pg_catalog.hashtext(text) RENAME TO untraced_hashtext;
  CREATE FUNCTION pg_catalog.pg_advisory_xact_lock(a int, b int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_logical_emit_message(true, 'lock', json_build_array(a, b, 'alone')::text);
    PERFORM pg_catalog.untraced_lock(a, b); END $$;
  CREATE FUNCTION pg_catalog.pg_advisory_xact_lock_shared(a int, b int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_logical_emit_message(true, 'lock', json_build_array(a, b, 'shared')::text);
    PERFORM pg_catalog.untraced_lock_shared(a, b); END $$;
  CREATE FUNCTION pg_catalog.pg_try_advisory_xact_lock(a int, b int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
    IF NOT pg_catalog.untraced_try_lock(a, b) THEN RETURN false; END IF;
    PERFORM pg_logical_emit_message(true, 'lock', json_build_array(a, b, 'tried')::text);
    RETURN true; END $$;
  CREATE FUNCTION pg_catalog.hashtext(name text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_logical_emit_message(true, 'name', name);
    RETURN pg_catalog.untraced_hashtext(name); END $$;
  CREATE FUNCTION trace_statement() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_logical_emit_message(true, 'sql', left(current_query(), 2000));
    RETURN NULL; END $$`;

interface Table {
  name: string;
  columns: string[];
  /** Of the primary key first. */
  unique: { name: string; columns: string[]; generated: boolean }[];
}

const TABLES = `SELECT c.relname AS name,
    ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
    (SELECT json_agg(json_build_object('name', u.relname, 'generated', (SELECT bool_or(a.attidentity <> '') FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum = ANY (i.indkey)), 'columns',
        ARRAY(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY AS k (n, place) JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.n ORDER BY place))
      ORDER BY i.indisprimary DESC, u.relname) FROM pg_index i JOIN pg_class u ON u.oid = i.indexrelid
      WHERE i.indrelid = c.oid AND i.indisunique AND i.indexprs IS NULL) AS unique
  FROM pg_class c WHERE c.relnamespace = '${SCHEMA}'::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p' ORDER BY 1`;

/** A row, wherever its last version is. */
interface Row {
  table: string;
  key: Key;
  /** Of every unique index. */
  keys: Map<string, Key>;
  belongs: Partial<Record<(typeof BELONGS)[number], number>>;
  insertedBy: number | null;
}

interface WalRecord {
  xid: number;
  manager: string;
  type: string;
  description: string;
  refs: string | null;
}

/** Postgres before 15 has no function that reads its log. */
export async function canTraceLocks(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_walinspect'");
    return rowCount === 1;
  } finally {
    await client.end();
  }
}

export class LockTrace implements AsyncDisposable {
  readonly #client: pg.Client;
  #tables = new Map<string, Table>();
  #files = new Map<string, string>();
  #position = "";
  /** By place: file, block and number. */
  readonly #rows = new Map<string, Row>();
  readonly #parents = new Map<number, number | null>();
  readonly #inserters = new Map<number, number | null>();
  readonly #streams = new Map<number, number>();
  readonly #tasks = new Map<number, number>();
  readonly #jobs = new Map<number, string>();
  /** The job of each change that a monitor found. */
  readonly #monitorOfChange = new Map<number, number>();
  #transactions = new Map<number, Transaction>();
  #sequence = 0;
  readonly traced: Traced[] = [];

  private constructor(url: string) {
    this.#client = new pg.Client({ connectionString: url, options: `-c search_path=${SCHEMA}` });
  }

  /** Of a server on which the tables were made, and are nearly empty. Others that are connected connect again. */
  static async begin(url: string): Promise<LockTrace> {
    const trace = new LockTrace(url);
    await trace.#client.connect();
    await trace.#install();
    return trace;
  }

  async #install(): Promise<void> {
    await this.#client.query(`CREATE EXTENSION pg_walinspect; ${TRACED_FUNCTIONS}`);
    const { rows } = await this.#client.query<Table>(TABLES);
    for (const table of rows) {
      this.#tables.set(table.name, table);
      await this.#client.query(triggersOf(table));
    }
    await this.skip();
  }

  /** What happened since the last time is not looked at; only that new rows are known. */
  async skip(): Promise<void> {
    await this.#flush();
    const known = this.traced.length;
    await this.#rememberRows();
    await this.take();
    this.traced.length = known;
  }

  /** Rows that were there before the trace began: few. */
  async #rememberRows(): Promise<void> {
    const files = await this.#client.query<{ file: string; name: string }>(
      `SELECT pg_relation_filenode(oid)::text AS file, relname AS name FROM pg_class
       WHERE relnamespace = '${SCHEMA}'::regnamespace AND relkind = 'r'`,
    );
    this.#files = new Map(files.rows.map(({ file, name }) => [file, name]));
    if (this.#position !== "") return;
    for (const { file, name } of files.rows) {
      const table = this.#tables.get(name);
      if (table === undefined) continue;
      const { rows } = await this.#client.query<{ place: string; row: NewRow }>(
        `SELECT ctid::text AS place, ${describeRow(table, "t")} AS row FROM ${name} t`,
      );
      for (const { place, row } of rows) {
        const [block = "", number = ""] = place.slice(1, -1).split(",");
        this.#remember(`${file} ${block} ${number}`, row, null);
      }
    }
    this.#position = await this.#end();
  }

  async #end(): Promise<string> {
    const { rows } = await this.#client.query<{ at: string }>("SELECT pg_current_wal_flush_lsn()::text AS at");
    return (rows[0] as { at: string }).at;
  }

  /** Everything that was written is there to be read. */
  async #flush(): Promise<void> {
    await this.#client.query("SET synchronous_commit = on; SELECT pg_logical_emit_message(true, 'flush', '')");
  }

  /** Reads what happened since the last time. No transaction is open. */
  async take(): Promise<void> {
    await this.#flush();
    const end = await this.#end();
    const { rows } = await this.#client.query<WalRecord>(
      `SELECT xid::text::int AS xid, resource_manager AS manager, record_type AS type, description, block_ref AS refs
       FROM pg_get_wal_records_info($1, $2) WHERE resource_manager IN ('Heap', 'Heap2', 'LogicalMessage', 'Transaction')`,
      [this.#position, end],
    );
    this.#position = end;
    for (const record of rows) this.#read(record);
    this.#transactions = new Map();
  }

  #read({ xid, manager, type, description, refs }: WalRecord): void {
    if (xid === 0) return;
    this.#sequence += 1;
    if (manager === "Transaction") return this.#ended(xid, type, description);
    const transaction = this.#of(xid);
    if (manager === "LogicalMessage") return this.#readMessage(transaction, description);
    const blocks = blocksOf(refs ?? "");
    const name = this.#files.get(blocks[0]?.file ?? "");
    if (name === undefined || !this.#tables.has(name)) return;
    const numbers = [...description.matchAll(/\boff:? (\d+)/g)].map(([, number]) => number as string);
    const kind = type.replace("+INIT", "");
    const at = (place: { file: string; block: string } | undefined, number: string | undefined) =>
      `${place?.file} ${place?.block} ${number}`;
    if (kind === "INSERT") {
      const row = transaction.newRow;
      if (row === null || row.table !== name) return;
      transaction.newRow = null;
      this.#inserted(transaction, this.#remember(at(blocks[0], numbers[0]), row, xid));
    } else if (kind === "LOCK" || kind === "DELETE") {
      const row = this.#rows.get(at(blocks[0], numbers[0]));
      if (row !== undefined) this.#locked(transaction, row, kind === "DELETE" ? "update" : modeOf(description), kind);
    } else if (kind === "UPDATE" || kind === "HOT_UPDATE") {
      const [before, after] = [at(blocks[1] ?? blocks[0], numbers[0]), at(blocks[0], numbers[1])];
      const row = this.#rows.get(before);
      if (row === undefined) return;
      this.#rows.set(after, row);
      this.#locked(transaction, row, /KEYS_UPDATED/.test(description) ? "update" : "no key update", kind);
    }
  }

  #of(xid: number): Transaction {
    let transaction = this.#transactions.get(xid);
    if (transaction === undefined)
      this.#transactions.set(
        xid,
        (transaction = { xid, scope: "row", acquired: [], newRow: null, name: "", sql: "", statement: 0 }),
      );
    return transaction;
  }

  #readMessage(transaction: Transaction, description: string): void {
    const [, prefix = "", bytes = ""] = /prefix "(\w+)"; payload \(\d+ bytes\): ?([0-9A-F ]*)/.exec(description) ?? [];
    const text = Buffer.from(bytes.replaceAll(" ", ""), "hex").toString("utf8");
    if (prefix === "name") transaction.name = text;
    if (prefix === "row") transaction.newRow = JSON.parse(text) as NewRow;
    if (prefix === "sql") {
      transaction.sql = text.replaceAll(/\s+/g, " ");
      transaction.statement += 1;
    }
    if (prefix !== "lock") return;
    const [space, , how] = JSON.parse(text) as [number, number, "alone" | "shared" | "tried"];
    const add = (type: string, key: Key) =>
      this.#add(transaction, { type, key, mode: how === "shared" ? "share" : "update" }, how !== "tried");
    if (space === DEPLOYMENT_LOCK) {
      transaction.scope = how === "alone" ? "all" : "runs";
      add("the deployment", []);
    } else if (space === NAME_LOCK) {
      const [, kind = "", ...rest] = transaction.name.split(":");
      add(`name ${kind}`, [rest.join(":")]);
    } else if (space >= PARTITION_LOCK && space < PARTITION_LOCK + PARTITIONS)
      add("partition", [space - PARTITION_LOCK]);
    else throw new Error(`an unknown lock: ${text}`);
  }

  #remember(place: string, { table, keys, belongs }: NewRow, insertedBy: number | null): Row {
    const [primary] = this.#tables.get(table)?.unique ?? [];
    const byIndex = new Map(Object.entries(keys));
    const row: Row = { table, key: byIndex.get(primary?.name ?? "") ?? [], keys: byIndex, belongs, insertedBy };
    this.#rows.set(place, row);
    const [n = 0] = row.key.map(Number);
    if (table === "runs") {
      this.#parents.set(n, belongs.parent_run ?? null);
      this.#inserters.set(n, insertedBy);
    }
    if (table === "jobs") this.#jobs.set(n, String(byIndex.get("jobs_id_key")?.[0]));
    if (table === "monitor_changes" && belongs.job !== undefined) this.#monitorOfChange.set(n, belongs.job);
    if (table === "streams" && belongs.run !== undefined) this.#streams.set(n, belongs.run);
    if (table === "tasks" && belongs.stream !== undefined) this.#tasks.set(n, belongs.stream);
    return row;
  }

  /** Another transaction that inserts the same key waits for this one. Numbers that the server gives never meet. */
  #inserted(transaction: Transaction, row: Row): void {
    for (const { name, generated } of this.#tables.get(row.table)?.unique ?? []) {
      const key = row.keys.get(name);
      if (generated || GENERATED.has(name) || key === undefined || key.some((value) => value === null)) continue;
      const isPrimary = key === row.key;
      const type = isPrimary ? typeOf(row) : `${row.table} by ${name}`;
      this.#add(transaction, { type, key, mode: "update", isNew: true, ...this.#guardOf(row) });
    }
  }

  #locked(transaction: Transaction, row: Row, mode: LockMode, kind: string): void {
    // Of a list of rows, those that others have locked are left out; the change of the others follows at once.
    const skips = /SKIP LOCKED/.test(transaction.sql);
    const isTakenIfFree = kind === "LOCK" && TAKEN_IF_FREE.has(row.table);
    const { statement } = transaction;
    if (skips && kind !== "LOCK")
      for (const one of transaction.acquired) if (one.statement === statement && one.row === row) one.waits = false;
    this.#add(transaction, { type: typeOf(row), key: row.key, mode, row, ...this.#guardOf(row) }, !isTakenIfFree);
  }

  #add(
    transaction: Transaction,
    { row = null, ...what }: Omit<Acquired, "waits" | "sql"> & { row?: Row | null },
    waits = true,
  ): void {
    const { sql, statement } = transaction;
    transaction.acquired.push({ ...what, waits, sql, statement, row, sequence: this.#sequence });
  }

  #guardOf({ table, key, belongs }: Row): Pick<Acquired, "partition" | "run" | "guard"> {
    const job = this.#jobs.get(belongs.job ?? 0);
    if (OF_JOBS.has(table) && job !== undefined) return { guard: ["name job", job] };
    const monitor = belongs.job ?? this.#monitorOfChange.get(Number(belongs.change ?? 0));
    if (OF_MONITORS.has(table) && monitor !== undefined) return { guard: ["name monitor", String(monitor)] };
    if (table === "budget_permits") return { guard: ["name budget", String(key[0]).replace(/^waiting:/, "")] };
    const run =
      table === "runs"
        ? Number(key[0])
        : (belongs.run ?? this.#runOfStream(belongs.stream) ?? this.#runOfTask(belongs.task ?? undefined));
    if (run === undefined || run === null || !this.#parents.has(run)) return {};
    let root = run;
    for (let parent: number | null = run; parent !== null; parent = this.#parents.get(parent) ?? null) root = parent;
    return { run, partition: root % PARTITIONS };
  }

  #runOfStream(stream: number | undefined): number | undefined {
    return stream === undefined ? undefined : this.#streams.get(stream);
  }

  #runOfTask(task: number | undefined): number | undefined {
    return task === undefined ? undefined : this.#runOfStream(this.#tasks.get(task));
  }

  #ended(xid: number, type: string, description: string): void {
    if (type !== "COMMIT" && type !== "ABORT") return;
    const transaction = this.#of(xid);
    const [, list = ""] = /subxacts: ([\d ]+)/.exec(description) ?? [];
    const family = new Set([xid, ...list.split(" ").filter(Boolean).map(Number)]);
    for (const part of family) {
      if (part === xid) continue;
      transaction.acquired.push(...this.#of(part).acquired);
      this.#transactions.delete(part);
    }
    this.#transactions.delete(xid);
    // A part that was rolled back on its own is not told whose it was.
    if (transaction.acquired.length === 0 || (type === "ABORT" && transaction.scope === "row")) return;
    transaction.acquired.sort((a, b) => a.sequence - b.sequence);
    const isOwn = (by: number | null) => by !== null && family.has(by);
    this.traced.push({
      scope: transaction.scope,
      // Nobody else sees rows, or rows of runs, that it inserted itself.
      acquired: transaction.acquired
        .filter(({ row }) => row === null || !isOwn(row.insertedBy))
        .map(({ type, key, mode, waits, sql, run, partition, isNew, guard }) => ({
          ...{ type, key, mode, waits, sql },
          ...(guard === undefined ? {} : { guard }),
          ...(isNew === true ? { isNew } : {}),
          ...(partition === undefined ? {} : { partition }),
          ...(run !== undefined && isOwn(this.#inserters.get(run) ?? null) ? { own: true } : {}),
        })),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
  }
}

/** Entries of `meta` have nothing to do with each other. */
function typeOf({ table, key }: Row): string {
  return table === "meta" ? `meta ${String(key[0]).split(" ")[0]}` : table;
}

interface Transaction {
  xid: number;
  scope: Traced["scope"];
  acquired: (Acquired & { row: Row | null; sequence: number; statement: number })[];
  newRow: NewRow | null;
  name: string;
  sql: string;
  statement: number;
}

interface NewRow {
  table: string;
  keys: Record<string, Key>;
  belongs: Row["belongs"];
}

function describeRow({ name, columns, unique }: Table, row: string): string {
  const keys = (unique ?? []).map(
    (index) => `'${index.name}', json_build_array(${index.columns.map((column) => `${row}.${column}`).join(", ")})`,
  );
  const belongs = BELONGS.filter((column) => columns.includes(column)).map((column) => `'${column}', ${row}.${column}`);
  return `json_build_object('table', '${name}', 'keys', json_build_object(${keys.join(", ")}), 'belongs', json_strip_nulls(json_build_object(${belongs.join(", ")})))`;
}

function triggersOf(table: Table): string {
  const { name } = table;
  return `CREATE FUNCTION trace_${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_logical_emit_message(true, 'row', (${describeRow(table, "NEW")})::text); RETURN NEW; END $$;
    CREATE TRIGGER zz_row BEFORE INSERT ON ${name} FOR EACH ROW EXECUTE FUNCTION trace_${name}();
    CREATE TRIGGER aa_statement BEFORE INSERT OR UPDATE OR DELETE ON ${name} FOR EACH STATEMENT EXECUTE FUNCTION trace_statement()`;
}

function blocksOf(refs: string): { file: string; block: string }[] {
  return [...refs.matchAll(/rel \d+\/\d+\/(\d+)(?: fork main)? blk (\d+)/g)].map(([, file = "", block = ""]) => ({
    file,
    block,
  }));
}

function modeOf(description: string): LockMode {
  const exclusive = /EXCL_LOCK/.test(description);
  const shared = /KEYSHR_LOCK/.test(description);
  if (shared) return exclusive ? "share" : "key share";
  return /KEYS_UPDATED/.test(description) ? "update" : "no key update";
}
