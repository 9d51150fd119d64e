import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { systemClock } from "../../src/base/clock.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { PostgresConnection } from "../../src/store/postgres/connection.ts";
import { makeLine } from "../../src/store/postgres/line.ts";
import { migrate, type Migration, MIGRATIONS } from "../../src/store/postgres/migrate.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { startPostgres, type TestService } from "../support/services.ts";
import { servicesGate } from "../support/services-kit.ts";
import { OLD_EVENTS } from "./old-events.ts";

/** The last version before migrations said whether older programs may keep running. */
const BEFORE = MIGRATIONS.filter(({ version }) => version <= 9);
const LATEST = MIGRATIONS.at(-1)!.version;

const next = (olderMayRun: boolean, at: number): Migration => ({
  version: at,
  name: olderMayRun ? "adds" : "breaks",
  olderMayRun,
  up: () => `CREATE TABLE made_by_${at} (one BIGINT)`,
});

/** A connection as a program of some version has it. */
class Program implements AsyncDisposable {
  readonly connection: PostgresConnection;
  readonly #schema: string;
  readonly #wire: Worker;

  constructor(url: string, schema: string) {
    const { asking, answering } = makeLine();
    const workerData = { url, schema, lines: [{ end: answering, readOnly: false }], begins: "wire" };
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
    this.connection.write(() => this.connection.sql(text).run(owner, lease));
  }

  leave(owner: string): void {
    this.connection.write(() => this.connection.sql("DELETE FROM owners WHERE owner = ?").run(owner));
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

  test("a worker of the version before goes on beside the new one, on the schema of the new one", async () => {
    await using old = new Program(service.url, "rolling");
    old.migrate(BEFORE);
    old.work("old");
    const url = new URL(service.url);
    url.searchParams.set("schema", "rolling");
    const store = await openPostgresStore({ url: url.href, clock: systemClock });
    old.work("old");
    const owners = await store.owners();
    assert.deepEqual(owners, [{ owner: "old", identity: null }], "each sees the other");
    await store.joinOwners("new", 60_000, { boot: "b", pid: 1, pidStart: "1@" });
    await store.close();
    const row = old.connection.sql("SELECT count(*) AS n FROM owners").get();
    assert.equal(Number(row?.["n"]), 2);
  });

  test("events of older programs have types, those that are there and those that they go on writing", async () => {
    await using old = new Program(service.url, "typeless");
    old.migrate(MIGRATIONS.filter(({ version }) => version < 15));
    old.work("old");
    const id = "0b0f3f0e-2222-4a6f-9d55-000000000002";
    const write = (seq: number, level: string, message: string) =>
      old.connection.write(() =>
        old.connection
          .sql("INSERT INTO events (run, seq, generation, level, message, created_at) VALUES (1, ?, 1, ?, ?, 1)")
          .run(seq, level, message),
      );
    old.connection.write(() =>
      old.connection
        .sql("INSERT INTO runs (n, id, kind, status, snapshot, created_at) VALUES (1, ?, 'page', 'queued', 'null', 1)")
        .run(id),
    );
    for (const [index, [level, message]] of OLD_EVENTS.entries()) write(index + 1, level, message);
    const url = new URL(service.url);
    url.searchParams.set("schema", "typeless");
    const store = await openPostgresStore({ url: url.href, clock: systemClock });
    // On the schema of the new one.
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
        isOrbError(error, "database_busy") && /breaks.* while 1 workers of an earlier version/.test(error.message),
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
