import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createClient, type OrbweaverClient, type RunEvent } from "../../src/api-client/client.ts";
import { TERMINAL_RUN_STATES } from "../../src/domain/run/states.ts";
import { ENDED } from "../../src/api-client/wait.ts";
import type { Answer, Target } from "../chaos/target.ts";
import { openShop } from "../cli/site.ts";
import { TestServer } from "../jobs/kit.ts";
import { type Gate, openGate } from "./kit.ts";

describe("a program that follows runs with the client", () => {
  let server: TestServer;
  let shop: Target;
  /** Keeps its address while the server behind it is started again. */
  let gate: Gate;
  let client: OrbweaverClient;
  before(async () => {
    shop = await openShop();
    server = await TestServer.open();
    gate = await openGate(() => server.api.url);
    client = createClient({ url: gate.url });
  });
  after(async () => {
    await gate[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await shop[Symbol.asyncDispose]();
  });

  test("waits for a page, is told how it goes, and reads what was found", async () => {
    const states: string[] = [];
    const { id } = await client.runs.start({
      target_url: shop.url("/list"),
      items: "li.t",
      fields: { name: "a" },
    });
    const run = await client.waitForRun(id, { onProgress: ({ status }) => states.push(status) });
    assert.equal(run.status, "completed");
    assert.equal(states.at(-1), "completed");
    const names: unknown[] = [];
    for await (const { data } of client.runs.results(id, { limit: 1 })) names.push(data["name"]);
    assert.deepEqual(names, ["Thing 1", "Thing 2", "Thing 3"]);
    const csv = await client.open("get /jobs/runs/{run_id}/results", {
      params: { run_id: id },
      query: { format: "csv" },
    });
    assert.match(await csv.text(), /Thing 2/);
    // Who waits for what is over has it at once.
    assert.equal((await client.waitForRun(id)).id, id);
  });

  test("waits for a crawl and for a workflow", async () => {
    const { task_id: crawl } = await client.crawls.start({ url: shop.url("/list"), max_depth: 0 });
    assert.equal((await client.waitForCrawl(crawl)).status, "completed");
    assert.equal((await client.crawls.results(crawl).take()).length, 1);
    const flow = await client.workflows.create({
      name: "Flow",
      steps: [{ name: "w", task_type: "wait", params: { seconds: 0 } }],
    });
    assert.equal((await client.waitForWorkflow(flow.id)).status, "completed");
  });

  test("stops waiting when it is told to, or when it takes too long; the run goes on", async () => {
    const { id } = await client.runs.start({ target_url: shop.url("/never") });
    await assert.rejects(client.waitForRun(id, { timeoutMs: 50 }), { code: "timed_out" });
    const stop = new AbortController();
    const reason = new Error("enough");
    const waiting = client.waitForRun(id, { signal: stop.signal, onProgress: () => stop.abort(reason) });
    await assert.rejects(waiting, reason);
    const events = client.followRun(id, { signal: stop.signal });
    await assert.rejects(events.next(), reason);
    assert.ok(!TERMINAL_RUN_STATES.includes((await client.runs.get(id)).status));
    await client.runs.cancel(id);
    assert.equal((await client.waitForRun(id)).status, "cancelled");
  });

  test("follows a run over cut connections and a restart of the server: no event is lost, none comes twice [slow]", async () => {
    let release: (answer: Answer) => void = () => {};
    const script = shop.script;
    shop.script = (path, nth, request) =>
      path === "/late" ? new Promise<Answer>((resolve) => (release = resolve)) : script(path, nth, request);
    const { id } = await client.runs.start({ target_url: shop.url("/late") });
    const told: RunEvent[] = [];
    const followed = (async () => {
      for await (const event of client.followRun(id)) told.push(event);
    })();
    const seen: string[] = [];
    const waited = client.waitForRun(id, { onProgress: ({ status }) => seen.push(status) });
    await shop.when(() => shop.open === 1, "the page is asked for");
    while (told.length === 0 || seen.length === 0) await new Promise((resolve) => void setTimeout(resolve, 5));
    gate.cut();
    await server.stop();
    await server.start();
    await shop.when(() => shop.open === 1, "the page is asked for again");
    release({ headers: { "content-type": "text/html" }, body: "<h1>Late</h1>" });
    await followed;
    assert.equal((await waited).status, "completed");
    assert.deepEqual(
      told.map((event) => event.id),
      (await client.runs.events(id, { limit: 1000 })).map((event) => event.id),
    );
    shop.script = script;
  });

  test("hears what happens in all runs, and how everything is", async () => {
    const stop = new AbortController();
    const live = client.followLive({ signal: stop.signal });
    const first = await live.next();
    assert.ok(first.done === false && first.value.event === "hello" && first.value.id !== null);
    const { id } = await client.runs.start({ target_url: shop.url("/") });
    for await (const { event, data } of live) if (event === "run_event" && data.run_id === id) break;
    // Behind what was heard first.
    for await (const event of client.followAll({ lastEventId: first.value.id ?? "", signal: stop.signal }))
      if (event.run_id === id) break;
    for await (const { sites } of client.followSites({ signal: stop.signal })) {
      assert.ok(Array.isArray(sites));
      break;
    }
    await client.waitForRun(id);
  });

  test("is told when a stream cannot be, and gives up as often as it was told to", async () => {
    await assert.rejects(client.followRun("0197c3a1-5a2e-7c3f-9d52-1c8d5f1a2b3c").next(), { code: "not_found" });
    let isOpen = true;
    await using gate = await openGate(server.api.url, () => (isOpen ? undefined : "break"));
    const through = createClient({ url: gate.url });
    const lost: string[] = [];
    const events = through.followSites({ reconnects: 1, onDisconnect: ({ code }) => lost.push(code) });
    await events.next();
    isOpen = false;
    gate.cut();
    await assert.rejects(
      (async () => {
        for await (const _event of events);
      })(),
      { code: "unreachable" },
    );
    assert.deepEqual(lost, ["unreachable"]);
  });
});

test("the client knows the states in which a run has ended", () => {
  assert.deepEqual([...ENDED].toSorted(), [...TERMINAL_RUN_STATES].toSorted());
});
