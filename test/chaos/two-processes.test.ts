import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { OWNED_FOR_LONG } from "./kills.ts";
import { assertStored, FULL, Orb, report, until } from "./orb.ts";
import { bodyOf, Target } from "./target.ts";

const ITEMS = 300;

/** The standby must take over this long after the engine's death; a busy machine is slower. */
const TAKEOVER_MS = FULL ? 10_000 : 120_000;
/** From a poke to the request; without the poke the work is found within half a minute. */
const WOKEN_MS = FULL ? 2000 : 15_000;

function itemsOf(target: Target, count: number, prefix: string): { artifact_id: string; url: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    artifact_id: `${prefix}${index}`,
    url: target.url(`/${prefix}${index}`, index % target.sites.length),
  }));
}

async function expectStored(orb: Orb, prefix: string, count: number): Promise<void> {
  const items = await orb.items();
  for (let index = 0; index < count; index += 1) {
    const name = `${prefix}${index}`;
    assertStored(items.get(name), bodyOf(`/${name}`), name);
    assert.equal(items.get(name)?.attempts, 1, `${name} has one attempt in its history`);
  }
}

describe("two processes on one database", () => {
  test("one works while the other stands by, nothing is doubled, and both end when all is done", async () => {
    await using target = await Target.start(2);
    await using orb = new Orb({ APP_MAX_PER_HOST: "4" });
    target.latencyMs = 10;
    await orb.import(itemsOf(target, ITEMS, "a"));
    const both = [orb.start(["queue", "run", "--drain"]), orb.start(["queue", "run", "--drain"])];
    // Nothing is answered before both are there: one alone could be done with everything by then.
    const bothThere = Promise.any(both.map((child) => child.said("standing by")));
    target.script = async (path) => {
      await bothThere;
      return { body: bodyOf(path) };
    };
    const ends = await Promise.all(both.map((child) => child.end()));
    for (const { code, stderr } of ends) assert.equal(code, 0, stderr);
    // The other one may become the engine in the moment between the first one's end and its own.
    const finished = Math.max(...(await orb.list()).map((item) => Date.parse(item.finished_at ?? "")));
    const engines = both.map((child) => child.loggedAt("working on the queue") ?? Number.POSITIVE_INFINITY);
    assert.equal(engines.filter((since) => since < finished).length, 1, `${engines.join(", ")} / ${finished}`);
    assert.equal(target.repeats, 0, "no page was fetched twice");
    assert.equal(target.hits.length, ITEMS);
    for (const most of target.mostPerSite.values()) assert.ok(most <= 4, `${most} at once`);
    await expectStored(orb, "a", ITEMS);
    await orb.audit();
  });

  test("the standby takes over when the engine is killed", async () => {
    await using target = await Target.start(2);
    await using orb = new Orb({ APP_MAX_PER_HOST: "4", ...OWNED_FOR_LONG });
    target.latencyMs = 20;
    // What comes after the first forty is answered when the engine is dead: it cannot be done before.
    const dead = Promise.withResolvers<void>();
    target.script = async (path) => {
      if (target.hits.length > 40) await dead.promise;
      return { body: bodyOf(path) };
    };
    await orb.import(itemsOf(target, ITEMS, "a"));
    const engine = orb.start(["queue", "run", "--drain"]);
    await engine.said("working on the queue");
    const standby = orb.start(["queue", "run", "--drain"]);
    await standby.said("standing by");
    await target.when(() => target.hits.length >= 40, "work is under way");
    const killed = Date.now();
    await engine.killed();
    dead.resolve();
    const next = target.next("the standby fetches", TAKEOVER_MS);
    await standby.said("working on the queue", TAKEOVER_MS);
    const first = await next;
    const took = first.start - killed;
    assert.ok(took <= TAKEOVER_MS, `it took ${took} ms`);
    assert.equal((await standby.end()).code, 0);
    await expectStored(orb, "a", ITEMS);
    assert.ok(target.repeats <= 64, `${target.repeats} refetches`);
    await orb.audit();
    report("takeover after kill -9", { ms: took, refetches: target.repeats });
  });

  test("a third process may enqueue, import and look meanwhile, and the idle engine starts at once", async () => {
    await using target = await Target.start(2);
    await using orb = new Orb();
    const engine = orb.start(["queue", "run"]);
    await engine.said("working on the queue");
    const standby = orb.start(["queue", "run"]);
    await standby.said("standing by");

    const latencies: number[] = [];
    for (let index = 0; index < 4; index += 1) {
      const name = `single${index}`;
      const arrival = target.next(`${name} is fetched`);
      const { code, stderr } = await orb.run(["queue", "enqueue", name, target.url(`/${name}`, index % 2)]);
      assert.equal(code, 0, stderr);
      const hit = await arrival;
      const { created_at: created } = await orb.show(name);
      latencies.push(hit.start - Date.parse(created));
    }
    assert.ok(Math.max(...latencies) < WOKEN_MS, `fetched ${latencies.join(", ")} ms after it was enqueued`);

    target.latencyMs = 20;
    const imports = await Promise.all(
      ["x", "y", "z"].map((prefix) => {
        const lines = itemsOf(target, 100, prefix).map((item) => `${JSON.stringify(item)}\n`);
        return orb.run(["queue", "import", "-"], { input: lines.join("") });
      }),
    );
    for (const { code, stdout, stderr } of imports) {
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^100 lines: 100 added/);
    }
    const stats = await until(async () => {
      const now = await orb.stats();
      return now.done === now.total && now;
    }, "everything is done");
    assert.equal(stats.total, 304);
    for (const prefix of ["x", "y", "z"]) await expectStored(orb, prefix, 100);
    assert.equal(target.repeats, 0);
    for (const child of [engine, standby]) {
      child.kill("SIGTERM");
      assert.equal((await child.end()).code, 0);
    }
    await orb.audit();
    report("woken from another process", { "ms from enqueue to request": latencies.join("/") });
  });
});
