import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import pg from "pg";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { seededRandom } from "../../src/base/random.ts";
import { Signal } from "../../src/base/signal.ts";
import { failure } from "../../src/domain/run/failure.ts";
import type { Discovered } from "../../src/domain/run/outcome.ts";
import type { LaneGrant, SettleBatch, SettledTask, Store } from "../../src/store/ports/port.ts";
import { STORE_ACCESS } from "../../src/store/ports/access.ts";
import { DEPLOYMENT_LOCK } from "../../src/store/postgres/connection.ts";
import { NAME_LOCK, PARTITION_LOCK, PARTITIONS } from "../../src/store/postgres/dialect.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import type { TaskHandler } from "../../src/lanes/handlers/handler.ts";
import { LaneWorker } from "../../src/lanes/worker.ts";
import { GOOD, NO_STRAIN } from "../lanes/workshop.ts";
import { attempt, DONE, FAILED, HANDED_BACK, newTask, RATE_WAIT, retryAt } from "../contract/store/kit.ts";
import { newJob } from "../contract/store/jobs.ts";
import { startPostgres } from "../support/services.ts";
import { servicesGate } from "../support/services-kit.ts";
import { FULL } from "./bench.ts";
import { PostgresProxy } from "./postgres-proxy.ts";

const TTL = 60_000;
const SITES = 10;
const WORKERS = 4;
const RUNS = 8;
const PAGES_PER_RUN = FULL ? 400 : 80;

const laneOf = (site: number) => `site:s${site}.example`;

/** Deterministic numbers below 1. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("several writers on one Postgres", servicesGate, () => {
  const service = startPostgres();
  after(async () => (await service)[Symbol.asyncDispose]());

  const open = async (schema: string): Promise<Store> => {
    const url = new URL((await service).url);
    url.searchParams.set("schema", schema);
    return openPostgresStore({ url: url.href, clock: systemClock });
  };

  const admin = async (schema: string): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: (await service).url, options: `-c search_path=${schema}` });
    await client.connect();
    return client;
  };

  test("readers that follow a cursor miss nothing, and the books balance [slow]", async () => {
    const stores = await Promise.all(Array.from({ length: WORKERS }, () => open("writers")));
    const client = await admin("writers");
    try {
      const [reader] = stores as [Store];
      const runs = await Promise.all(
        Array.from({ length: RUNS }, (_, run) => {
          const tasks = Array.from({ length: 6 }, (_, task) =>
            newTask(`start-${task}`, { lane: laneOf((run + task) % SITES) }),
          );
          return stores[run % WORKERS]!.startRun(
            { kind: "crawl", maxAttempts: 3, snapshot: {}, pagesLimit: PAGES_PER_RUN },
            tasks,
            Date.now(),
          );
        }),
      );
      const ids = runs.map(({ created }) => created.id);
      await reader.admitCrawls(RUNS, Date.now());
      const done = { all: false };
      const seen = { events: [] as string[], results: new Map(ids.map((id) => [id, [] as string[]])) };
      const followers = [
        followFeed(reader, seen.events, done),
        ...ids.map((id) => followResults(reader, id, seen.results.get(id)!, done)),
      ];
      await Promise.all(stores.map((store, index) => work(store, `worker-${index}`, randomFrom(index + 1), ids)));
      done.all = true;
      await Promise.all(followers);
      for (const id of ids) assert.match((await reader.run(id))?.status ?? "", /^(completed|partial)$/);
      const { rows } = await client.query<{ n: string }>("SELECT n FROM events ORDER BY n");
      assert.equal(seen.events.length, rows.length);
      assert.equal(new Set(seen.events).size, rows.length, "no event is read twice");
      const all = await readFeed(reader);
      assert.deepEqual(seen.events, all, "read as they came, and read at once");
      for (const id of ids) {
        const stored: string[] = [];
        await followResults(reader, id, stored, { all: true });
        assert.deepEqual(seen.results.get(id), stored);
      }
      assert.deepEqual((await reader.audit()).findings, []);
      const deadlocks = await client.query<{ deadlocks: string }>(
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
      );
      assert.equal(Number(deadlocks.rows[0]?.deadlocks), 0);
    } finally {
      await client.end();
      for (const store of stores) await store.close();
    }
  });

  test("a heartbeat waits for no other writer", async () => {
    await using store = await open("beats");
    await store.joinOwners("w", TTL);
    await store.startRun({ kind: "queue", maxAttempts: 1, snapshot: {} }, [newTask("a")], Date.now());
    const grant = await store.takeLane("site:a.example", "w", TTL);
    const client = await admin("beats");
    try {
      await client.query("BEGIN");
      await client.query(`SELECT pg_advisory_xact_lock(${DEPLOYMENT_LOCK}, hashtext('beats'))`);
      await client.query("SELECT 1 FROM lanes FOR UPDATE");
      const blocked = store.openRun({ kind: "queue", maxAttempts: 1, snapshot: {} }, Date.now());
      assert.deepEqual(await store.heartbeat("w", TTL), new Set([grant?.laneId]));
      await store.probe();
      await client.query("ROLLBACK");
      await blocked;
    } finally {
      await client.end();
    }
  });

  test("a lease that was renewed at the last moment is not taken over", async () => {
    await using store = await open("moments");
    await store.joinOwners("old", TTL);
    await store.joinOwners("new", TTL);
    await store.startRun({ kind: "queue", maxAttempts: 1, snapshot: {} }, [newTask("a")], Date.now());
    assert.ok(await store.takeLane("site:a.example", "old", TTL));
    const client = await admin("moments");
    try {
      // The lease of the lane has ended, and the heartbeat of its owner is being written.
      await client.query("UPDATE lanes SET lease_until = 1");
      await client.query("BEGIN");
      await client.query("UPDATE owners SET lease_until = lease_until + 1 WHERE owner = 'old'");
      let over = false;
      const taken = store.takeLane("site:a.example", "new", TTL).finally(() => (over = true));
      await store.probe();
      assert.equal(over, false);
      await client.query("COMMIT");
      assert.equal(await taken, null);
    } finally {
      await client.end();
    }
  });

  test("events are numbered in the order of their commits: one transaction at a time", async () => {
    await using store = await open("numbers");
    const client = await admin("numbers");
    try {
      await client.query("BEGIN");
      await client.query(`SELECT pg_advisory_xact_lock(${NAME_LOCK}, hashtext('numbers:events'))`);
      let over = false;
      const opened = store
        .openRun({ kind: "queue", maxAttempts: 1, snapshot: {} }, Date.now())
        .finally(() => (over = true));
      while ((await client.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")).rowCount === 0)
        assert.equal(over, false);
      await store.probe();
      assert.equal(over, false);
      await client.query("COMMIT");
      await opened;
    } finally {
      await client.end();
    }
  });

  test("one key starts one run, sent to two processes at the same time", async () => {
    const [one, two] = [await open("keys"), await open("keys")];
    try {
      for (let round = 0; round < 10; round += 1) {
        const once = { key: `k${round}`, fingerprint: "f" };
        const start = (store: Store) =>
          store.startRun({ kind: "queue", maxAttempts: 1, snapshot: {} }, [newTask("a")], Date.now(), once);
        const [first, second] = await Promise.all([start(one), start(two)]);
        assert.equal(first.created.id, second.created.id);
        assert.notEqual(first.replayed, second.replayed);
      }
    } finally {
      await one.close();
      await two.close();
    }
  });

  /** Lets both begin behind a lock that is held, so that each has taken what it takes first; then lets them go. */
  const meet = async (schema: string, lock: string, stores: [Store, Store], work: (() => Promise<unknown>)[]) => {
    const client = await admin(schema);
    const waiting = async () => {
      return (await client.query("SELECT DISTINCT pid FROM pg_locks WHERE NOT granted")).rowCount ?? 0;
    };
    try {
      await client.query("BEGIN");
      await client.query(lock);
      const done: Promise<unknown>[] = [];
      for (const [index, one] of work.entries()) {
        done.push(one());
        while ((await waiting()) <= index);
      }
      await client.query("COMMIT");
      await Promise.all(done);
      assert.deepEqual(
        stores.map((store) => store.conflicts?.()),
        [0, 0],
        "a transaction had to be repeated, as two waited for each other",
      );
      assert.deepEqual((await stores[0].audit()).findings, []);
    } finally {
      await client.end();
    }
  };

  test("several keys that two processes start runs with at the same time are locked in one order", async () => {
    const stores: [Store, Store] = [await open("orders"), await open("orders")];
    try {
      const start = (store: Store, keys: readonly string[]) =>
        Promise.all(
          keys.map((key) =>
            store.startRun({ kind: "queue", maxAttempts: 1, snapshot: {} }, [newTask("a")], Date.now(), {
              key,
              fingerprint: "f",
            }),
          ),
        );
      const started: ReturnType<typeof start>[] = [];
      await meet(
        "orders",
        `SELECT pg_advisory_xact_lock(${NAME_LOCK}, hashtext('orders:key:k1'))`,
        stores,
        [
          ["k1", "k2"],
          ["k2", "k1"],
        ].map((keys, index) => () => {
          const all = start(stores[index] as Store, keys);
          started.push(all);
          return all;
        }),
      );
      const [one = [], two = []] = await Promise.all(started);
      assert.deepEqual(one.map(idOf), two.map(idOf).toReversed());
    } finally {
      for (const store of stores) await store.close();
    }
  });

  test("two runs of one job that end the same pages at the same time wait in turn", async () => {
    const stores: [Store, Store] = [await open("states"), await open("states")];
    try {
      const [first] = stores;
      const { created: job } = await first.createJob(newJob("one"), Date.now());
      const keys = ["p", "q"];
      const begin = async (number: number) => {
        const lane = `site:run${number}.example`;
        const tasks = keys.map((key) => newTask(key, { lane }));
        const run = { kind: "crawl", maxAttempts: 3, snapshot: {}, jobId: job.id } as const;
        await first.startRun(run, tasks, Date.now());
        await first.admitCrawls(10, Date.now());
        const hold = await first.takeLane(lane, "w", TTL);
        assert.ok(hold);
        const claimed = (await first.claim(hold, { limit: 5 }, Date.now()))?.tasks ?? [];
        assert.equal(claimed.length, 2);
        return { hold, claimed };
      };
      await first.joinOwners("w", TTL);
      const [zero, one, two] = [await begin(0), await begin(1), await begin(2)];
      const settle = (store: Store, { hold, claimed }: typeof zero, order: readonly string[]) => {
        const tasks = order.map((key): SettledTask => {
          const task = claimed.find((each) => each.key === key)!;
          const hash = "ab".repeat(16);
          const page = { key, url: "u", digest: hash, scopeHash: hash, isRedirected: false, change: null };
          return { task, verdict: DONE, attempt: attempt(1), report: { page } };
        });
        return store.settle([{ hold, tasks }], Date.now());
      };
      await settle(first, zero, keys);
      await meet("states", "SELECT 1 FROM page_states ORDER BY key_hash FOR UPDATE", stores, [
        () => settle(stores[0], one, ["p", "q"]),
        () => settle(stores[1], two, ["q", "p"]),
      ]);
    } finally {
      for (const store of stores) await store.close();
    }
  });

  /** Runs of one job, each with its pages claimed in a lane of its own. */
  const runsOfJob = async (store: Store, sizes: readonly number[]) => {
    const { created: job } = await store.createJob(newJob("one"), Date.now());
    await store.joinOwners("w", TTL);
    const begun = [];
    for (const [number, size] of sizes.entries()) {
      const lane = `site:run${number}.example`;
      const tasks = Array.from({ length: size }, (_, index) => newTask(`p${index}`, { lane }));
      const run = { kind: "crawl", maxAttempts: 3, snapshot: {}, jobId: job.id } as const;
      const { created } = await store.startRun(run, tasks, Date.now());
      await store.admitCrawls(10, Date.now());
      const hold = await store.takeLane(lane, "w", TTL);
      assert.ok(hold);
      const claimed = (await store.claim(hold, { limit: size }, Date.now()))?.tasks ?? [];
      assert.equal(claimed.length, size);
      begun.push({ id: created.id, hold, claimed });
    }
    return { job, runs: begun };
  };
  const page = (key: string) => {
    const hash = "ab".repeat(16);
    return { page: { key, url: "u", digest: hash, scopeHash: hash, isRedirected: false, change: null } };
  };
  const someoneWaits = async (client: pg.Client, isOver: () => boolean) => {
    while ((await client.query("SELECT 1 FROM pg_locks WHERE NOT granted")).rowCount === 0)
      assert.equal(isOver(), false, "nothing waited");
  };
  const SHORT_TTL = 2000;

  const lockJob = (schema: string) =>
    `SELECT pg_advisory_xact_lock(${NAME_LOCK}, hashtext('${schema}:job:' || id)) FROM jobs`;

  for (const [schema, what, holdUp] of [
    ["turns", "for a job that others write", lockJob("turns")],
    ["rows", "with its lanes locked", "SELECT 1 FROM lanes FOR UPDATE"],
  ] as const)
    test(`a short lease outlives a settle that waits ${what} [slow]`, async () => {
      await using store = await open(schema);
      const client = await admin(schema);
      try {
        const { runs } = await runsOfJob(store, [1, 1]);
        const [{ hold, claimed }] = runs as [(typeof runs)[0]];
        await store.heartbeat("w", SHORT_TTL);
        await client.query("BEGIN");
        await client.query(holdUp);
        let over = false;
        const tasks = claimed.map((task) => ({ task, verdict: DONE, attempt: attempt(1), report: page(task.key) }));
        const settling = store.settle([{ hold, tasks }], Date.now()).finally(() => (over = true));
        await someoneWaits(client, () => over);
        // For longer than the lease lasts.
        for (const until = performance.now() + SHORT_TTL * 2; performance.now() < until;) {
          const asked = performance.now();
          assert.equal((await store.heartbeat("w", SHORT_TTL))?.size, runs.length);
          assert.ok(performance.now() - asked < SHORT_TTL / 2, "it waits for nobody");
          assert.equal(over, false);
          assert.deepEqual(
            (await store.owners()).map(({ owner }) => owner),
            ["w"],
          );
          await new Promise((resolve) => setTimeout(resolve, SHORT_TTL / 8));
        }
        await client.query("ROLLBACK");
        assert.deepEqual((await settling).lost, [], "nobody has taken the lane");
        assert.deepEqual((await store.audit()).findings, []);
      } finally {
        await client.end();
      }
    });

  test("an outcome waits for other runs of its job only if it writes what they share", async () => {
    await using store = await open("jobs");
    const client = await admin("jobs");
    try {
      const { runs } = await runsOfJob(store, [6]);
      const [{ hold, claimed }] = runs as [(typeof runs)[0]];
      const [plain, retried, gone, kept, lacking, last] = claimed.map((task) => ({ task, attempt: attempt(1) })) as [
        Pick<SettledTask, "task" | "attempt">,
        ...Pick<SettledTask, "task" | "attempt">[],
      ];
      const missing = { kind: "failed", failure: failure("http_not_found", "HTTP 404") } as const;
      await client.query("BEGIN");
      await client.query(lockJob("jobs"));
      const settle = (task: SettledTask) => store.settle([{ hold, tasks: [task] }], Date.now());
      await settle({ ...plain, verdict: DONE });
      const broke = attempt(1, { failure_code: "network", failure_reason: "connection_reset" });
      await settle({ ...retried!, attempt: broke, verdict: retryAt(0) });
      const waits = async (task: SettledTask) => {
        let over = false;
        const settling = settle(task).finally(() => (over = true));
        await someoneWaits(client, () => over);
        await client.query("ROLLBACK");
        await settling;
        await client.query("BEGIN");
        await client.query(lockJob("jobs"));
      };
      await waits({ ...gone!, verdict: missing });
      await waits({ ...kept!, verdict: DONE, report: page(kept!.task.key) });
      const lacks = {
        kind: "failed",
        failure: failure("field_missing", "price: required", { fields: ["price"] }),
      } as const;
      const copy = { contentType: null, form: "text", isSealed: false } as const;
      const keptPage = { url: "https://s0.example/", hash: "a".repeat(64), size: 1, ...copy };
      await waits({ ...lacking!, verdict: lacks, report: { keptPage } });
      const [again] = (await store.claim(hold, { limit: 1 }, Date.now()))?.tasks ?? [];
      await settle({ task: again!, verdict: DONE, attempt: attempt(2) });
      // The end of the crawl compares all pages of the job.
      await waits({ ...last!, verdict: DONE });
      await client.query("ROLLBACK");
    } finally {
      await client.end();
    }
  });

  test("a run that others keep locked holds up no other run of the same worker [slow]", async (t) => {
    await using store = await open("partitions");
    const client = await admin("partitions");
    const owner = "w";
    try {
      const locked = Promise.withResolvers<void>();
      const { worker, work, fetched } = workerOn(store, owner, locked.promise);
      t.after(() => worker.stop());
      await store.joinOwners(owner, TTL);
      const start = async (lane: string) => {
        const tasks = Array.from({ length: 40 }, (_, index) => newTask(`page-${index}`, { lane }));
        const run = { kind: "queue", maxAttempts: 1, snapshot: {} } as const;
        return (await store.startRun(run, tasks, Date.now())).created.id;
      };
      const lanes = ["a", "b", "c"].map((site) => `site:${site}.example`);
      const [stuck, stuckToo, free] = [await start(lanes[0]!), await start(lanes[1]!), await start(lanes[2]!)];
      // Pages of two runs are being fetched when others lock these.
      const working = lanes.slice(0, 2).map(work);
      while (fetched() < 4) await store.probe();
      await client.query("BEGIN");
      const { rows } = await client.query<{ n: number }>("SELECT n::int FROM runs WHERE id <> $1", [free]);
      assert.equal(rows.length, 2);
      for (const { n } of rows)
        await client.query(
          `SELECT pg_advisory_xact_lock(${PARTITION_LOCK} + ${n % PARTITIONS}, hashtext('partitions'))`,
        );
      locked.resolve();
      await work(lanes[2]!);
      assert.equal((await store.run(free))?.status, "completed");
      assert.equal((await store.run(stuck))?.status, "running");
      assert.equal(worker.paused, null);
      await client.query("ROLLBACK");
      await Promise.all(working);
      for (const id of [stuck, stuckToo, free]) {
        assert.equal((await store.run(id))?.status, "completed");
        assert.equal((await store.results(id, { limit: 100 })).length, 40);
      }
      assert.equal(fetched(), 120, "nothing was fetched twice");
      assert.deepEqual((await store.audit()).findings, []);
    } finally {
      await client.end();
    }
  });

  test("failed pages of two runs at the same sites are retried at the same time", async () => {
    const stores: [Store, Store] = [await open("retries"), await open("retries")];
    try {
      const [first] = stores;
      await first.joinOwners("w", TTL);
      const runs: string[] = [];
      for (const order of [
        ["a", "b"],
        ["b", "a"],
      ]) {
        const { created } = await first.startRun({ kind: "queue", maxAttempts: 1, snapshot: {} }, [], Date.now());
        runs.push(created.id);
        for (const site of order) {
          const lane = `site:${site}.example`;
          await first.enqueue(created.id, [newTask(site, { lane })], Date.now());
          const hold = await first.takeLane(lane, "w", TTL);
          const [task] = (await first.claim(hold!, { limit: 1 }, Date.now()))?.tasks ?? [];
          await first.settle(
            [{ hold: hold!, tasks: [{ task: task!, verdict: FAILED, attempt: attempt(1) }] }],
            Date.now(),
          );
          await first.releaseLane(hold!);
        }
      }
      await meet(
        "retries",
        "SELECT 1 FROM sites WHERE site = 'a.example' FOR UPDATE",
        stores,
        runs.map((id, index) => () => (stores[index] as Store).retryFailed(id, { limit: 10 }, Date.now())),
      );
    } finally {
      for (const store of stores) await store.close();
    }
  });

  test("a late heartbeat and the outcomes of its lanes wait in turn", async () => {
    const stores: [Store, Store] = [await open("late"), await open("late")];
    const client = await admin("late");
    try {
      const [first] = stores;
      await first.joinOwners("w", TTL);
      const sites = ["a", "b"];
      const tasks = sites.map((site) => newTask(site, { lane: `site:${site}.example` }));
      await first.startRun({ kind: "queue", maxAttempts: 1, snapshot: {} }, tasks, Date.now());
      const batches: SettleBatch[] = [];
      for (const site of sites) {
        const hold = (await first.takeLane(`site:${site}.example`, "w", TTL))!;
        const claimed = (await first.claim(hold, { limit: 1 }, Date.now()))?.tasks ?? [];
        batches.push({ hold, tasks: claimed.map((task) => ({ task, verdict: DONE, attempt: attempt(1) })) });
      }
      await client.query(`UPDATE lanes SET lease_until = lease_until - ${TTL * 0.7}`);
      await meet("late", "SELECT 1 FROM lanes WHERE lane = 'site:a.example' FOR UPDATE", stores, [
        () => stores[0].settle(batches, Date.now()),
        () => stores[1].heartbeat("w", TTL),
      ]);
    } finally {
      await client.end();
      for (const store of stores) await store.close();
    }
  });

  test("jobs, sessions and templates are saved while others write runs, and names are given once", async () => {
    const stores: [Store, Store] = [await open("saved"), await open("saved")];
    const client = await admin("saved");
    const session = {
      name: "shop",
      origin: "https://shop.example",
      holds: [],
      sealed: new Uint8Array(1),
      checkUrl: null,
    };
    try {
      // As a claim or settle holds it.
      await client.query("BEGIN");
      await client.query(`SELECT pg_advisory_xact_lock_shared(${DEPLOYMENT_LOCK}, hashtext('saved'))`);
      await stores[0].createJob(newJob("shop"), Date.now());
      const named = await Promise.allSettled(stores.map((store) => store.createSession(session, Date.now())));
      assert.deepEqual(named.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
      const refused = named.find(({ status }) => status === "rejected") as PromiseRejectedResult;
      assert.match(String(refused.reason), /another session has this name/);
      const versions = await Promise.all(
        Array.from({ length: 8 }, (_, n) => stores[n % 2]!.putTemplate("shop", { n }, 1, Date.now())),
      );
      assert.deepEqual(versions.map(({ version }) => version).toSorted(), [1, 2, 3, 4, 5, 6, 7, 8]);
      assert.equal(await stores[0].deleteTemplate("shop"), 8);
      const [saved] = await stores[0].sessions({ limit: 1 });
      await stores[0].deleteSession(saved?.id ?? "");
      await client.query("ROLLBACK");
    } finally {
      await client.end();
      for (const store of stores) await store.close();
    }
  });

  test("a writer that could not be started is started later", async () => {
    const seen = { connections: 0 };
    let accepts = true;
    using proxy = await PostgresProxy.to((await service).port, {
      accepts: () => {
        if (accepts) seen.connections += 1;
        return accepts;
      },
    });
    let monotonic = 0;
    const url = new URL(proxy.url((await service).url));
    url.searchParams.set("schema", "spare");
    const clock = { ...systemClock, monotonic: () => monotonic };
    const refused = Promise.withResolvers<void>();
    const log = { ...silentLog, warn: () => refused.resolve() };
    await using store = await openPostgresStore({ url: url.href, clock, log });
    const write = () =>
      Promise.all(
        Array.from({ length: 4 }, () => store.openRun({ kind: "queue", maxAttempts: 1, snapshot: {} }, Date.now())),
      );
    const before = seen.connections;
    accepts = false;
    await write();
    await refused.promise;
    await store.probe();
    accepts = true;
    await write();
    assert.equal(seen.connections, before, "not again at once");
    while (seen.connections < before + 2) {
      // Time passes: shortly after a refused connection, the next one is not even tried.
      monotonic += 10_000;
      await write();
      await store.probe();
    }
    assert.equal(seen.connections, before + 2, "one for more work, and one for leases");
  });

  test("a heartbeat does not wait for a connection of its own that is not answered", async () => {
    const answered = Promise.withResolvers<void>();
    let silent = false;
    using proxy = await PostgresProxy.to((await service).port, {
      asked: (text) => (silent && text.includes("current_setting('search_path')") ? answered.promise : undefined),
    });
    const url = new URL(proxy.url((await service).url));
    url.searchParams.set("schema", "silent");
    await using store = await openPostgresStore({ url: url.href, clock: systemClock });
    await store.joinOwners("w", TTL);
    silent = true;
    for (let beat = 0; beat < 3; beat += 1) assert.deepEqual(await store.heartbeat("w", TTL), new Set());
    answered.resolve();
  });

  test("a store that is closed has left the server", async () => {
    const client = await admin("closing");
    try {
      for (let round = 0; round < 5; round += 1) {
        const store = await open("closing");
        await store.joinOwners("w", TTL);
        await store.heartbeat("w", TTL);
        await store.close();
        // But for the connection that listens.
        const { rows } = await client.query(
          "SELECT query FROM pg_stat_activity WHERE application_name = 'orbweaver' AND query NOT LIKE '%AS control%'",
        );
        assert.deepEqual(rows, []);
      }
    } finally {
      await client.end();
    }
  });

  test("every method has a scope, and leases have none that waits", () => {
    for (const method of ["heartbeat", "recordHeartbeat", "releaseLane", "probe", "takeEngine"] as const)
      assert.equal(STORE_ACCESS[method], "row", method);
    for (const method of ["claim", "settle", "growRun", "enqueue", "startRun", "changeRun"] as const)
      assert.equal(STORE_ACCESS[method], "runs", method);
  });
});

/** A worker, and an engine that offers it a lane again as long as that has work. */
function workerOn(store: Store, owner: string, begin: Promise<void>) {
  let fetched = 0;
  const handler: TaskHandler = {
    strategy: "http",
    run: async () => {
      fetched += 1;
      await begin;
      return GOOD;
    },
  };
  const worker = new LaneWorker({
    store,
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
    rules: {
      maxPerSite: 2,
      minDelayMs: 0,
      breaker: { failures: 5, cooldownMs: 1000 },
      retry: { backoff: { baseMs: 1, maxMs: 1 }, maxAttempts: 1, retryAfterMaxMs: 1, rateLimitMaxWaits: 1 },
      maxPerResolver: {},
    },
    handlers: () => handler,
    maxWorkers: 8,
    gauge: { read: () => NO_STRAIN, stop: () => {} },
    probeRoom: async () => {},
    onOpened: () => {},
  });
  const work = async (lane: string) => {
    const ticket = {
      lane,
      owner,
      ttlMs: TTL,
      fence: new AbortController().signal,
      drain: new AbortController().signal,
      hurry: new AbortController().signal,
      changed: new Signal(),
      leaseHolds: () => true,
      yieldWanted: () => false,
      movesOn: () => false,
      offers: () => 0,
      controls: () => 0,
    };
    for (let end = await worker.work(ticket); end.more || end.wakeAt !== null; end = await worker.work(ticket))
      await new Promise((resolve) => setTimeout(resolve, 20));
  };
  return { worker, work, fetched: () => fetched };
}

const idOf = ({ created }: { created: { id: string } }) => created.id;

async function followFeed(store: Store, into: string[], done: { all: boolean }): Promise<void> {
  // Before the first event.
  let last = await store.alertCursor();
  for (let isLast = false; ;) {
    isLast = done.all;
    const { events, last: next } = await store.feed({ after: last, limit: 50 });
    into.push(...events.map(({ id }) => id));
    last = next;
    if (isLast && events.length === 0) return;
  }
}

async function readFeed(store: Store): Promise<string[]> {
  const ids: string[] = [];
  await followFeed(store, ids, { all: true });
  return ids;
}

async function followResults(store: Store, runId: string, into: string[], done: { all: boolean }): Promise<void> {
  let after: string | undefined;
  for (let isLast = false; ;) {
    isLast = done.all;
    const results = await store.results(runId, { ...(after === undefined ? {} : { after }), limit: 20 });
    into.push(...results.map(({ id }) => id));
    after = results.at(-1)?.id ?? after;
    if (isLast && results.length === 0) return;
    if (results.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A worker that takes lanes, claims and settles until no run has work. */
async function work(store: Store, owner: string, random: () => number, runs: readonly string[]): Promise<void> {
  await store.joinOwners(owner, TTL);
  let found = 0;
  const lanes = new Map<string, LaneGrant>();
  for (;;) {
    const states = await store.runStates(runs);
    if ([...states.values()].every((status) => status !== "running")) break;
    const offered = await store.lanesWithWork(owner);
    const pick = offered[Math.floor(random() * offered.length)];
    if (pick !== undefined && !lanes.has(pick.lane)) {
      const grant = await store.takeLane(pick.lane, owner, TTL);
      if (grant !== null) lanes.set(pick.lane, grant);
    }
    const batches = await Promise.all(
      [...lanes.values()].map(async (hold) => {
        const claim = await store.claim(hold, { limit: 1 + Math.floor(random() * 6) }, Date.now());
        return {
          hold,
          tasks: (claim?.tasks ?? []).map((task) => outcome(task, random, () => `${owner}-${(found += 1)}`)),
        };
      }),
    );
    const [, settled] = await Promise.all([store.heartbeat(owner, TTL), store.settle(batches, Date.now())]);
    assert.deepEqual(settled.lost, []);
    for (const [lane, hold] of lanes) {
      if (random() < 0.7) continue;
      await store.releaseLane(hold);
      lanes.delete(lane);
    }
  }
  for (const hold of lanes.values()) await store.releaseLane(hold);
}

function outcome(task: SettledTask["task"], random: () => number, name: () => string): SettledTask {
  const choice = random();
  const discovered = Array.from({ length: Math.floor(random() * 4) }, (): Discovered => {
    const site = Math.floor(random() * SITES);
    const key = name();
    return { key, url: `https://s${site}.example/${key}`, lane: laneOf(site), site: `s${site}.example`, depth: 1 };
  });
  const base = { task, attempt: attempt(task.tries + 1), report: { discovered } };
  if (choice < 0.1) return { ...base, verdict: FAILED };
  if (choice < 0.15 && task.tries < 2) return { ...base, verdict: retryAt(Date.now()) };
  if (choice < 0.2) return { task, attempt: null, verdict: HANDED_BACK };
  if (choice < 0.25) {
    const event = { type: "site.rate_limited", level: "warn", message: "slow down", meta: {} } as const;
    return { task, attempt: null, verdict: RATE_WAIT, laneEvents: [event] };
  }
  return { ...base, verdict: { ...DONE, results: [{ url: task.url }] } as SettledTask["verdict"] };
}
