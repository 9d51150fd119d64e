import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import pg from "pg";
import { systemClock } from "../../src/base/clock.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { PostgresConnection } from "../../src/store/postgres/connection.ts";
import { createChannel } from "../../src/store/postgres/sync-channel.ts";
import { migrate, type Migration, MIGRATIONS } from "../../src/store/postgres/migrate.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { Kit } from "../contract/store/kit.ts";
import { startPostgres, type TestService } from "../support/services.ts";
import { servicesGate } from "../support/services-kit.ts";
import {
  CHANGED_TABLES,
  LATER_ROWS,
  LATER_TABLES,
  LATER_VALUES,
  expectUpgraded,
  OLD_ANSWERS,
  OLD_PERMITS,
  OLD_TABLES,
  oldName,
  PERMITS,
} from "./before-renames.ts";
import { handClock } from "./bench.ts";
import { fillDatabase } from "./full-database.ts";
import { OLD_EVENTS } from "./old-events.ts";

/** The last version before migrations said whether older programs may keep running. */
const BEFORE = MIGRATIONS.filter(({ version }) => version <= 9);
const SIZE = 20;
const LATEST = MIGRATIONS.at(-1)!.version;

const next = (olderMayRun: boolean, at: number): Migration => ({
  version: at,
  name: olderMayRun ? "adds" : "breaks",
  olderMayRun,
  up: () => `CREATE TABLE made_by_${at} (one BIGINT)`,
});

/** A connection as a program of some version has it. It writes without the crash sentinel, whose table has had two names. */
class Program implements AsyncDisposable {
  readonly connection: PostgresConnection;
  readonly #schema: string;
  readonly #wire: Worker;

  constructor(url: string, schema: string) {
    const { asking, answering } = createChannel();
    const workerData = { url, schema, channels: [{ end: answering, readOnly: false }], role: "wire" };
    this.#wire = new Worker(new URL("../../src/store/postgres/thread-start.ts", import.meta.url), {
      workerData,
      transferList: [answering.port],
    });
    this.#schema = schema;
    this.connection = new PostgresConnection(asking, schema);
  }

  migrate(known: readonly Migration[]): { from: number; to: number; applied: string[] } {
    return migrate(this.connection, this.#schema, known);
  }

  /** As every version has joined. */
  work(owner: string): void {
    const lease = this.connection.now() + 3_600_000;
    const text = `INSERT INTO owners (owner, lease_until) VALUES (?, ?)
      ON CONFLICT (owner) DO UPDATE SET lease_until = excluded.lease_until`;
    this.connection.writeUnlimited(() => this.connection.sql(text).run(owner, lease));
  }

  leave(owner: string): void {
    this.connection.writeUnlimited(() => this.connection.sql("DELETE FROM owners WHERE owner = ?").run(owner));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.connection.close();
    const ended = once(this.#wire, "exit");
    this.#wire.postMessage("close");
    await ended;
  }
}

describe("a deployment on Postgres is upgraded while it works", servicesGate, () => {
  let service: TestService;
  before(async () => {
    service = await startPostgres();
  });
  after(async () => service?.[Symbol.asyncDispose]());

  function schemaUrl(schema: string): string {
    const url = new URL(service.url);
    url.searchParams.set("schema", schema);
    return url.href;
  }

  test("tables are renamed when no worker of an older version runs, which is refused from then on", async () => {
    await using old = new Program(service.url, "rolling");
    old.migrate(BEFORE);
    old.work("old");
    const url = schemaUrl("rolling");
    await assert.rejects(openPostgresStore({ url, clock: systemClock }), (error) => {
      assert.ok(isOrbError(error, "database_busy"), String(error));
      assert.match(error.message, /cannot be upgraded \(.*renames.*\) while a worker of an earlier version is running/);
      assert.match(error.hint ?? "", /Stop them on all machines/);
      return true;
    });
    assert.deepEqual(old.migrate(BEFORE), { from: 9, to: 9, applied: [] }, "nothing has changed");
    old.leave("old");
    const store = await openPostgresStore({ url, clock: systemClock });
    assert.throws(
      () => old.migrate(MIGRATIONS.filter(({ version }) => version < 16)),
      (error) => {
        assert.ok(isOrbError(error, "database_newer"), String(error));
        assert.match(error.message, /the database has schema version \d+, this program knows up to 15/);
        assert.match(error.hint ?? "", /Use the version of orb that wrote it, or a newer one/);
        return true;
      },
    );
    // As versions have joined that did not tell which process they are.
    old.work("old");
    assert.deepEqual(await store.owners(), [{ owner: "old", identity: null }], "each sees the other");
    await store.joinOwners("new", 60_000, { boot: "b", pid: 1, pidStart: "1@" });
    await store.close();
    const row = old.connection.sql("SELECT count(*) AS n FROM owners").get();
    assert.equal(Number(row?.["n"]), 2);
  });

  test("a full database keeps all rows when tables are renamed: keys still answer, times have had their turn [slow]", async () => {
    const { times, clock } = handClock();
    const open = (schema: string) => openPostgresStore({ url: schemaUrl(schema), clock, leaseNow: () => times.mono });
    const kit = new Kit(await open("today"), { open: () => open("today"), clock: times, close: async () => {} });
    await fillDatabase(kit, SIZE);
    await kit.store.close();
    await using old = new Program(service.url, "before");
    old.migrate(MIGRATIONS.filter(({ version }) => version < 16));
    const admin = new pg.Client({ connectionString: service.url });
    await admin.connect();
    try {
      const { rows: tables } = await admin.query<{ name: string }>(
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'today' AND tablename NOT IN ('schema_version', 'crash_sentinel')",
      );
      const columnsOf = async (schema: string, table: string) => {
        const text = `SELECT column_name AS name FROM information_schema.columns
          WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position`;
        return (await admin.query<{ name: string }>(text, [schema, table])).rows.map(({ name }) => `"${name}"`);
      };
      for (const { name } of tables.filter((table) => !LATER_TABLES.includes(table.name))) {
        const before = await columnsOf("before", oldName(name));
        const columns = (await columnsOf("today", name)).slice(0, before.length);
        await admin.query(
          `DELETE FROM before.${oldName(name)};
           INSERT INTO before.${oldName(name)} SELECT ${columns.join(", ")} FROM today.${name}`,
        );
      }
      await admin.query(`SET search_path = today; ${LATER_VALUES}`);
      await admin.query(`SET search_path = before; ${OLD_PERMITS}; ${OLD_ANSWERS}; ${LATER_ROWS}`);
      await admin.query(
        `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, 1000000) FROM pg_sequences WHERE schemaname = 'before'`,
      );
      await using store = await open("before");
      for (const { name } of tables) {
        if (CHANGED_TABLES.includes(name) || LATER_TABLES.includes(name)) continue;
        const rows = async (schema: string) =>
          (await admin.query(`SELECT to_jsonb(t)::text AS row FROM ${schema}.${name} t ORDER BY 1`)).rows as unknown[];
        const kept = await rows("before");
        assert.deepEqual(kept, await rows("today"), name);
        assert.ok(kept.length > 0 || OLD_TABLES[name] === undefined, `${name} is tried with rows`);
      }
      const permits = await admin.query({
        text: "SELECT key, owner, units::int FROM before.budget_permits ORDER BY 1",
        rowMode: "array",
      });
      assert.deepEqual(permits.rows, PERMITS);
      await expectUpgraded(store, SIZE, kit.now);
      const named = async (schema: string) =>
        (
          await admin.query(
            `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1
             UNION ALL SELECT tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1
             ORDER BY 1`,
            [schema],
          )
        ).rows as unknown[];
      assert.deepEqual(await named("before"), await named("today"));
    } finally {
      await admin.end();
    }
  });

  test("events of older programs have types, those that are there and those that they go on writing [slow]", async () => {
    await using old = new Program(service.url, "typeless");
    old.migrate(MIGRATIONS.filter(({ version }) => version < 15));
    const id = "0b0f3f0e-2222-4a6f-9d55-000000000002";
    const write = (seq: number, level: string, message: string) =>
      old.connection.writeUnlimited(() =>
        old.connection
          .sql("INSERT INTO events (run, seq, generation, level, message, created_at) VALUES (1, ?, 1, ?, ?, 1)")
          .run(seq, level, message),
      );
    old.connection.writeUnlimited(() =>
      old.connection
        .sql("INSERT INTO runs (n, id, kind, status, snapshot, created_at) VALUES (1, ?, 'page', 'queued', 'null', 1)")
        .run(id),
    );
    for (const [index, [level, message]] of OLD_EVENTS.entries()) write(index + 1, level, message);
    const store = await openPostgresStore({ url: schemaUrl("typeless"), clock: systemClock });
    // As a program wrote them that knew no types.
    for (const [index, [level, message]] of OLD_EVENTS.entries()) write(index + 101, level, message);
    const events = await store.events(id, { limit: 1000 });
    assert.deepEqual(
      events.map(({ level, message, type }) => [level, message, type]),
      [...OLD_EVENTS, ...OLD_EVENTS],
    );
    const cursor = await store.alertCursor();
    const { found } = await store.findEvents({ after: cursor, types: ["circuit.opened"], look: 1000 });
    assert.equal(found.length, 2, "alerts find those of both");
    assert.equal((await store.events(id, { types: ["event.unknown"], limit: 10 })).length, 2);
    await store.close();
  });

  test("what only adds is done while older workers run, and they may be started again; what breaks them waits for them", async () => {
    await using program = new Program(service.url, "versions");
    program.migrate(MIGRATIONS);
    program.work("older");
    const adds = [...MIGRATIONS, next(true, LATEST + 1)];
    assert.deepEqual(program.migrate(adds).applied, ["adds"]);
    assert.deepEqual(program.migrate(MIGRATIONS), { from: LATEST + 1, to: LATEST + 1, applied: [] });
    const breaks = [...adds, next(false, LATEST + 2)];
    assert.throws(
      () => program.migrate(breaks),
      (error) =>
        isOrbError(error, "database_busy") && /breaks.* while a worker of an earlier version/.test(error.message),
    );
    program.leave("older");
    assert.deepEqual(program.migrate(breaks).applied, ["breaks"]);
    assert.throws(
      () => program.migrate(MIGRATIONS),
      (error) => isOrbError(error, "database_newer"),
    );
    assert.deepEqual(program.migrate(breaks).applied, []);
  });
});
