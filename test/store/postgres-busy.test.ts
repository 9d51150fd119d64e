import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { seededRandom } from "../../src/base/random.ts";
import { Signal } from "../../src/base/signal.ts";
import type { TaskHandler } from "../../src/lanes/handlers/handler.ts";
import { LaneWorker } from "../../src/lanes/worker.ts";
import { DEPLOYMENT_LOCK } from "../../src/store/postgres/connection.ts";
import { LIMITS } from "../../src/store/postgres/limits.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { LANE, newTask } from "../contract/store/kit.ts";
import { GOOD, NO_STRAIN } from "../lanes/workshop.ts";
import { servicesGate } from "../support/services-kit.ts";
import { startPostgres, type TestService } from "../support/services.ts";

const OWNER = "w";
/** A little more than a lock is waited for. */
const TTL = LIMITS.lock_timeout + 5000;
const PAGES = 60;

describe("a database that is locked for longer than a lock is waited for", servicesGate, () => {
  let service: TestService;
  before(async () => void (service = await startPostgres()));
  after(async () => service[Symbol.asyncDispose]());

  test("work pauses and says so, the worker keeps its lease, and goes on by itself [slow]", async (t) => {
    await using store = await openPostgresStore({ url: service.url, clock: systemClock });
    const admin = new pg.Client({ connectionString: service.url });
    await admin.connect();
    t.after(() => admin.end());
    let fetched = 0;
    const some = Promise.withResolvers<void>();
    const handler: TaskHandler = {
      strategy: "http",
      run: async () => {
        fetched += 1;
        if (fetched === 5) some.resolve();
        await wait(20);
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
      maxWorkers: 4,
      gauge: { read: () => NO_STRAIN, stop: () => {} },
      probeRoom: async () => {},
      onOpened: () => {},
    });
    t.after(() => worker.stop());
    await store.joinOwners(OWNER, TTL);
    const tasks = Array.from({ length: PAGES }, (_, index) => newTask(`page-${index}`));
    const { created } = await store.startRun({ kind: "queue", maxAttempts: 1, snapshot: {} }, tasks, Date.now());
    const ticket = {
      lane: LANE,
      owner: OWNER,
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
    // As an engine does it: a lane with work is offered again.
    const work = async () => {
      for (let end = await worker.work(ticket); end.more || end.wakeAt !== null; end = await worker.work(ticket))
        await wait(20);
    };
    const working = work();
    await some.promise;
    await admin.query("BEGIN");
    await admin.query(`SELECT pg_advisory_xact_lock(${DEPLOYMENT_LOCK}, hashtext('orbweaver'))`);
    // Time is the subject: the server ends the wait after a quarter of a minute.
    while (worker.paused === null) {
      assert.notEqual(await store.heartbeat(OWNER, TTL), null, "it keeps its lease");
      await wait(200);
    }
    assert.match(worker.paused, /the database was locked for too long/);
    // For longer than a lease lasts, and the probe, which waits for nobody, lets it try again and again.
    const until = performance.now() + TTL;
    while (performance.now() < until) {
      assert.equal((await store.heartbeat(OWNER, TTL))?.size, 1, "and its lane");
      await wait(200);
    }
    await admin.query("ROLLBACK");
    await working;
    assert.equal(worker.paused, null);
    assert.equal((await store.run(created.id))?.status, "completed");
    assert.equal((await store.results(created.id, { limit: PAGES * 2 })).length, PAGES);
    assert.ok(fetched <= PAGES, `${fetched} pages were fetched: none twice`);
    assert.deepEqual((await store.audit()).findings, []);
  });
});
