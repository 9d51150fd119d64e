import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertStored, FULL, Orb, report, until } from "./orb.ts";
import { bodyOf, Target } from "./target.ts";

/** Longer than any timeout here: a process that ends has not waited for it. */
const LONG_GRACE = { APP_SHUTDOWN_GRACE_SECONDS: "3600" };

/** Answers wait until they are let go. */
class Gate {
  #open: () => void = () => {};
  readonly passed = new Promise<void>((resolve) => (this.#open = resolve));

  open(): void {
    this.#open();
  }
}

async function queueOf(orb: Orb, target: Target, slow: number, quick: number): Promise<string[]> {
  const names = [
    ...Array.from({ length: slow }, (_, index) => `slow${index}`),
    ...Array.from({ length: quick }, (_, index) => `quick${index}`),
  ];
  await orb.import(
    names.map((name) => ({
      artifact_id: name,
      url: target.url(`/${name}`),
      priority: name.startsWith("slow") ? 1 : 0,
    })),
  );
  return names;
}

async function expectAllStored(orb: Orb, names: string[]): Promise<void> {
  const items = await orb.items();
  assert.equal(items.size, names.length);
  for (const name of names) {
    assertStored(items.get(name), bodyOf(`/${name}`), name);
    assert.deepEqual([items.get(name)?.attempts, items.get(name)?.tries], [1, 1], `${name} cost one attempt`);
  }
}

describe("SIGTERM", () => {
  test("lets what is in flight finish, takes no more, and ends with 0; the next start does the rest", async () => {
    await using target = await Target.start(1);
    // The minimum concurrency of the load shedder.
    await using orb = new Orb({ APP_MAX_PER_HOST: "2" });
    const gate = new Gate();
    target.script = async (path) => {
      if (path.startsWith("/slow")) await gate.passed;
      return { body: bodyOf(path) };
    };
    const names = await queueOf(orb, target, 2, 20);
    const engine = orb.start(["queue", "run", "--drain"]);
    await target.when(() => target.open === 2, "both places are taken");
    engine.kill("SIGTERM");
    await engine.said("stopping");
    gate.open();
    const released = Date.now();
    const { code, stdout, stderr } = await engine.end();
    assert.equal(code, 0, stderr);
    const took = Date.now() - released;
    assert.match(stdout, /^2 items done, 0 skipped, 0 errors, 20 left/);
    assert.equal(target.hits.length, 2, "nothing new was started");
    assert.deepEqual((await orb.show("slow0")).history.length, 1);
    await orb.audit();
    assert.equal((await orb.run(["queue", "run", "--drain"])).code, 0);
    await expectAllStored(orb, names);
    assert.equal(target.repeats, 0);
    await orb.audit();
    report("SIGTERM", { "ms from the last answer to the end": took });
  });

  test("hands back what does not finish in the grace period, at no cost", async () => {
    await using target = await Target.start(1);
    await using orb = new Orb({
      ...{ APP_MAX_PER_HOST: "3", APP_SHUTDOWN_GRACE_SECONDS: "1", APP_HTTP_TIMEOUT_SECONDS: "600" },
    });
    const gate = new Gate();
    target.script = async (path, nth) => {
      if (path.startsWith("/slow") && nth === 1) await gate.passed;
      return { body: bodyOf(path) };
    };
    // One: a process that is short of time does two things at once, and the others have to get past it.
    const names = await queueOf(orb, target, 1, 5);
    const engine = orb.start(["queue", "run", "--drain"]);
    await target.when(() => target.open === 1 && target.hits.length === 6, "only the slow one is left");
    await until(async () => (await orb.stats()).done === 5, "the others are written down");
    const asked = Date.now();
    engine.kill("SIGTERM");
    const { code, stdout, stderr } = await engine.end();
    const took = Date.now() - asked;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^5 items done, 0 skipped, 0 errors, 1 left/);
    assert.ok(took >= 900, `the grace period was used: ${took} ms`);
    const handedBack = await orb.show("slow0");
    assert.deepEqual([handedBack.status, handedBack.attempts, handedBack.history], ["queued", 0, []]);
    await orb.audit();
    gate.open();
    assert.equal((await orb.run(["queue", "run", "--drain"])).code, 0);
    await expectAllStored(orb, names);
    await orb.audit();
    report("SIGTERM with a grace of 1 s", { "ms to the end": took });
  });

  test("a second one ends the process at once, and the next start finishes everything", async () => {
    await using target = await Target.start(1);
    await using orb = new Orb({ APP_MAX_PER_HOST: "3", ...LONG_GRACE });
    const gate = new Gate();
    target.script = async (path, nth) => {
      if (path.startsWith("/slow") && nth === 1) await gate.passed;
      return { body: bodyOf(path) };
    };
    const names = await queueOf(orb, target, 1, 10);
    const engine = orb.start(["queue", "run", "--drain"]);
    await target.when(() => target.open === 1 && target.hits.length === 11, "only the slow one is left");
    engine.kill("SIGTERM");
    await engine.said("stopping");
    assert.ok(engine.alive, "the first one waits for what is in flight");
    const again = Date.now();
    const { code } = await engine.pressed("SIGTERM");
    const took = Date.now() - again;
    assert.equal(code, 1);
    if (FULL) assert.ok(took < 3000, `it took ${took} ms`);
    gate.open();
    assert.equal((await orb.run(["queue", "run", "--drain"])).code, 0);
    await expectAllStored(orb, names);
    await orb.audit();
    report("second SIGTERM", { "ms to the end": took });
  });

  test("stops an idle process and a standby at once", async () => {
    await using orb = new Orb(LONG_GRACE);
    const engine = orb.start(["queue", "run"]);
    await engine.said("working on the queue");
    const standby = orb.start(["queue", "run"]);
    await standby.said("standing by");
    for (const child of [standby, engine]) {
      const asked = Date.now();
      child.kill("SIGTERM");
      assert.equal((await child.end()).code, 0);
      if (FULL) assert.ok(Date.now() - asked < 3000, `it took ${Date.now() - asked} ms`);
    }
    await orb.audit();
  });
});
