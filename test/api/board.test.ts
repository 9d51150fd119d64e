import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Redis } from "ioredis";
import { chromium } from "playwright-core";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { TicketBoard } from "../../src/engine/bullmq/board.ts";
import { TicketClient } from "../../src/engine/bullmq/client.ts";
import { ticketId } from "../../src/engine/bullmq/names.ts";
import { lazyBoard } from "../../src/engine/lazy-board.ts";
import { BOARD_PATH } from "../../src/orchestrator/board.ts";
import { until } from "../chaos/orb.ts";
import { Scene } from "../contract/engine-kit.ts";
import { adminOf, bullmqHarness, noPriorities } from "../engine/bullmq-harness.ts";
import { PostgresBench } from "../store/postgres-bench.ts";
import { browserEnv, browserGate, chromiumPath } from "../support/browser-kit.ts";
import { startRedis, type TestService } from "../support/services.ts";
import { servicesGate } from "../support/services-kit.ts";
import { openTestApi, TOKEN } from "./kit.ts";

const LANE = "site:shop.example";
const withToken = { settings: { token: TOKEN } };
const bearer = { authorization: `Bearer ${TOKEN}` };

interface Queues {
  queues: {
    name: string;
    readOnlyMode: boolean;
    hasWorkers: boolean;
    counts: Record<string, number>;
    jobs: { id: string; name: string }[];
  }[];
}

/** Everything that is in Redis. */
async function dump(admin: Redis): Promise<Record<string, string>> {
  const keys = (await admin.keys("*")).toSorted();
  const values = await Promise.all(keys.map((key) => admin.dumpBuffer(key)));
  return Object.fromEntries(keys.map((key, n) => [key, values[n]?.toString("base64") ?? ""]));
}

/** A board over a Redis of its own, in which one lane has a ticket. */
async function openBoard(redis: TestService, ...lanes: string[]) {
  const options = { redisUrl: redis.url, prefix: "orb", clock: systemClock };
  const client = new TicketClient({ ...options, store: noPriorities, log: silentLog });
  // A busy machine may not have let Redis answer in time.
  await until(() => client.poke(lanes), "Redis has the tickets");
  const board = lazyBoard(async () => new TicketBoard({ ...options, basePath: BOARD_PATH }));
  return {
    board,
    client,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await board.close();
    },
  };
}

test("with one engine there is no board, and the answer says why", async (t) => {
  const served = await openTestApi(t, withToken);
  assert.equal((await served.get(BOARD_PATH)).status, 401);
  for (const path of [BOARD_PATH, `${BOARD_PATH}/api/queues`]) {
    const answer = await served.get(path, bearer);
    assert.equal(answer.status, 404);
    assert.match(answer.json<{ detail: string }>().detail, /tickets in Redis; with SQLite there are none/);
  }
});

describe("with Redis", servicesGate, () => {
  test("whoever has the token sees the tickets, everybody else nothing", async (t) => {
    await using redis = await startRedis();
    await using open = await openBoard(redis, LANE);
    const served = await openTestApi(t, { ...withToken, board: open.board });
    const page = await served.get(BOARD_PATH, bearer);
    assert.equal(page.status, 200);
    assert.match(String(page.headers["content-type"]), /^text\/html/);
    assert.match(page.text, /<base href="\/admin\/queues\/"/);
    assert.doesNotMatch(page.text, /<%|https?:|style=|<style/, "all of the page is ours, and nothing is inline");
    const policy = String(page.headers["content-security-policy"]);
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';.*base-uri 'self'/);
    assert.doesNotMatch(policy, /unsafe/);

    const files = [...page.text.matchAll(/(?:src|href)="(static\/[^"]+)"/g)].map(([, name]) => `${BOARD_PATH}/${name}`);
    assert.ok(files.some((file) => file.endsWith(".js")) && files.some((file) => file.endsWith(".css")), String(files));
    const data = [`${BOARD_PATH}/api/queues?activeQueue=sites`, `${BOARD_PATH}/api/redis/stats`];
    for (const path of [BOARD_PATH, `${BOARD_PATH}/queue/sites`, ...files, ...data]) {
      assert.equal((await served.get(path)).status, 401, path);
      assert.equal((await served.get(path, { authorization: "Bearer wrong" })).status, 401, path);
      assert.equal((await served.get(path, bearer)).status, 200, path);
    }
    const { queues } = (await served.get(data[0] ?? "", bearer)).json<Queues>();
    assert.deepEqual(
      queues.map(({ name, counts, jobs }) => [name, counts["prioritized"], jobs.map((job) => job.name)]),
      [
        ["sites", 1, [LANE]],
        ["steps", 0, []],
        ["times", 0, []],
      ],
    );
    for (const path of ["/static/../package.json", "/static/%2e%2e/%2e%2e/package.json", "/static", "/api/nothing"])
      assert.equal((await served.get(`${BOARD_PATH}${path}`, bearer)).status, 404, path);
  });

  test("a lane at work is shown as such, and is gone when it is done", async (t) => {
    await using redis = await startRedis();
    await using open = await openBoard(redis);
    const served = await openTestApi(t, { board: open.board });
    await using postgres = await PostgresBench.start(true);
    await using scene = await Scene.open(bullmqHarness(redis, postgres, "orb"));
    await scene.boot();
    const tickets = async (state: string) => {
      const answer = await served.get(`${BOARD_PATH}/api/queues?activeQueue=sites&status=${state}`);
      const [sites] = answer.json<Queues>().queues;
      return [sites?.counts[state], sites?.jobs.map(({ name }) => name), sites?.hasWorkers];
    };
    scene.hold("1");
    const run = await scene.submit({ [LANE]: ["1"] });
    await scene.begun("1");
    assert.deepEqual(await tickets("active"), [1, [LANE], true]);
    scene.release("1");
    await scene.completed(run, 1);
    await until(async () => (await tickets("active"))[0] === 0, "the ticket is gone");
    assert.deepEqual(await tickets("completed"), [0, [], true]);
  });

  test("nothing can be changed: the ways to do so are not there, and no button is offered", async (t) => {
    await using redis = await startRedis();
    using admin = adminOf(redis);
    await using open = await openBoard(redis, LANE);
    const served = await openTestApi(t, { ...withToken, board: open.board });
    const api = `${BOARD_PATH}/api/queues`;
    const { queues } = (await served.get(api, bearer)).json<Queues>();
    assert.deepEqual(
      queues.map(({ readOnlyMode }) => readOnlyMode),
      [true, true, true],
    );
    const before = await dump(admin);
    const id = ticketId(LANE);
    const writes: [string, string][] = [
      ["PUT", "/pause"],
      ["PUT", "/sites/pause"],
      ["PUT", "/sites/empty"],
      ["PUT", "/sites/obliterate"],
      ["PUT", "/sites/clean/waiting"],
      ["PUT", "/sites/retry/failed"],
      ["PUT", "/sites/promote"],
      ["POST", "/sites/add"],
      ["PUT", `/sites/${id}/promote`],
      ["PUT", `/sites/${id}/clean`],
      ["PATCH", `/sites/${id}/update-data`],
      ["DELETE", `/sites/${id}`],
    ];
    for (const [method, path] of writes) {
      assert.equal((await served.send(method, api + path, {})).status, 401, path);
      const refused = await served.send(method, api + path, {}, bearer);
      assert.equal(refused.status, 405, path);
      assert.equal(refused.headers["allow"], "GET, HEAD");
    }
    assert.deepEqual(await dump(admin), before);
  });

  test("its page works in a browser, under its policy, with nothing from elsewhere", browserGate, async (t) => {
    await using redis = await startRedis();
    await using open = await openBoard(redis, LANE);
    const served = await openTestApi(t, { ...withToken, board: open.board });
    await using browser = await chromium.launch({ executablePath: chromiumPath, env: browserEnv, timeout: 120_000 });
    const context = await browser.newContext({ httpCredentials: { username: "me", password: TOKEN } });
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    const complaints: string[] = [];
    const asked: string[] = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(`${served.url}${BOARD_PATH}/queue/sites`);
    await page.getByText(LANE).first().waitFor();
    // The one thing inline is the colours of a logo.
    assert.deepEqual(
      complaints.filter((text) => !text.startsWith("Applying inline style")),
      [],
    );
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(`${served.url}${BOARD_PATH}`)),
      [],
    );
    const buttons = await page.getByRole("button").allTextContents();
    assert.ok(!buttons.some((name) => /retry|promote|clean|pause|empty|obliterate|add/i.test(name)), String(buttons));
  });

  test("a Redis that is gone is told of, and the board works again when it is back", async (t) => {
    await using redis = await startRedis();
    await using open = await openBoard(redis, LANE);
    const served = await openTestApi(t, { board: open.board });
    const path = `${BOARD_PATH}/api/queues`;
    assert.equal((await served.get(path)).status, 200);
    await redis.stop();
    const away = await served.get(path);
    assert.equal(away.status, 503);
    assert.equal(away.json<{ code: string }>().code, "service_unavailable");
    assert.equal((await served.get(BOARD_PATH)).status, 200, "the page itself needs no Redis");
    await redis.start();
    await until(async () => (await served.get(path)).status === 200, "the board works again");
  });
});
