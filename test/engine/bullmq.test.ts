import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { createLog, silentLog } from "../../src/base/log.ts";
import { TicketClient } from "../../src/engine/bullmq/client.ts";
import { TicketProducer } from "../../src/engine/bullmq/ticket-producer.ts";
import { redisAt, refusalOf, requireRedis } from "../../src/engine/bullmq/redis.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { watchRedis } from "../../src/app/shared-means.ts";
import { until } from "../chaos/orb.ts";
import { Scene } from "../contract/engine-kit.ts";
import { newTask, refused } from "../contract/store/kit.ts";
import { PostgresBench } from "../store/postgres-bench.ts";
import { PostgresProxy } from "../store/postgres-proxy.ts";
import { startRedis } from "../support/services.ts";
import { servicesGate } from "../support/services-kit.ts";
import { adminOf, bullmqHarness, noPriorities } from "./bullmq-harness.ts";

const A = "site:a.example";
const B = "site:b.example";

test("a Redis is refused that is too old or would drop keys, and the refusal says what to do", () => {
  const fine = "# Server\r\nredis_version:7.0.15\r\n# Memory\r\nmaxmemory_policy:noeviction\r\n";
  assert.equal(refusalOf(fine), null);
  assert.equal(refusalOf(fine.replace("7.0.15", "6.2.0")), null);
  const old = refusalOf(fine.replace("7.0.15", "6.0.16"));
  assert.match(`${old?.message} ${old?.hint}`, /APP_REDIS_URL: Redis 6\.0\.16 is too old.*Use Redis 6\.2 or later/);
  const evicting = refusalOf(fine.replace("noeviction", "allkeys-lru"));
  assert.match(
    `${evicting?.message} ${evicting?.hint}`,
    /maxmemory-policy is allkeys-lru.*config set maxmemory-policy noeviction/,
  );
});

describe("Redis", servicesGate, () => {
  let postgres: PostgresBench;
  before(async () => {
    postgres = await PostgresBench.start(true);
  });
  after(() => postgres[Symbol.asyncDispose]());

  test("a worker does not start with a Redis that would drop keys, or without one, and says so", async () => {
    await using evicting = await startRedis(["--maxmemory-policy", "volatile-lru"]);
    const redis = redisAt(evicting.url);
    await assert.rejects(requireRedis(redis, systemClock, 120_000), (error) => isOrbError(error, "config_invalid"));
    redis.disconnect();
    await evicting.stop();
    const nobody = redisAt(evicting.url);
    await assert.rejects(requireRedis(nobody, systemClock, 3000), (error) => {
      assert.ok(isOrbError(error, "service_unavailable"));
      assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${evicting.port} cannot be used: .*ECONNREFUSED`));
      return true;
    });
    nobody.disconnect();
  });

  test("whoever is not let in is told at once, and what to do", async () => {
    await using service = await startRedis();
    const attempt = async (url: string, what: RegExp, patienceMs = 600_000) => {
      const redis = redisAt(url);
      await assert.rejects(requireRedis(redis, systemClock, patienceMs), (error) => {
        assert.ok(isOrbError(error), String(error));
        assert.match(`${error.code}: ${error.message}: ${error.hint}`, what);
        return true;
      });
      redis.disconnect();
    };
    const as = (user: string) => service.url.replace(/\/\/.*@/, `//${user}`);
    await attempt(as(""), /^service_unavailable: .*requires a password: .*redis:\/\/:PASSWORD@/);
    await attempt(as(":wrong@"), /^service_unavailable: .*rejected the user name and password: .*APP_REDIS_URL/);
    await attempt(new URL("/99", service.url).href, /^config_invalid: .*no database 99.*: Use a lower database number/);
    const secured = service.url.replace("redis://", "rediss://");
    await attempt(secured, /^service_unavailable: .*cannot be used: .*redis:\/\/ if it does not support TLS/, 3000);
    const said: string[] = [];
    const log = createLog({ level: "info", pretty: false, write: (line) => said.push(line) });
    const cluster = { databaseUrl: "", redisUrl: service.url.replace(/\/\/.*@/, "//") };
    await watchRedis({ cluster, clock: systemClock }, log);
    assert.match(said.join(""), /"warn".*Redis cannot be used: new work is accepted, but waits.*requires a password/);
  });

  test("ten thousand lanes, offered twice, are ten thousand small tickets; of those that were used nothing is left", async () => {
    await using service = await startRedis();
    using admin = adminOf(service);
    const redis = redisAt(service.url);
    const used = async () => Number(/used_memory:(\d+)/.exec(await admin.info("memory"))?.[1]);
    const before = await used();
    const producer = new TicketProducer({
      store: noPriorities,
      redis,
      prefix: "orb",
      clock: systemClock,
      log: silentLog,
    });
    const lanes = Array.from({ length: 10_000 }, (_, n) => `site:host-${n}.example`);
    const later = systemClock.now() + 3_600_000;
    for (const lane of lanes.slice(0, 100)) producer.offerAt(lane, later);
    assert.equal(await producer.issued(120_000), true);
    assert.equal(await producer.waiting(), 0);
    producer.offer(lanes);
    assert.equal(await producer.issued(120_000), true);
    const once = await used();
    producer.offer(lanes);
    await producer.issueMissing(lanes.map((lane) => ({ lane, readyAt: 0 })));
    assert.equal(await producer.issued(120_000), true);
    assert.equal(await producer.waiting(), 10_000);
    const twice = await used();
    const perLane = (once - before) / lanes.length;
    assert.ok(perLane < 1000, `a ticket takes ${perLane} bytes`);
    assert.ok(twice - once < 200_000, `offering again takes ${twice - once} bytes`);

    await admin.flushall();
    producer.offer(lanes.slice(0, 300));
    assert.equal(await producer.issued(120_000), true);
    await producer.close();
    redis.disconnect();
    await using scene = await Scene.open(bullmqHarness(service, postgres, "orb"));
    await scene.boot({ maxActiveLanes: 32 });
    const work = await scene.submit({ [A]: ["1"] });
    await scene.completed(work, 1);
    await until(
      async () => (await admin.zcard("orb:sites:prioritized")) + (await admin.llen("orb:sites:active")) === 0,
      "all tickets are used",
    );
    const left = (await admin.keys("orb:sites:*")).map((key) => key.slice("orb:sites:".length));
    assert.deepEqual(
      left.filter((key) => !["meta", "id", "events", "marker", "stalled-check"].includes(key)),
      [],
    );
  });

  test("while Redis is away what is owned goes on and submits are answered; then everything is found", async () => {
    await using service = await startRedis();
    await using scene = await Scene.open(bullmqHarness(service, postgres, "orb"));
    await scene.boot();
    await scene.boot();
    scene.hold("held");
    const run = await scene.submit({ [A]: ["held", "1"] });
    await scene.begun("held");
    await service.stop("SIGTERM");
    // More work for the lane that is owned, and for one that is not; nobody can be told.
    await scene.submit({ [B]: ["2"] });
    scene.release("held");
    await scene.completed(run, 2);
    await service.start();
    await scene.completed(run, 3);
    assert.equal(scene.began.length, 3);
    await scene.expectClean();
  });

  test("a Redis that hangs keeps nobody waiting who submits, and is used again when it goes on", async () => {
    await using service = await startRedis();
    await using scene = await Scene.open(bullmqHarness(service, postgres, "orb"));
    await scene.boot();
    const run = await scene.submit({ [A]: ["1"] });
    await scene.completed(run, 1);
    service.freeze();
    await scene.submit({ [A]: ["2"], [B]: ["3"] });
    service.thaw();
    await scene.completed(run, 3);
    await scene.expectClean();
  });

  test("work whose commit was not answered is begun at once: nobody could tell those who work, so the store does", async () => {
    await using service = await startRedis();
    await using scene = await Scene.open(bullmqHarness(service, postgres, "orb"));
    await scene.boot({ reconcileMs: 3_600_000 });
    const run = await scene.submit({ [A]: ["1"] });
    await scene.completed(run, 1);
    let lose = false;
    using line = await PostgresProxy.to(postgres.service.port, {
      asked(text, connection) {
        if (!lose || text !== "COMMIT") return;
        lose = false;
        connection.withhold();
        void connection.answer("COMMIT").then(() => connection.cut());
      },
    });
    const url = line.url(postgres.service.url);
    await using other = await openPostgresStore({ url, clock: systemClock });
    lose = true;
    await refused("database_unavailable", other.enqueue(run.id, [newTask("2", { lane: B })], systemClock.now()));
    await scene.completed(run, 2);
    await scene.expectClean();
  });

  test("a process that joins takes lanes over from those that have more than their share", async () => {
    await using service = await startRedis();
    await using scene = await Scene.open(bullmqHarness(service, postgres, "orb"));
    await scene.boot();
    const lanes = Array.from({ length: 6 }, (_, n) => `site:s${n}.example`);
    await scene.submit(
      Object.fromEntries(lanes.map((lane) => [lane, Array.from({ length: 400 }, (_, n) => `slow-${lane}-${n}`)])),
    );
    await until(() => new Set(scene.began.map(({ lane }) => lane)).size === 6, "the first has all of them");
    const second = await scene.boot();
    await until(() => {
      const theirs = scene.began.filter(({ pid }) => pid === second.pid).map(({ lane }) => lane);
      return new Set(theirs).size >= 3;
    }, "the second has half of them");
    await scene.expectClean();
  });

  test("steps of workflows stand in a line of their own, where they keep no site waiting", async () => {
    await using service = await startRedis();
    using admin = adminOf(service);
    const client = new TicketClient({
      store: noPriorities,
      redisUrl: service.url,
      prefix: "orb",
      clock: systemClock,
      log: silentLog,
    });
    const delivered = await client.poke(["step.11111111-1111-4111-8111-111111111111.1", A]);
    await client.close();
    assert.equal(delivered, true);
    assert.deepEqual([await admin.zcard("orb:steps:prioritized"), await admin.zcard("orb:sites:prioritized")], [1, 1]);
  });

  test("tickets stand in line by when they came and how urgent they are; nobody is forgotten when the numbers begin anew", async () => {
    await using service = await startRedis();
    using admin = adminOf(service);
    const redis = redisAt(service.url);
    const urgent: Record<string, number> = { [B]: 50, "site:low.example": -50 };
    const store = { lanePriorities: async (lanes: readonly string[]) => lanes.map((lane) => urgent[lane] ?? 0) };
    const turn = 2000 * 2 ** 20 * 1000;
    let now = turn - 20_000;
    const producer = new TicketProducer({
      store,
      redis,
      prefix: "orb",
      clock: { ...systemClock, now: () => now },
      log: silentLog,
    });
    const offer = async (...lanes: string[]) => {
      producer.offer(lanes);
      assert.equal(await producer.issued(120_000), true);
    };
    const inLine = async () =>
      Promise.all(
        (await admin.zrange("orb:sites:prioritized", "0", "-1")).map((id) => admin.hget(`orb:sites:${id}`, "name")),
      );
    await offer("site:low.example", A, B);
    assert.deepEqual(await inLine(), [B, A, "site:low.example"]);
    now += 10_000;
    await offer("site:new.example", A);
    assert.deepEqual(await inLine(), [B, A, "site:new.example", "site:low.example"]);
    urgent["site:low.example"] = 100;
    await offer("site:low.example");
    const before = ["site:low.example", B, A, "site:new.example"];
    assert.deepEqual(await inLine(), before);
    now = turn + 10_000;
    await offer("site:next.example");
    assert.deepEqual(await inLine(), ["site:next.example", ...before]);
    await producer.issueMissing([...before, "site:next.example"].map((lane) => ({ lane, readyAt: 0 })));
    assert.deepEqual(await inLine(), [...before, "site:next.example"]);
    await producer.close();
    redis.disconnect();
  });
});
