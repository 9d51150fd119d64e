import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, test } from "node:test";
import { assertStored, FULL, Orb, type OrbProcess, report, until } from "./orb.ts";
import { bodyOf, Target } from "./target.ts";

const ITEMS = 40;
const TTL_SECONDS = 10;
/** A busy machine is slower. */
const SOON_MS = FULL ? 5000 : 60_000;
const ENV = { APP_LEASE_TTL_SECONDS: String(TTL_SECONDS), APP_MAX_PER_HOST: "4" };

interface Frozen {
  engine: OrbProcess;
  standby: OrbProcess;
  tookOverMs: number;
}

/** The engine stops between two steps, with answers on their way to it, and the standby finishes the work. */
async function freezeTheEngine(orb: Orb, target: Target, args: string[]): Promise<Frozen> {
  let wakeUp: () => void = () => {};
  const frozen = new Promise<void>((resolve) => (wakeUp = resolve));
  // The first four are held until the engine is frozen: it finds their answers when it wakes.
  target.script = async (path) => {
    if (target.hits.length <= 4) await frozen;
    return { body: bodyOf(path) };
  };
  await orb.import(
    Array.from({ length: ITEMS }, (_, index) => ({ artifact_id: `i${index}`, url: target.url(`/i${index}`) })),
  );
  const engine = orb.start(["queue", "run", ...args]);
  await target.when(() => target.open === 4, "four are in flight");
  const standby = orb.start(["queue", "run", ...args]);
  await standby.said("standing by");
  engine.kill("SIGSTOP");
  const stopped = Date.now();
  wakeUp();
  await standby.said("working on the queue");
  const tookOverMs = Date.now() - stopped;
  assert.ok(tookOverMs > 1000, "a frozen process is not a dead one: its lease is respected");
  assert.ok(tookOverMs < TTL_SECONDS * 1000 + SOON_MS, `the standby took over after ${tookOverMs} ms`);
  return { engine, standby, tookOverMs };
}

async function expectSingle(orb: Orb): Promise<void> {
  const items = await orb.items();
  assert.equal(items.size, ITEMS);
  for (const [name, item] of items) {
    assertStored(item, bodyOf(`/${name}`), name);
    assert.deepEqual([item.attempts, item.tries], [1, 1], `${name} has a single history`);
  }
}

describe("an engine that was frozen past its lease", { concurrency: 2 }, () => {
  test("finds its work done by another, changes nothing, and ends properly", async () => {
    await using target = await Target.start(1);
    await using orb = new Orb(ENV);
    const { engine, standby, tookOverMs } = await freezeTheEngine(orb, target, ["--drain"]);
    assert.equal((await standby.end()).code, 0);
    const before = await orb.items();
    assert.equal(target.hits.length, ITEMS + 4);
    engine.kill("SIGCONT");
    const { code, stderr } = await engine.end();
    assert.equal(code, 0, stderr);
    assert.deepEqual(await orb.items(), before, "its late writes touched no row");
    assert.equal(target.hits.length, ITEMS + 4, "it fetched nothing more");
    await expectSingle(orb);
    await orb.audit();
    report("takeover of a frozen engine", { ms: tookOverMs, "lease ms": TTL_SECONDS * 1000 });
  });

  test("wakes in the middle of the other's work, becomes its standby, and takes over in turn", async () => {
    await using target = await Target.start(1);
    await using orb = new Orb(ENV);
    target.latencyMs = 200;
    const { engine: zombie, standby: successor } = await freezeTheEngine(orb, target, []);
    await target.when(() => target.hits.length >= 12, "the successor is at work");
    zombie.kill("SIGCONT");
    await zombie.said("lost the engine");
    await zombie.said("standing by");
    await until(async () => (await orb.stats()).done === ITEMS, "everything is done");
    assert.equal(target.hits.length, ITEMS + 4, "only the four that were in flight were fetched twice");
    await expectSingle(orb);
    await orb.audit();

    // The successor can still be reached: what the zombie cleaned up was its own.
    const address = await orb.engineAddress();
    assert.ok(existsSync(address), `${address} is there`);
    target.latencyMs = 0;
    const arrival = target.next("the new item is fetched");
    await orb.json("queue", "enqueue", "late", target.url("/late"));
    const { start } = await arrival;
    const { created_at: created } = await orb.show("late");
    const wokenMs = start - Date.parse(created);

    const killed = Date.now();
    await successor.killed();
    await until(
      () => zombie.stderr.lastIndexOf("working on the queue") > zombie.stderr.indexOf("lost the engine"),
      "it takes over",
    );
    const tookOverMs = Date.now() - killed;
    await orb.json("queue", "enqueue", "later", target.url("/later"));
    await until(async () => (await orb.stats()).done === ITEMS + 2, "the last one is done");
    zombie.kill("SIGTERM");
    assert.equal((await zombie.end()).code, 0);
    await orb.audit();
    report("after a zombie woke", { "wake-up ms": wokenMs, "takeover ms": tookOverMs });
    assert.ok(wokenMs < SOON_MS, `woken after ${wokenMs} ms`);
    assert.ok(tookOverMs < 2 * SOON_MS, `taken over after ${tookOverMs} ms`);
  });
});
