import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "undici";
import { createApi } from "../../src/api/server.ts";
import { failure } from "../../src/domain/run/failure.ts";
import type { Overview } from "../../src/orchestrator/live/overview.ts";
import type { WorkSeries } from "../../src/orchestrator/live/counted.ts";
import { TestServer as Server } from "../jobs/kit.ts";
import { newTask } from "../contract/store/kit.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { openBackstage, openTestApi } from "./kit.ts";

interface Told {
  id: string | null;
  event: string;
  data: Record<string, unknown>;
}

/** Reads a stream event by event, as a browser does: what has no id leaves the last one as it was. */
async function listen(url: string, lastEventId = "") {
  const headers = lastEventId === "" ? {} : { "last-event-id": lastEventId };
  const { statusCode, body } = await request(`${url}/live/stream`, { headers });
  assert.equal(statusCode, 200);
  body.on("error", () => {});
  const pieces = body.setEncoding("utf8")[Symbol.asyncIterator]();
  let text = "";
  let last = lastEventId;
  const next = async (): Promise<Told> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end < 0) {
        const piece = await pieces.next();
        assert.ok(piece.done !== true, "the stream goes on");
        text += piece.value as string;
        continue;
      }
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const field = (name: string) =>
        block
          .split("\n")
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const [id, event, data] = [field("id"), field("event"), field("data")];
      if (id !== undefined) last = id;
      if (event !== undefined && data !== undefined) return { id: id ?? null, event, data: JSON.parse(data) };
    }
  };
  return {
    get last() {
      return last;
    },
    next,
    async until(isIt: (told: Told) => boolean): Promise<Told> {
      for (;;) {
        const told = await next();
        if (isIt(told)) return told;
      }
    },
    close: () => void body.destroy(),
  };
}

const isRunEvent = (message: string, run: string) => (told: Told) =>
  told.event === "run_event" && told.data["message"] === message && told.data["run_id"] === run;

describe("the overview", () => {
  test("of a new installation shows nothing, and why nothing is begun", async (t) => {
    const server = await openTestApi(t);
    const { status, json } = await server.get("/overview");
    assert.equal(status, 200);
    const seen = json<Overview & { series: WorkSeries }>();
    assert.deepEqual(seen.pages_per_second, { good: 0, bad: 0 });
    assert.deepEqual([seen.in_flight, seen.queued, seen.success_rate, seen.oldest_queued_at], [0, 0, null, null]);
    assert.equal(seen.standstill?.reason, "no_worker");
    assert.deepEqual([seen.series.first_at, seen.series.good], [null, []]);
  });

  test("tells what waits, what failed and which sites are in trouble", async (t) => {
    const server = await openTestApi(t);
    const started = await server.store.startRun(
      { kind: "download", name: "files", maxAttempts: 1, snapshot: {} },
      [newTask("good"), newTask("bad"), newTask("later", { lane: "site:b.example" })],
      Date.now(),
    );
    await server.work("site:a.example", (key) =>
      key === "good"
        ? { kind: "completed", artifacts: [], results: [], detail: null }
        : { kind: "failed", failure: failure("http_not_found", "there is no such page") },
    );
    await server.send("POST", "/sites/b.example/pause");
    const seen = (await server.get("/overview")).json<Overview>();
    assert.equal(seen.queued, 1);
    assert.ok(seen.oldest_queued_at !== null);
    assert.deepEqual(
      seen.active_runs.map(({ id, name, counts }) => [id, name, counts.queued, counts.completed, counts.failed]),
      [[started.created.id, "files", 1, 1, 1]],
    );
    assert.deepEqual(
      seen.failures.map(({ failure_reason, count, example }) => [failure_reason, count, example.run_id, example.url]),
      [["http_not_found", 1, started.created.id, "https://a.example/bad"]],
    );
    assert.deepEqual(
      seen.troubled_sites.map(({ site, trouble, waiting }) => [site, trouble, waiting]),
      [["b.example", "paused", 1]],
    );
    assert.equal(seen.sites.paused, 1);
  });

  test("counts who stands by apart from those that work", async (t) => {
    const server = await openTestApi(t);
    const about = { machine: "m", version: "1", command: "worker", maxWorkers: 4, heartbeatMs: 60_000 };
    const quiet = { engine: "embedded", inFlight: 0, completed: 0, failed: 0, tasksPerSecond: 0, memoryBytes: 0 };
    const lists = { paused: null, troubles: [], attempts: [], active: [] };
    for (const [id, role] of [
      ["a", "engine"],
      ["b", "standby"],
    ] as const) {
      const identity = { boot: "b", pid: 1, pidStart: "1" };
      await server.store.registerWorker({ id, ...about, identity }, Date.now());
      await server.store.recordHeartbeat(id, "working", { ...quiet, ...lists, role }, Date.now());
    }
    const { workers } = (await server.get("/overview")).json<Overview>();
    const none = { draining: 0, drained: 0, lost: 0, in_flight: 0 };
    assert.deepEqual(workers, { working: 1, standby: 1, ...none, capacity: 4 });
  });

  test("does not guess how fast a run is whose time nobody counts", async (t) => {
    const clock = new FakeClock();
    const server = openBackstage(t, { clock });
    t.after(() => server.close());
    const { live, store } = server.deps;
    const tasks = Array.from({ length: 40 }, (_, index) => newTask(`page-${index}`));
    await store.startRun({ kind: "download", maxAttempts: 1, snapshot: {} }, tasks, clock.now());
    await store.takeEngine({ id: "w", boot: "b", pid: 1, pidStart: "1", address: "x" }, 6_000_000);
    const grant = (await store.takeLane("site:a.example", "w", 6_000_000))!;
    const claim = await store.claim(grant, { limit: 30 }, clock.now());
    const verdict = { kind: "completed", artifacts: [], results: [], detail: null } as const;
    await clock.advance(3_600_000);
    const settled = claim!.tasks.map((task) => ({ task, verdict, attempt: null }));
    await store.settle([{ hold: grant, tasks: settled }], clock.now());
    const [run] = (await live.overview()).active_runs;
    assert.deepEqual([run?.counts.completed, run?.per_second, run?.eta_seconds], [30, 0, null]);
  });

  test("a pause is none of a run's pace, and none of the time that it still takes", async (t) => {
    const clock = new FakeClock();
    const server = openBackstage(t, { clock });
    t.after(() => server.close());
    const { live, store } = server.deps;
    const tasks = Array.from({ length: 40 }, (_, index) => newTask(`page-${index}`));
    const { created } = await store.startRun({ kind: "download", maxAttempts: 1, snapshot: {} }, tasks, clock.now());
    await store.takeEngine({ id: "w", boot: "b", pid: 1, pidStart: "1", address: "x" }, 6_000_000);
    const grant = (await store.takeLane("site:a.example", "w", 6_000_000))!;
    const claimed = (await store.claim(grant, { limit: 40 }, clock.now()))!.tasks;
    const verdict = { kind: "completed", artifacts: [], results: [], detail: null } as const;
    const look = async () => {
      await clock.advance(1000);
      return (await live.overview()).active_runs[0];
    };
    const work = async (count: number) => {
      const settled = claimed.splice(0, count).map((task) => ({ task, verdict, attempt: null }));
      await store.settle([{ hold: grant, tasks: settled }], clock.now());
      return look();
    };
    await look();
    const begun = await work(10);
    assert.deepEqual([begun?.per_second, begun?.eta_seconds], [10, 3]);
    await store.changeRun(created.id, "paused", "Run paused", clock.now());
    const paused = await look();
    assert.deepEqual([paused?.status, paused?.eta_seconds], ["paused", null]);
    await clock.advance(600_000);
    await store.changeRun(created.id, "running", "Run resumed", clock.now());
    await look();
    const resumed = await work(10);
    assert.deepEqual([resumed?.per_second, resumed?.eta_seconds], [10, 2]);
  });

  test("has the pace of the last hour, counted while nobody looks", async (t) => {
    const clock = new FakeClock();
    const server = openBackstage(t, { clock });
    t.after(() => server.close());
    const { live, store } = server.deps;
    const began = clock.now();
    live.start();
    t.after(() => live.stop());
    const api = await createApi(server.deps);
    t.after(() => api.close());
    const tasks = Array.from({ length: 40 }, (_, index) => newTask(`page-${index}`));
    await store.startRun({ kind: "download", maxAttempts: 1, snapshot: {} }, tasks, clock.now());
    await clock.advance(20_000);
    await store.takeEngine({ id: "w", boot: "b", pid: 1, pidStart: "1", address: "x" }, 600_000);
    const grant = (await store.takeLane("site:a.example", "w", 600_000))!;
    const claim = await store.claim(grant, { limit: 30 }, clock.now());
    const settled = claim!.tasks.map((task, index) => ({
      task,
      verdict:
        index < 20
          ? ({ kind: "completed", artifacts: [], results: [], detail: null } as const)
          : ({ kind: "failed", failure: failure("http_not_found", "gone") } as const),
      attempt: null,
    }));
    await store.settle([{ hold: grant, tasks: settled }], clock.now());
    await clock.advance(30_000);
    const { series, success_rate, recent_pages } = (await api.inject({ url: "/overview" })).json<
      Overview & { series: WorkSeries }
    >();
    assert.equal(series.step_seconds, 10);
    assert.ok(Date.parse(series.first_at ?? "") >= began - 10_000);
    const sum = (list: readonly (number | null)[]) => list.reduce<number>((total, value) => total + (value ?? 0), 0);
    assert.deepEqual([sum(series.good), sum(series.bad)], [2, 1], "twenty and ten in ten seconds");
    assert.equal(series.queued.at(-1), 10);
    assert.equal(success_rate, 0.667);
    assert.deepEqual(recent_pages, { good: 20, bad: 10 });
    const sites = live.siteSeries();
    assert.deepEqual([...sites.keys()], ["a.example"]);
    assert.deepEqual([sites.get("a.example")?.step_seconds, sites.get("a.example")?.good.length], [60, 1]);
    const answer = await api.inject({ url: "/sites/series?site=a.example" });
    assert.equal(sum(answer.json<Record<string, WorkSeries>>()["a.example"]!.good), 2);
    assert.deepEqual([...live.siteSeries("unknown.example")], []);
  });
});

describe("the live stream", () => {
  test("begins with all there is, then tells what changes; only events of runs have ids", async (t) => {
    const server = await openTestApi(t);
    const stream = await listen(server.url);
    t.after(stream.close);
    const first: Told[] = [];
    while (first.length < 5) first.push(await stream.next());
    assert.deepEqual(first.map(({ event }) => event).toSorted(), ["hello", "overview", "runs", "sites", "workers"]);
    assert.ok(first.every(({ event, id }) => (id !== null) === (event === "hello")));
    const { created } = await server.store.startRun(
      { kind: "page", name: "one", maxAttempts: 1, snapshot: {} },
      [newTask("one")],
      Date.now(),
    );
    const event = await stream.until(isRunEvent("Run created", created.id));
    assert.equal(event.id, event.data["id"]);
    const runs = await stream.until(({ event }) => event === "runs");
    assert.deepEqual(
      (runs.data["runs"] as { id: string; status: string }[]).map(({ id, status }) => [id, status]),
      [[created.id, "queued"]],
    );
    await server.send("POST", `/jobs/runs/${created.id}/cancel`);
    const told = await stream.until(
      ({ event, data }) => event === "runs" && (data["runs"] as { status: string }[])[0]?.status === "cancelled",
    );
    assert.equal((told.data["runs"] as { id: string }[])[0]?.id, created.id, "its end is told, too");
  });

  test("refuses to begin behind something that is no event", async (t) => {
    const server = await openTestApi(t);
    assert.equal((await server.get("/live/stream?last_event_id=garbage")).status, 422);
  });

  test("looks once for any number of watchers, and not at all for nobody", async (t) => {
    let looks = 0;
    const server = await openTestApi(t, {
      store: (store) => ({
        ...store,
        countActiveRuns: () => {
          looks += 1;
          return store.countActiveRuns();
        },
      }),
    });
    const begun = performance.now();
    const streams = await Promise.all(Array.from({ length: 20 }, () => listen(server.url)));
    for (const stream of streams) await stream.until(({ event }) => event === "overview");
    const seconds = Math.ceil((performance.now() - begun) / 1000);
    assert.ok(looks <= 1 + seconds, `${looks} looks for the first ${seconds} s of 20 watchers`);
    for (const stream of streams) stream.close();
    const open = async () => Number(/^orb_http_open_streams (\d+)/m.exec((await server.get("/metrics")).text)?.[1]);
    while ((await open()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const before = looks;
    await new Promise((resolve) => setTimeout(resolve, 1200));
    assert.equal(looks, before);
  });

  test("goes on behind what was seen after the server was started again: no event is lost or told twice [slow]", async () => {
    await using server = await Server.open({}, { worker: false });
    const begin = async (path: string) => (await server.begin({ target_url: `http://127.0.0.1:1/${path}` })).id;
    const stream = await listen(server.api.url);
    await stream.until(({ event }) => event === "hello");
    const quiet = stream.last;
    const first = await begin("first");
    await stream.until(isRunEvent("Run created", first));
    const seen = stream.last;
    stream.close();
    const missed = await begin("missed");
    await server.stop();
    await server.start({ worker: false });
    const later = await begin("later");
    for (const [from, runs] of [
      [seen, [missed, later]],
      [quiet, [first, missed, later]],
    ] as const) {
      const again = await listen(server.api.url, from);
      const told: unknown[] = [];
      while (told.length < runs.length) {
        const { data } = await again.until(({ event }) => event === "run_event");
        if (data["message"] === "Run created") told.push(data["run_id"]);
      }
      assert.deepEqual(told, runs);
      const now = await begin("now");
      await again.until(isRunEvent("Run created", now));
      again.close();
    }
  });

  test("a reader that comes back while others read gets everything once, from the store and then with the others", async (t) => {
    const server = await openTestApi(t);
    const { created } = await server.store.startRun(
      { kind: "download", maxAttempts: 1, snapshot: {} },
      [newTask("one")],
      Date.now(),
    );
    const from = (await server.store.feed({ limit: 0 })).last;
    const flip = async (count: number) => {
      for (let n = 0; n < count; n += 1)
        await server.store.changeRun(created.id, n % 2 === 0 ? "paused" : "running", `flip ${n}`, Date.now());
    };
    await flip(450);
    const other = await listen(server.url);
    await other.until(({ event }) => event === "hello");
    const stream = await listen(server.url, from);
    const messages: unknown[] = [];
    const reading = (async () => {
      while (messages.length < 900)
        messages.push((await stream.until(({ event }) => event === "run_event")).data["message"]);
    })();
    await flip(450);
    await reading;
    const expected = Array.from({ length: 450 }, (_, n) => `flip ${n}`);
    assert.deepEqual(messages, [...expected, ...expected]);
    await other.until(isRunEvent("flip 449", created.id));
    other.close();
    stream.close();
  });
});
