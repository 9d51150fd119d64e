import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { systemClock } from "../../src/base/clock.ts";
import { isOrbError, type ErrorCode } from "../../src/base/errors.ts";
import { ownIdentity } from "../../src/base/machine.ts";
import { copyToPostgres, LEFT_OUT } from "../../src/store/copy/copy.ts";
import { cleaned } from "../../src/store/postgres/cleaned.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { migrate, MIGRATIONS } from "../../src/store/sqlite/migrate.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { candidate, DONE, Kit, LANE, newTask } from "../contract/store/kit.ts";
import { Orb } from "../chaos/orb.ts";
import { Cable } from "../support/cable.ts";
import { servicesGate } from "../support/services-kit.ts";
import { startPostgres, type TestService } from "../support/services.ts";
import { FULL, handClock, sqliteHarness, tempFolder } from "./bench.ts";
import { fillDatabase, type FullDatabase } from "./full-database.ts";

const SIZE = FULL ? 1000 : 200;

type Cells = Record<string, unknown>;

/** What both databases would say of a value. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return typeof value === "string" ? cleaned(value) : value;
}

const LEASES: Record<string, readonly string[]> = {
  lanes: ["owner", "lease_until"],
  engine: ["holder", "lease_until"],
};

function comparable(table: string, rows: readonly Cells[]): string[] {
  const left = LEASES[table] ?? [];
  return rows
    .map((row) =>
      JSON.stringify(
        Object.keys(row)
          .toSorted()
          .flatMap((name) => (left.includes(name) ? [] : [[name, plain(row[name])]])),
      ),
    )
    .toSorted();
}

describe("a copy of an SQLite database in Postgres", servicesGate, () => {
  let service: TestService;
  let admin: pg.Client;
  let schemas = 0;
  before(async () => {
    service = await startPostgres();
    const types = { getTypeParser: (oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid)) };
    admin = new pg.Client({ connectionString: service.url, types: types as unknown as pg.CustomTypesConfig });
    await admin.connect();
  });
  after(async () => {
    await admin?.end();
    await service?.[Symbol.asyncDispose]();
  });

  /** A schema that nothing has been done with. */
  const fresh = () => `${service.url}?schema=copy_${(schemas += 1)}`;
  const schemaOf = (url: string) => new URL(url).searchParams.get("schema") ?? "";
  const open = (url: string) => openPostgresStore({ url, clock: systemClock });
  const copy = (path: string, url: string, onProgress = () => {}) =>
    copyToPostgres({ path, url, clock: systemClock, onProgress });

  async function refused(code: ErrorCode, what: RegExp, work: Promise<unknown>): Promise<void> {
    await assert.rejects(work, (error) => {
      assert.ok(isOrbError(error, code), String(error));
      assert.match(error.message, what);
      assert.ok(error.hint !== undefined && error.hint !== "", "it says what to do");
      return true;
    });
  }

  /** A full database that nobody uses any more; its engine has died without a word. */
  async function full(): Promise<{ path: string; created: FullDatabase } & AsyncDisposable> {
    const harness = await sqliteHarness();
    const store = await harness.open();
    const created = await fillDatabase(new Kit(store, harness), SIZE);
    await store.close();
    return { path: harness.path, created, [Symbol.asyncDispose]: () => harness.close() };
  }

  async function small(): Promise<{ path: string } & AsyncDisposable> {
    const folder = await tempFolder();
    const path = join(folder.path, "orb.db");
    const store = openSqliteStore({ path, clock: systemClock });
    const run = await store.openRun({ kind: "queue", maxAttempts: 3, snapshot: {} }, 1);
    await store.enqueue(run.id, [newTask("a"), newTask("b")], 1);
    await store.close();
    return { path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  }

  test("both databases have the same tables with the same columns", async () => {
    const url = fresh();
    await (await open(url)).close();
    const { rows } = await admin.query<{ table: string; name: string; type: string; identity: string }>(
      `SELECT table_name AS table, column_name AS name, data_type AS type, is_identity AS identity
       FROM information_schema.columns WHERE table_schema = $1 AND table_name NOT IN ('schema_version', 'crash_sentinel')`,
      [schemaOf(url)],
    );
    const connection = new SqliteConnection(":memory:");
    migrate(connection);
    const TYPES: Record<string, string> = { INTEGER: "bigint", REAL: "double precision", TEXT: "text", BLOB: "bytea" };
    const columns = connection.db
      .prepare(
        `SELECT t.name AS "table", t.sql, c.name, c.type, c."notnull" AS needed FROM sqlite_schema t
           JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite@_%' ESCAPE '@'`,
      )
      .all() as { table: string; sql: string; name: string; type: string }[];
    connection.close();
    const describeAll = (list: { table: string; name: string; type: string }[]) =>
      list.map(({ table, name, type }) => `${table}.${name} ${type}`).toSorted();
    assert.deepEqual(
      describeAll(rows),
      describeAll(columns.map((column) => ({ ...column, type: TYPES[column.type] ?? column.type }))),
    );
    const numbered = columns.filter(({ sql, name }) => sql.includes(`${name} INTEGER PRIMARY KEY AUTOINCREMENT`));
    assert.ok(numbered.length > 5);
    for (const { table, name } of numbered)
      assert.equal(
        rows.find((row) => row.table === table && row.name === name)?.identity,
        "YES",
        `${table}.${name} is never given twice`,
      );
  });

  test("has every row of every table, is audited, and a paused run goes on to its end", async () => {
    await using source = await full();
    const url = fresh();
    const content = () => createHash("sha256").update(readFileSync(source.path)).digest("hex");
    const unread = content();
    const told: string[] = [];
    const report = await copyToPostgres({
      path: source.path,
      url,
      clock: systemClock,
      onProgress: ({ table, copied, total }) => told.push(`${table} ${copied <= total}`),
    });
    assert.equal(content(), unread, "the original is only read");
    assert.ok(told.includes("tasks true") && !told.some((line) => line.endsWith("false")));
    assert.deepEqual(report.findings, []);
    assert.ok(report.cleanedTexts >= SIZE / 2);

    const db = new DatabaseSync(source.path, { readOnly: true });
    for (const { table, rows } of report.tables) {
      const own = db.prepare(`SELECT * FROM "${table}"`).all();
      assert.ok(own.length > 0, `${table} has something to copy`);
      assert.equal(rows, own.length);
      const there = await admin.query<Cells>(`SELECT * FROM ${schemaOf(url)}."${table}"`);
      assert.deepEqual(comparable(table, there.rows), comparable(table, own), table);
    }
    const left = db.prepare("SELECT count(*) AS n FROM owners").get();
    assert.equal(left?.["n"], 1, "the engine died");
    const sequence = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'tasks'").get();
    db.close();
    for (const table of LEFT_OUT)
      assert.equal((await admin.query(`SELECT 1 FROM ${schemaOf(url)}.${table}`)).rowCount, 0, table);

    await using store = await open(url);
    const { times } = handClock();
    const kit = new Kit(store, { open: () => open(url), clock: times, close: async () => {} });
    const { paused, taskIds } = source.created;
    for (const id of taskIds) assert.equal((await store.task(id))?.runId, paused.id, "ids are still known");
    await kit.enqueue(paused, ["one more"]);
    const added = await store.taskByKey(paused.id, "one more");
    assert.equal(Number.parseInt(added?.id.slice(-12) ?? "", 16), Number(sequence?.["seq"]) + 1);
    await store.changeRun(paused.id, "running", "Run resumed", kit.now);
    const lane = await kit.take("B");
    assert.ok(lane.recovered > 0, "what was in hand is done again");
    for (let more = true; more;) {
      const { tasks } = await kit.claim(lane, 500);
      more = tasks.length > 0;
      await kit.settle(lane, tasks, DONE);
    }
    assert.equal(await kit.status(paused), "partial");
    const { completed = 0 } = await kit.counts(paused);
    assert.ok(completed >= source.created.open - 1, `${completed} of ${source.created.open}`);
    await kit.expectClean();
  });

  test("is refused while somebody uses the original", async () => {
    await using source = await small();
    const url = fresh();
    const store = openSqliteStore({ path: source.path, clock: systemClock });
    const { boot, pid, pidStart } = ownIdentity();
    await store.takeEngine(candidate("engine", { boot, pid, pidStart }), 60_000);
    await refused("database_busy", new RegExp(`process ${pid} is its engine`), copy(source.path, url));
    await store.releaseEngine("engine");
    const worker = { id: "w", machine: "m", version: "1", maxWorkers: 1, heartbeatMs: 2000 };
    await store.registerWorker({ ...worker, command: "serve", identity: { boot, pid, pidStart } }, systemClock.now());
    await refused("database_busy", /worker w \(orb serve, process \d+\) is alive/, copy(source.path, url));
    await store.workerStopped("w", systemClock.now());
    let writes = 0;
    const during = copy(source.path, url, () => {
      if ((writes += 1) === 1) void store.openRun({ kind: "queue", maxAttempts: 3, snapshot: {} }, 1);
    });
    await refused("database_busy", /it changed during the copy/, during);
    await refused("database_unfinished", /was interrupted/, open(url));
    await store.close();
    const { tables } = await copy(source.path, url);
    assert.equal(tables.find(({ table }) => table === "runs")?.rows, 2, "begun again, it is finished");
    await (await open(url)).close();
  });

  test("is refused where something is, which is named, and stays as it is", async () => {
    await using source = await small();
    const foreign = fresh();
    await admin.query(`CREATE SCHEMA ${schemaOf(foreign)}; CREATE TABLE ${schemaOf(foreign)}.invoices (n INT)`);
    await refused("database_foreign", /contains the tables invoices of another program/, copy(source.path, foreign));
    await admin.query("CREATE SCHEMA orbweaver; CREATE TABLE orbweaver.invoices (n INT)");
    await refused("database_foreign", /orbweaver is not empty.*the tables invoices/, copy(source.path, service.url));
    await admin.query("DROP SCHEMA orbweaver CASCADE");
    const url = fresh();
    await copy(source.path, url);
    await refused("database_foreign", /a copy of this database \(1 runs, 2 tasks\)/, copy(source.path, url));
    await using other = await small();
    await refused("database_foreign", /another Orbweaver installation \(1 runs, 2 tasks\)/, copy(other.path, url));
    await using store = await open(url);
    assert.equal((await store.runs({ limit: 10 })).length, 1);
  });

  test("two copies of one database are told apart by what Redis keeps of them, each being the same to all processes", async () => {
    await using source = await small();
    const [one, two] = [fresh(), fresh()];
    await copy(source.path, one);
    await copy(source.path, two);
    await using first = await open(one);
    await using again = await open(one.replace("localhost", "127.0.0.1"));
    await using second = await open(two);
    assert.equal(first.instance, second.instance);
    assert.equal(first.deployment, again.deployment);
    assert.notEqual(first.deployment, second.deployment);
    assert.ok(first.deployment.startsWith(first.instance));
  });

  test("alerts go on where they were, also from a place that an earlier version kept with a fraction", async () => {
    await using source = await small();
    const store = openSqliteStore({ path: source.path, clock: systemClock });
    const from = await store.alertCursor();
    const { last } = await store.findEvents({ after: from, types: [], look: 100 });
    await store.raiseAlerts([], { deliver: true, feed: last }, 1);
    assert.equal(await store.alertCursor(), last);
    await store.close();
    const kept = () => {
      using db = new DatabaseSync(source.path);
      return String(db.prepare("SELECT value FROM meta WHERE name = 'alerts_seen'").get()?.["value"]);
    };
    assert.match(kept(), /^[1-9]\d*$/);
    const change = new DatabaseSync(source.path);
    change.exec("UPDATE meta SET value = value || '.0' WHERE name = 'alerts_seen'");
    change.close();
    assert.match(kept(), /\.0$/);
    const url = fresh();
    await copy(source.path, url);
    const seen = () => admin.query(`SELECT value FROM ${schemaOf(url)}.meta WHERE name = 'alerts_seen'`);
    assert.match((await seen()).rows[0].value, /^\d+$/);
    // A copy that was made before.
    await admin.query(`UPDATE ${schemaOf(url)}.meta SET value = value || '.0' WHERE name = 'alerts_seen'`);
    await using copied = await open(url);
    assert.equal(await copied.alertCursor(), last);
    const run = await copied.openRun({ kind: "queue", maxAttempts: 3, snapshot: {} }, 1);
    assert.ok(run.id);
    const more = await copied.findEvents({ after: last, types: [], look: 100 });
    assert.notEqual(more.last, last);
    await copied.raiseAlerts([], { deliver: true, feed: more.last }, 1);
    assert.equal(await copied.alertCursor(), more.last);
    assert.match((await seen()).rows[0].value, /^\d+$/);
  });

  test("is refused when the original is of another version, or not there", async () => {
    await using source = await small();
    const newest = MIGRATIONS.at(-1)?.version ?? 0;
    for (const [version, code] of [
      [newest - 1, "database_unavailable"],
      [newest + 1, "database_newer"],
    ] as const) {
      const path = `${source.path}.${version}`;
      copyFileSync(source.path, path);
      const db = new DatabaseSync(path);
      db.exec(`PRAGMA user_version = ${version}`);
      db.close();
      await refused(code, new RegExp(`schema version ${version}, this program ${newest}`), copy(path, fresh()));
    }
    await refused("database_unavailable", /there is no database at/, copy(`${source.path}.none`, fresh()));
  });

  test("orb migrate --to that is killed in the middle leaves nothing that can be used, and is begun again", async () => {
    await using orb = new Orb();
    await orb.run(["migrate"]);
    const store = openSqliteStore({ path: orb.database, clock: systemClock });
    const run = await store.openRun({ kind: "queue", maxAttempts: 3, snapshot: {} }, 1);
    const count = FULL ? 200_000 : 20_000;
    for (let n = 0; n < count; n += 1000)
      await store.enqueue(
        run.id,
        Array.from({ length: 1000 }, (_, k) => newTask(`${n + k}`, { payload: "x".repeat(200) })),
        1,
      );
    await store.close();
    const url = fresh();
    // All that is copied comes through this process: it is not over before we can stop it.
    const cable = await Cable.to(service.port);
    const slow = url.replace(`:${service.port}/`, `:${cable.port}/`);
    assert.notEqual(slow, url);
    const first = orb.start(["migrate", "--to", slow]);
    await first.said("copying tasks");
    await first.killed();
    const second = orb.start(["migrate", "--to", slow]);
    await second.said("copying tasks");
    second.kill("SIGINT");
    const { code: ended, stderr: words } = await second.ended;
    cable.cut();
    assert.equal(ended, 130);
    assert.match(words, /this copy cannot be used; run the same command again to start over/);
    await refused("database_unfinished", /is running or was interrupted/, open(url));
    const again = await orb.json<{ rows: number; instance: string; next: string[] }>("migrate", "--to", url);
    assert.ok(again.rows > count);
    assert.match(again.next.join("\n"), /Files were not copied.*shared folder.*bucket/);
    assert.match(again.next.join("\n"), /Set APP_SECRET_KEY to the same value/);
    await using copied = await open(url);
    assert.equal(copied.instance, again.instance);
    assert.deepEqual((await copied.audit()).findings, []);
    assert.deepEqual(
      (await copied.lanesWithWork()).map(({ lane }) => lane),
      [LANE],
    );
    const { code, stderr } = await orb.run(["migrate", "--to", "sqlite:x.db"]);
    assert.equal(code, 2);
    assert.match(stderr, /--to: expected postgres:\/\//);
    const nameless = await orb.run(["migrate", "--to", "postgres://user@127.0.0.1:9"]);
    assert.deepEqual([nameless.code, /the database name is missing/.test(nameless.stderr)], [2, true], nameless.stderr);
    const wrong = await orb.run(["migrate", "--to", url.replace(/\/\/.*@/, "//orb:wrong@")]);
    assert.match(wrong.stderr, /in --to/);
    assert.doesNotMatch(wrong.stderr, /APP_DATABASE_URL/);
  });
});
