import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { gate } from "../support/gate.ts";
import { assertStored, Orb, report, until } from "./orb.ts";
import { bodyOf, Target } from "./target.ts";

/** What a user might write, good and bad, in a module of TypeScript with types and an import of its own. */
const MODULE = `
import { createHash } from "node:crypto";

interface Item { artifact_id: string; url: string; payload: any; attempt: number; resolver: string | null; priority: number }

const hoard: unknown[] = [];

export const handlers = {
  async page(item: Item, ctx: any) {
    const page = await ctx.fetch(item.url, { headers: { "x-asked-by": "a handler" } });
    const text = new TextDecoder().decode(page.body);
    return { status: page.status, type: page.headers["content-type"], sum: createHash("md5").update(text).digest("hex"), payload: item.payload };
  },
  async file(item: Item, ctx: any) {
    const file = await ctx.download();
    return { size: file.size, hash: file.hash };
  },
  async made(item: Item, ctx: any) {
    await ctx.save(new TextEncoder().encode("made of " + item.artifact_id), { content_type: "text/plain" });
  },
  skips: () => ({ skip: "not needed today" }),
  nothing: () => undefined,
  async missing(item: Item, ctx: any) { await ctx.download(); },
  later(item: Item) { if (item.attempt < 3) throw new Error("not yet"); return { attempt: item.attempt }; },
  secrets: () => ({ env: Object.keys(process.env).filter((name) => name.startsWith("APP_")) }),

  throws() { throw new Error("this one is broken"); },
  throwsLater() { return new Promise(() => { setTimeout(() => { throw new Error("out of band"); }, 10); }); },
  rejectsUnheard() { Promise.reject(new Error("nobody listens")); return new Promise(() => {}); },
  throwsOdd() { throw null; },
  refuses() { throw Object.assign(new Error("will never work"), { retry: false }); },
  circle() { const a: any = {}; a.self = a; return a; },
  loops: { timeoutSeconds: 0.3, run() { for (;;); } },
  neverEnds: { timeoutSeconds: 0.5, run: () => new Promise(() => {}) },
  redos: { timeoutSeconds: 0.3, run: () => /^(a+)+$/.test("a".repeat(50) + "!") },
  exits() { process.exit(0); },
  hoards() { for (;;) hoard.push(new Array(10_000).fill(hoard.length).map(String)); },
  hoardsBuffers: { timeoutSeconds: 200, run() { for (;;) hoard.push(Buffer.alloc(16 * 1024 * 1024, 1)); } },
  floods: { timeoutSeconds: 0.5, run(item: Item, ctx: any) { for (;;) ctx.log.info("x".repeat(5000)); } },
  floodsConsole: { timeoutSeconds: 0.5, async run() { for (;;) { console.log("y".repeat(5000)); await new Promise(setImmediate); } } },
  chatters(item: Item, ctx: any) { for (let n = 0; n < 20_000; n += 1) ctx.log.warn("line " + n); return { said: 20_000 }; },
};
`;

const GOOD_ITEMS = 30;
const ON_LINUX = gate("processes of handlers", process.platform === "linux", "it looks for them in /proc");

interface Bad {
  handler: string;
  reason: string;
  attempts: number;
}

const BAD: readonly Bad[] = [
  { handler: "throws", reason: "handler_threw", attempts: 2 },
  { handler: "throwsLater", reason: "handler_threw", attempts: 2 },
  { handler: "rejectsUnheard", reason: "handler_threw", attempts: 2 },
  { handler: "throwsOdd", reason: "handler_threw", attempts: 2 },
  { handler: "circle", reason: "handler_bad_result", attempts: 1 },
  { handler: "refuses", reason: "handler_refused", attempts: 1 },
  { handler: "loops", reason: "handler_timeout", attempts: 2 },
  { handler: "neverEnds", reason: "handler_timeout", attempts: 2 },
  { handler: "redos", reason: "handler_timeout", attempts: 2 },
  { handler: "exits", reason: "handler_exited", attempts: 2 },
  { handler: "hoards", reason: "handler_out_of_memory", attempts: 2 },
  { handler: "hoardsBuffers", reason: "handler_out_of_memory", attempts: 2 },
  { handler: "floods", reason: "handler_timeout", attempts: 2 },
  { handler: "floodsConsole", reason: "handler_timeout", attempts: 2 },
  { handler: "unknownName", reason: "handler_missing", attempts: 1 },
];

function environment(orb: Orb): Record<string, string> {
  return { APP_HANDLERS: orb.file("handlers.ts", MODULE) };
}

describe("a user's own handlers", () => {
  test("leave no process behind when the engine is killed, even in the middle of a loop", ON_LINUX, async () => {
    await using target = await Target.start(1);
    await using orb = new Orb();
    const env = {
      APP_HANDLERS: orb.file(
        "loop.ts",
        'export const handlers = { busy: (_, ctx) => { ctx.log.info("at it"); for (;;); } };',
      ),
    };
    await orb.import([{ artifact_id: "busy", url: target.url("/"), handler: "busy" }]);
    const engine = orb.start(["queue", "run"], { env });
    await engine.said("at it");
    assert.ok(handlerProcesses(orb).length > 0);
    await engine.killed();
    await until(() => handlerProcesses(orb).length === 0, "the handler's process is gone");
  });

  test("fetch, download, save, skip, and give records", async () => {
    await using target = await Target.start(1);
    await using orb = new Orb({ APP_SECRET_KEY: "0123456789abcdef0123456789abcdef" });
    const env = environment(orb);
    const headers: string[] = [];
    target.script = (path, nth, request) => {
      if (path === "/page") headers.push(String(request.headers["x-asked-by"]));
      if (path === "/missing") return { status: 404, body: "no" };
      if (path === "/flaky" && nth === 1) return { status: 500, body: "try again" };
      if (path === "/limited" && nth === 1) return { status: 429, body: "later", headers: { "retry-after": "1" } };
      return { body: bodyOf(path) };
    };
    await orb.import(
      ["page", "file", "made", "skips", "nothing", "missing", "later", "secrets"].map((handler) => ({
        artifact_id: handler,
        url: target.url(`/${handler}`),
        handler,
        payload: { for: handler },
      })),
    );
    await orb.import(
      ["flaky", "limited"].map((name) => ({ artifact_id: name, url: target.url(`/${name}`), handler: "file" })),
    );
    await orb.import([{ artifact_id: "plain", url: target.url("/plain") }]);
    const { code, stderr } = await orb.run(["queue", "run", "--drain"], { env });
    assert.equal(code, 3, stderr);
    const items = await orb.items();
    const of = (name: string) => items.get(name) ?? assert.fail(`${name} is lost`);

    const [record] = of("page").results as Record<string, unknown>[];
    assert.deepEqual([record?.["status"], record?.["type"], record?.["payload"]], [200, "text/plain", { for: "page" }]);
    assert.deepEqual(headers, ["a handler"]);
    assertStored(of("file"), bodyOf("/file"), "file");
    assert.equal((of("file").results[0] as { hash: string }).hash, of("file").files[0]?.hash);
    assertStored(of("made"), "made of made", "made");
    assertStored(of("plain"), bodyOf("/plain"), "an item without a handler is downloaded");
    assert.deepEqual([of("skips").state, (await orb.show("skips")).message], ["skipped", "not needed today"]);
    assert.deepEqual([of("nothing").state, of("nothing").results], ["completed", []]);
    assert.deepEqual(
      [of("missing").state, of("missing").failure, of("missing").attempts],
      ["failed", "http_not_found", 1],
    );
    assert.deepEqual(
      [of("later").state, of("later").results, of("later").attempts],
      ["completed", [{ attempt: 3 }], 3],
    );
    // Server errors reach the engine through the handler: a 500 is retried, a 429 costs no attempt.
    assertStored(of("flaky"), bodyOf("/flaky"), "flaky");
    assert.equal(of("flaky").tries, 2);
    assertStored(of("limited"), bodyOf("/limited"), "limited");
    assert.equal(of("limited").tries, 1);
    assert.deepEqual(of("secrets").results, [{ env: [] }], "the configuration is not theirs to read");
    assert.equal((await orb.show("page")).history[0]?.strategy, "handler:page");
    await orb.audit();
  });

  test("that misbehave fail alone, each with its reason, while all others finish and the engine keeps its lease", async () => {
    await using target = await Target.start(2);
    await using orb = new Orb({ APP_DEFAULT_MAX_ATTEMPTS: "2", APP_LEASE_TTL_SECONDS: "20", APP_MAX_PER_HOST: "6" });
    const env = environment(orb);
    target.latencyMs = 10;
    const good = Array.from({ length: GOOD_ITEMS }, (_, index) => `good${index}`);
    await orb.import([
      ...BAD.map(({ handler }) => ({ artifact_id: handler, url: target.url(`/${handler}`), handler, priority: 1 })),
      { artifact_id: "chatters", url: target.url("/chatters"), handler: "chatters", priority: 1 },
      // Half of them share the bad ones' site, half of them their module.
      ...good.map((name, index) => ({
        artifact_id: name,
        url: target.url(`/${name}`, index % 2),
        ...(index % 3 === 0 ? {} : { handler: "file" }),
      })),
    ]);
    const engine = orb.start(["queue", "run", "--drain"], { env });
    await engine.said("working on the queue");
    const standby = orb.start(["queue", "run", "--drain"], { env });
    await standby.said("standing by");
    const began = Date.now();
    const ends = [await engine.end(250_000), await standby.end()];
    const took = Date.now() - began;
    for (const { code, stderr } of ends) assert.equal(code, 3, stderr.slice(-3000));
    // The standby may take over once the engine has left, and not before.
    const finished = Math.max(...(await orb.list()).map((item) => Date.parse(item.finished_at ?? "")));
    const tookOver = standby.loggedAt("working on the queue") ?? Number.POSITIVE_INFINITY;
    assert.ok(tookOver >= finished, "the engine renewed its lease all the time");
    assert.ok(!engine.stderr.includes("lost the engine"));

    const items = await orb.items();
    const wrong = BAD.flatMap(({ handler, reason, attempts }) => {
      const item = items.get(handler);
      const is = [item?.state, item?.failure, item?.attempts];
      return JSON.stringify(is) === JSON.stringify(["failed", reason, attempts]) ? [] : [`${handler}: ${is.join(" ")}`];
    });
    assert.deepEqual(wrong, []);
    for (const name of good) {
      assertStored(items.get(name), bodyOf(`/${name}`), name);
      assert.equal(items.get(name)?.attempts, 1, `${name} paid for nobody else`);
    }
    assert.deepEqual(items.get("chatters")?.results, [{ said: 20_000 }]);
    const lines = engine.stderr.split("\n").filter((line) => line.includes('"handler":"chatters"')).length;
    assert.ok(lines > 0 && lines <= 201, `${lines} lines of a flood reached the log`);
    assert.equal(target.repeats, 0);
    await orb.audit();
    report("bad handlers", { "ms for all": took, "log bytes": engine.stderr.length, "lines kept of a flood": lines });
  });

  test("that hang are handed back at no cost when the process has to stop", async () => {
    await using target = await Target.start(1);
    await using orb = new Orb({ APP_SHUTDOWN_GRACE_SECONDS: "0.5" });
    const source = `
      export const handlers = {
        hangs: (item, ctx) => item.payload.hang ? new Promise((resolve) => { ctx.log.info("hanging " + item.artifact_id); }) : { ok: true },
        busy: (item, ctx) => { ctx.log.info("hanging " + item.artifact_id); for (;;); },
      };`;
    const hanging = { APP_HANDLERS: orb.file("hang.ts", source) };
    const mended = {
      APP_HANDLERS: orb.file("mended.ts", "export const handlers = { hangs: () => 1, busy: () => 2 };"),
    };
    await orb.import(
      ["hangs", "busy"].map((handler) => ({
        artifact_id: handler,
        url: target.url(`/${handler}`),
        handler,
        payload: { hang: true },
      })),
    );
    const engine = orb.start(["queue", "run", "--drain"], { env: hanging });
    for (const name of ["hangs", "busy"]) await engine.said(`hanging ${name}`);
    engine.kill("SIGTERM");
    const { code, stderr } = await engine.end();
    assert.equal(code, 0, stderr);
    for (const name of ["hangs", "busy"]) {
      const item = await orb.show(name);
      assert.deepEqual([item.status, item.history], ["queued", []], name);
    }
    assert.equal((await orb.run(["queue", "run", "--drain"], { env: mended })).code, 0);
    await orb.audit();
  });

  test("finish what they have when a stop reaches all processes of the group", ON_LINUX, async () => {
    await using target = await Target.start(1);
    await using orb = new Orb();
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    target.script = async (path) => {
      await released;
      return { body: bodyOf(path) };
    };
    await orb.import([{ artifact_id: "slow", url: target.url("/slow"), handler: "file" }]);
    const engine = orb.start(["queue", "run"], { env: environment(orb) });
    await target.when(() => target.open === 1, "the handler waits for its file");
    for (const pid of handlerProcesses(orb)) process.kill(pid, "SIGINT");
    engine.kill("SIGINT");
    await engine.said("stopping");
    release();
    assert.equal((await engine.end()).code, 0);
    const slow = (await orb.items()).get("slow");
    assertStored(slow, bodyOf("/slow"), "slow");
    assert.equal(slow?.attempts, 1);
    await orb.audit();
  });
});

/** Processes that have this installation's module in their command line, the engine itself not being one of them. */
function handlerProcesses(orb: Orb): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return words.some((word) => word.startsWith(orb.dir) && word.endsWith(".ts"));
      } catch {
        return false;
      }
    })
    .map(Number);
}
