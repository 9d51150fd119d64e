import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { systemClock } from "../../src/base/clock.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { createLog } from "../../src/base/log.ts";
import { openClient } from "../../src/app/context.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { RunRecord, Store } from "../../src/store/ports/port.ts";
import { DEPLOYMENT_LOCK } from "../../src/store/postgres/connection.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { attempt, DONE, LANE, newTask, refused, TTL } from "../contract/store/kit.ts";
import { until } from "../chaos/orb.ts";
import { Cable } from "../support/cable.ts";
import { servicesGate } from "../support/services-kit.ts";
import { startPostgres, type TestService } from "../support/services.ts";
import { tempDir } from "../support/temp-dir.ts";
import { Child, FULL } from "./bench.ts";
import { PostgresProxy } from "./postgres-proxy.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const open = (url: string) => openPostgresStore({ url, clock: systemClock });
const openRun = (store: Store) => store.openRun({ kind: "queue", maxAttempts: 3, snapshot: {} }, Date.now());
const count = async (store: Store) => (await store.runs({ limit: 1000 })).length;

/** Another schema of the same database. */
function withSchema(url: string, schema: string): string {
  const named = new URL(url);
  named.searchParams.set("schema", schema);
  return named.href;
}

async function said<T>(work: Promise<T>): Promise<T | null> {
  const hung = wait(PATIENCE_MS, "hung" as const, { ref: false });
  try {
    const first = await Promise.race([work, hung]);
    assert.notEqual(first, "hung", "a method hangs");
    return first as T;
  } catch (error) {
    if (isOrbError(error, "database_unavailable") || isOrbError(error, "database_busy")) return null;
    throw error;
  }
}

/** Asks until there is an answer. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await said(work());
    if (answer !== null) return answer;
    await wait(20);
  }
}

const SIGQUIT_BIT = 1n << BigInt(constants.signals.SIGQUIT - 1);

/** What is not waited for gets to the disk by this process of the server's alone; until it is let go, that is never. */
async function holdWalWriter(server: TestService): Promise<{ letGo(): Promise<void> }> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'",
  );
  await client.end();
  const pid = rows[0]?.pid ?? 0;
  assert.ok(pid > 0);
  process.kill(pid, "SIGSTOP");
  return {
    async letGo() {
      const pending = () => BigInt(`0x${/^ShdPnd:\s*(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]}`);
      await until(() => !existsSync(`/proc/${pid}`) || (pending() & SIGQUIT_BIT) !== 0n, "it is told to end");
      process.kill(pid, "SIGCONT");
    },
  };
}

/** Callers that add tasks without a pause, and remember what they were told was added. */
class Callers {
  readonly #store: Store;
  readonly #run: RunRecord;
  readonly #acknowledged: string[] = [];
  readonly #all: Promise<void>[];
  #tried = 0;
  #stopped = false;

  constructor(store: Store, run: RunRecord, callers: number) {
    this.#store = store;
    this.#run = run;
    this.#all = Array.from({ length: callers }, () => this.#call());
  }

  async #call(): Promise<void> {
    while (!this.#stopped) {
      this.#tried += 1;
      const key = `task-${this.#tried}`;
      if ((await said(this.#store.enqueue(this.#run.id, [newTask(key)], Date.now()))) === null) await wait(10);
      else this.#acknowledged.push(key);
      await said(this.#store.counts(this.#run.id));
    }
  }

  /** Until that many more were added. */
  async more(number: number): Promise<void> {
    const enough = this.#acknowledged.length + number;
    while (this.#acknowledged.length < enough) await Promise.race([wait(5), ...this.#all]);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#all);
  }

  /** What was told as added is there, once; what was not may be there, as its answer may have been lost. */
  async check(): Promise<void> {
    const there = new Set<string>();
    for (const key of this.#acknowledged) {
      const task = await this.#store.taskByKey(this.#run.id, key);
      assert.equal(task?.key, key, `${key} was told as added`);
      there.add(key);
    }
    const { queued } = (await this.#store.overview(this.#run.id, 1)).totals;
    assert.ok(queued >= there.size && queued <= this.#tried, `${queued} of ${this.#tried}, ${there.size} told`);
    assert.deepEqual((await this.#store.audit()).findings, []);
  }
}

describe("Postgres under faults", servicesGate, () => {
  let service: TestService;
  before(async () => void (service = await startPostgres()));
  after(async () => service[Symbol.asyncDispose]());

  async function admin(): Promise<pg.Client & AsyncDisposable> {
    const client = new pg.Client({ connectionString: service.url });
    client.on("error", () => {});
    await client.connect();
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
  }

  test("a server that crashes and comes back again and again loses nothing that was told as added", async () => {
    await using store = await open(service.url);
    const callers = new Callers(store, await openRun(store), 4);
    for (let crash = 0; crash < (FULL ? 20 : 2); crash += 1) {
      await callers.more(20);
      await service.stop("SIGQUIT");
      await service.start();
    }
    await callers.more(20);
    await callers.stop();
    await callers.check();
  });

  test("a crash that takes back what was told as written ends all leases, and no number is given twice", async () => {
    await using server = await startPostgres();
    await using store = await open(server.url);
    await using other = await open(server.url);
    const run = await openRun(store);
    await store.joinOwners("a", TTL);
    await store.enqueue(run.id, [newTask("start")], Date.now());
    const grant = await store.takeLane(LANE, "a", TTL);
    assert.ok(grant);
    const [start] = (await store.claim(grant, { limit: 1 }, Date.now()))?.tasks ?? [];
    assert.ok(start);
    // On the disk by this; what follows is not.
    await store.enqueue(run.id, [newTask("elsewhere", { lane: "site:b.example", site: "b.example" })], Date.now());
    const hand = await holdWalWriter(server);
    const discovered = ["one", "two"].map((key) => ({
      key,
      url: `https://a.example/${key}`,
      lane: LANE,
      site: "a.example",
      depth: 1,
    }));
    const done = { task: start, verdict: DONE, attempt: attempt(1), report: { discovered } };
    assert.deepEqual((await store.settle([{ hold: grant, tasks: [done] }], Date.now())).lost, []);
    const claimed = (await store.claim(grant, { limit: 2 }, Date.now()))?.tasks ?? [];
    assert.deepEqual(claimed.map(({ key }) => key).toSorted(), ["one", "two"]);
    const seen = (await store.events(run.id, { limit: 100 })).at(-1)?.id ?? "";
    const stopped = server.stop("SIGQUIT");
    // Not before it is told to end: it would write.
    await hand.letGo();
    await stopped;
    await server.start();
    // Whoever comes first sees to it.
    await insist(() => other.probe().then(() => true));
    const settled = await insist(() =>
      store.settle(
        [{ hold: grant, tasks: claimed.map((task) => ({ task, verdict: DONE, attempt: attempt(1) })) }],
        Date.now(),
      ),
    );
    assert.deepEqual(settled.lost, [grant.laneId], "what it remembers counts no more");
    assert.equal(await store.heartbeat("a", TTL), null, "and it hears of it");
    await store.joinOwners("b", TTL);
    const again = await store.takeLane(LANE, "b", TTL);
    assert.equal(again?.recovered, 1, "the page is done again");
    assert.ok(again);
    const [same] = (await store.claim(again, { limit: 5 }, Date.now()))?.tasks ?? [];
    assert.equal(same?.key, "start");
    const now = { task: same, verdict: DONE, attempt: attempt(1), report: { discovered } };
    await store.settle([{ hold: again, tasks: [now] }], Date.now());
    const ids = ((await store.claim(again, { limit: 5 }, Date.now()))?.tasks ?? []).map(({ row }) => row);
    assert.equal(ids.length, 2);
    for (const id of ids)
      assert.ok(!claimed.some(({ row }) => row === id), "numbers that were given before mean nothing else");
    await store.events(run.id, { after: seen, limit: 100 });
  });

  test("connections that are ended in storms are made anew", async () => {
    await using store = await open(service.url);
    await using storm = await admin();
    const callers = new Callers(store, await openRun(store), 4);
    for (let gust = 0; gust < (FULL ? 200 : 8); gust += 1) {
      await storm.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'orbweaver'");
      await callers.more(1);
    }
    await callers.stop();
    await callers.check();
  });

  test("on a line into which everything vanishes methods fail in time, and work when it is mended", async () => {
    const cable = await Cable.to(service.port);
    const url = new URL(service.url);
    url.port = String(cable.port);
    try {
      const store = await open(url.href);
      const run = await openRun(store);
      const before = await count(store);
      cable.freeze();
      const tried = [openRun(store), openRun(store), store.run(run.id), store.run(run.id), store.counts(run.id)];
      assert.deepEqual(await Promise.all(tried.map((one) => said<unknown>(one))), [null, null, null, null, null]);
      cable.thaw();
      await insist(() => openRun(store));
      assert.equal((await insist(() => store.run(run.id)))?.id, run.id);
      assert.equal(await insist(() => count(store)), before + 1, "what failed was not done later");
      cable.freeze();
      const last = said(openRun(store));
      assert.ok(await said(store.close().then(() => true)), "it can be closed all the same");
      assert.equal(await last, null);
    } finally {
      cable.cut();
    }
  });

  test("whoever watches hears of changes also where the database does not tell of them", async () => {
    const url = withSchema(service.url, "silent");
    await using store = await open(url);
    await using other = await open(url);
    const admin = new pg.Client({ connectionString: service.url });
    await admin.connect();
    await admin.query(`DROP TRIGGER events_notify ON silent.events; DROP TRIGGER control_notify ON silent.control`);
    await admin.end();
    const told = { events: Promise.withResolvers<void>(), control: Promise.withResolvers<void>() };
    store.watch((what) => told[what].resolve());
    await openRun(other);
    await told.events.promise;
    await other.setSite("a.example", { maxConcurrency: 1 });
    await told.control.promise;
  });

  test("what is under way is still done when the store is closed, and told", async () => {
    const store = await open(service.url);
    const before = await count(store);
    const work = Array.from({ length: 10 }, (_, index) =>
      index % 2 === 0
        ? openRun(store)
        : store.startRun({ kind: "queue", maxAttempts: 3, snapshot: {} }, [newTask(`${index}`)], Date.now()),
    );
    const closed = store.close();
    await Promise.all(work);
    await closed;
    await refused("database_unavailable", openRun(store));
    await using again = await open(service.url);
    assert.equal(await count(again), before + 10);
  });

  test("a commit whose answer is lost is not done twice; one that was not asked for is tried again", async () => {
    await using direct = await open(service.url);
    let cutAt: "COMMIT" | "pg_advisory_xact_lock" | null = null;
    using proxy = await PostgresProxy.to(service.port, {
      asked(text, connection) {
        if (cutAt === null || !text.includes(cutAt)) return;
        const lose = cutAt === "COMMIT";
        cutAt = null;
        connection.withhold();
        if (lose) void connection.answer("COMMIT").then(() => connection.cut());
        else connection.cut();
      },
    });
    await using store = await open(proxy.url(service.url));
    await openRun(store);
    const before = await count(direct);
    cutAt = "COMMIT";
    await refused("database_unavailable", openRun(store));
    assert.equal(cutAt, null);
    assert.equal(await count(direct), before + 1, "it was kept, and not done again");
    cutAt = "pg_advisory_xact_lock";
    await openRun(store);
    assert.equal(cutAt, null);
    assert.equal(await count(direct), before + 2);
  });

  test("a machine whose clock is wrong goes by the database's, and says so", async () => {
    let shiftMs = 30_000;
    const shifted = (ms: string) => String(Number(ms) + shiftMs);
    using proxy = await PostgresProxy.to(service.port, {
      answered: (data) => Buffer.from(data.toString("latin1").replaceAll(/(?<!\d)1\d{12}(?=\.\d)/g, shifted), "latin1"),
    });
    using folder = tempDir();
    const env = { APP_DATABASE_URL: proxy.url(withSchema(service.url, "fast")), APP_REDIS_URL: "redis://127.0.0.1:1" };
    const { config } = loadConfig({ env, cwd: folder.path });
    let told = "";
    const log = createLog({ level: "info", pretty: false, write: (text) => void (told += text) });
    await using client = await openClient(config, systemClock, { log });
    const ahead = () => client.clock.now() - systemClock.now();
    while (Math.abs(ahead() - 30_000) > 1000) await wait(20);
    assert.match(told, /"warn".*clock of this machine differs from the database.*"seconds_slow":(?:29|30)/);
    shiftMs = 0;
    while (ahead() !== 0) await wait(20);
    assert.match(told, /agrees with the database again/);
  });

  test("a process that is frozen in the middle of a transaction keeps others waiting for seconds only", async () => {
    await using store = await open(service.url);
    const before = await count(store);
    const frozen = Promise.withResolvers<() => void>();
    let child: Child | null = null;
    using proxy = await PostgresProxy.to(service.port, {
      asked(text, connection) {
        if (child === null || !text.includes("pg_advisory_xact_lock")) return;
        const { process: frozenProcess } = child;
        child = null;
        connection.withhold();
        void connection.answer("SELECT 1").then(() => {
          frozenProcess.kill("SIGSTOP");
          frozen.resolve(() => {
            connection.passOn();
            frozenProcess.kill("SIGCONT");
          });
        });
      },
    });
    await using busy = new Child("postgres-run", proxy.url(service.url), "busy");
    assert.equal(await busy.line(), "open");
    child = busy;
    const goOn = await frozen.promise;
    assert.notEqual(await said(openRun(store)), null, "the frozen one has lost its turn");
    goOn();
    const id = await busy.line();
    assert.equal((await store.run(id ?? ""))?.id, id, "and does it again when it wakes");
    await busy.end();
    assert.equal(await count(store), before + 2);
  });

  test("those that share a commit all hear that their turn did not come", async () => {
    await using store = await open(service.url);
    await using other = await admin();
    const before = await count(store);
    await other.query("BEGIN");
    await other.query(`SELECT pg_advisory_xact_lock(${DEPLOYMENT_LOCK}, hashtext('orbweaver'))`);
    const begun = Array.from({ length: 3 }, () =>
      store.startRun({ kind: "queue", maxAttempts: 3, snapshot: {} }, [newTask("a")], Date.now()),
    );
    const heard = Promise.all(begun.map((one) => said<unknown>(one)));
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'orbweaver' AND wait_event = 'advisory'`;
    const over = heard.then(() => true);
    while (!(await Promise.race([over, wait(20, false)]))) await other.query(cancel);
    assert.deepEqual(await heard, [null, null, null]);
    await other.query("ROLLBACK");
    assert.equal(await count(store), before);
    await openRun(store);
  });

  test("processes that start at the same time make the schema once", async () => {
    const url = withSchema(service.url, "together");
    const stores = await Promise.all([open(url), open(url), open(url)]);
    try {
      assert.equal(new Set(stores.map(({ instance }) => instance)).size, 1);
      for (const store of stores) await openRun(store);
      assert.equal(await count(stores[0] as Store), 3);
    } finally {
      for (const store of stores) await store.close();
    }
  });

  test("a store keeps its process alive while a call is under way, and no longer", async () => {
    await using idle = new Child("postgres-run", service.url);
    assert.equal(await idle.line(), "open");
    await idle.end();
    await using busy = new Child("postgres-run", service.url, "busy");
    assert.equal(await busy.line(), "open");
    const id = (await busy.line()) ?? "";
    await busy.end();
    await using store = await open(service.url);
    assert.equal((await store.run(id))?.id, id);
  });

  test("what it cannot work with is refused with a sentence", async () => {
    await using client = await admin();
    const wrong = new URL(service.url);
    wrong.password = "wrong";
    await assert.rejects(open(wrong.href), /rejected the login: .*password/);
    const nobody = new URL(service.url);
    nobody.port = "1";
    await refused("database_unavailable", open(nobody.href));
    await refused("config_invalid", open(`${service.url}?options=-c%20work_mem%3D1MB`));
    await client.query("CREATE SCHEMA another; CREATE TABLE another.customers (name TEXT)");
    await refused("database_foreign", open(withSchema(service.url, "another")));
    await using known = await open(withSchema(service.url, "newer"));
    await client.query("UPDATE newer.schema_version SET version = 999, usable_from = 999");
    await assert.rejects(open(withSchema(service.url, "newer")), /schema version 999, this program knows up to/);
    await openRun(known);
    const { rows } = await client.query<{ number: string }>("SELECT current_setting('server_version_num') AS number");
    const number = rows[0]?.number ?? "";
    using proxy = await PostgresProxy.to(service.port, {
      answered: (data) => Buffer.from(data.toString("latin1").replaceAll(number, `13${number.slice(2)}`), "latin1"),
    });
    await assert.rejects(open(proxy.url(withSchema(service.url, "older"))), /the server is PostgreSQL 13; 14 or later/);
  });
});
