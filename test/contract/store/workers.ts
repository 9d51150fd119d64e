import assert from "node:assert/strict";
import type { NewWorker, WorkerHeartbeat } from "../../../src/store/ports/worker-port.ts";
import { type Kit, NOBODY, refused, type Scenario } from "./kit.ts";

function newWorker(id: string, more: Partial<NewWorker> = {}): NewWorker {
  return {
    id,
    machine: "spider",
    identity: { boot: "boot-1", pid: 7, pidStart: "7@ns" },
    version: "1.0.0",
    command: "serve",
    maxWorkers: 32,
    heartbeatMs: 2000,
    ...more,
  };
}

const BUSY: WorkerHeartbeat = {
  role: "engine",
  engine: "embedded",
  inFlight: 1,
  completed: 5,
  failed: 2,
  tasksPerSecond: 1.5,
  memoryBytes: 1000,
  paused: null,
  troubles: [{ what: "memory", message: "too much", since: 3 }],
  attempts: [{ strategy: "http", outcome: "failed", failureCode: "timeout", count: 2, ms: 30 }],
  active: [{ taskId: NOBODY, runId: NOBODY, lane: "site:a.example", url: "https://a.example/", startedAt: 1 }],
};

async function states(kit: Kit): Promise<Record<string, string>> {
  return Object.fromEntries((await kit.store.workers({ limit: 100 })).map(({ id, state }) => [id, state]));
}

export function workerScenarios(scenario: Scenario): void {
  scenario("processes seal with one key; another one may be agreed on while no worker lives", async (kit) => {
    const { store } = kit;
    assert.equal(await store.agreeOnKey("one"), true);
    await store.registerWorker(newWorker("a"), kit.now);
    assert.equal(await store.agreeOnKey("one"), true);
    assert.equal(await store.agreeOnKey("two"), false);
    assert.equal(await store.agreeOnKey("one"), true, "a refusal changes nothing");
    await store.workerStopped("a", kit.now);
    assert.equal(await store.agreeOnKey("two"), true);
    await store.registerWorker(newWorker("b"), kit.now);
    assert.equal(await store.agreeOnKey("one"), false);
  });

  scenario("the first one to mark the place of files decides, for all", async (kit) => {
    const other = await kit.open();
    assert.equal(await kit.store.filesMark(), null);
    const said = await Promise.all([kit.store.markFiles("one"), other.markFiles("two")]);
    assert.equal(said[0], said[1]);
    assert.equal(await kit.store.markFiles("three"), said[0]);
    assert.equal(await other.filesMark(), said[0]);
  });

  scenario("of two workers that begin at once with different keys the second is refused", async (kit) => {
    const other = await kit.open();
    assert.deepEqual([await kit.store.agreeOnKey("one"), await other.agreeOnKey("two")], [true, true]);
    const begun = await Promise.all([
      kit.store.registerWorker(newWorker("a"), kit.now, "one"),
      other.registerWorker(newWorker("b"), kit.now, "two"),
    ]);
    assert.deepEqual(begun.toSorted(), [false, true]);
    assert.deepEqual(
      (await kit.store.workers({ limit: 10 })).map(({ id }) => id),
      begun[0] ? ["a"] : ["b"],
    );
    assert.deepEqual([await kit.store.agreeOnKey("one"), await kit.store.agreeOnKey("two")], begun);
  });

  scenario("a worker is known from its start to its end, and what it said last is told", async (kit) => {
    await kit.store.registerWorker(newWorker("a"), kit.now);
    const fresh = await kit.store.worker("a");
    assert.equal(fresh?.state, "working");
    assert.deepEqual([fresh.inFlight, fresh.active, fresh.drainRequested, fresh.stoppedAt], [0, [], false, null]);
    const begun = kit.now;
    kit.pass(2000);
    assert.deepEqual(await kit.store.recordHeartbeat("a", "working", BUSY, kit.now), { drain: false, ping: false });
    const known = await (await kit.open()).worker("a");
    assert.deepEqual(known, {
      ...newWorker("a"),
      ...BUSY,
      state: "working",
      drainRequested: false,
      startedAt: begun,
      heartbeatAt: kit.now,
      stoppedAt: null,
    });
    kit.pass(1000);
    await kit.store.workerStopped("a", kit.now);
    const gone = await kit.store.worker("a");
    assert.deepEqual(
      [gone?.state, gone?.role, gone?.inFlight, gone?.active, gone?.completed, gone?.stoppedAt],
      ["stopped", "stopped", 0, [], 5, kit.now],
    );
    assert.equal(await kit.store.worker(NOBODY), null);
  });

  scenario("the newest worker comes first, and those that stopped can be left out", async (kit) => {
    for (const id of ["a", "b", "c"]) await kit.store.registerWorker(newWorker(id), kit.now);
    await kit.store.workerStopped("b", kit.now);
    const ids = async (live: boolean, limit: number) => (await kit.store.workers({ live, limit })).map(({ id }) => id);
    assert.deepEqual(await ids(false, 100), ["c", "b", "a"]);
    assert.deepEqual(await ids(true, 100), ["c", "a"]);
    assert.deepEqual(await ids(true, 1), ["c"]);
  });

  scenario(
    "who is silent for three heartbeats and ten seconds is lost once, and back when heard again",
    async (kit) => {
      await kit.store.registerWorker(newWorker("quick"), kit.now);
      await kit.store.registerWorker(newWorker("slow", { heartbeatMs: 10_000 }), kit.now);
      await kit.store.registerWorker(newWorker("ended"), kit.now);
      await kit.store.workerStopped("ended", kit.now);
      kit.pass(10_000);
      assert.deepEqual(await kit.store.loseWorkers(kit.now), []);
      assert.equal((await states(kit))["quick"], "working");
      kit.pass(1);
      // Who reads need not wait until somebody has written it down.
      assert.deepEqual(await states(kit), { quick: "lost", slow: "working", ended: "stopped" });
      assert.equal((await kit.store.worker("quick"))?.state, "lost");
      assert.deepEqual(
        (await kit.store.loseWorkers(kit.now)).map(({ id, state }) => [id, state]),
        [["quick", "lost"]],
      );
      assert.deepEqual(await kit.store.loseWorkers(kit.now), []);
      kit.pass(20_000);
      assert.deepEqual(
        (await kit.store.loseWorkers(kit.now)).map(({ id }) => id),
        ["slow"],
      );
      await kit.store.recordHeartbeat("quick", "working", BUSY, kit.now);
      assert.deepEqual(await states(kit), { quick: "working", slow: "lost", ended: "stopped" });
    },
  );

  scenario("a clock that is set loses nobody, a machine that started anew everybody of before", async (kit) => {
    await kit.store.registerWorker(newWorker("a"), kit.now);
    kit.clock.wall += 3_600_000;
    assert.deepEqual(await kit.store.loseWorkers(kit.now), []);
    kit.clock.mono -= 60_000;
    assert.deepEqual(
      (await kit.store.loseWorkers(kit.now)).map(({ id }) => id),
      ["a"],
    );
  });

  scenario("a worker hears that it is to drain, and that it is to go on", async (kit) => {
    await kit.store.registerWorker(newWorker("a"), kit.now);
    const other = await kit.open();
    assert.equal((await other.askDrain("a", true)).drainRequested, true);
    assert.deepEqual(await kit.store.workerRequests("a"), { drain: true, ping: false });
    assert.deepEqual(await kit.store.recordHeartbeat("a", "drained", BUSY, kit.now), { drain: true, ping: false });
    assert.equal((await other.worker("a"))?.state, "drained");
    await other.askDrain("a", false);
    assert.deepEqual(await kit.store.workerRequests("a"), { drain: false, ping: false });
  });

  scenario("one answer is for all who asked before it, and a heartbeat is an answer, too", async (kit) => {
    await kit.store.registerWorker(newWorker("a"), kit.now);
    const other = await kit.open();
    const asked = [await kit.store.askPing("a"), await other.askPing("a")];
    const answered = () => Promise.all(asked.map((ping) => other.pingAnswered("a", ping)));
    assert.deepEqual(await kit.store.workerRequests("a"), { drain: false, ping: true });
    assert.deepEqual(await answered(), [false, false]);
    kit.pass(9000);
    await kit.store.answerPings("a", kit.now);
    assert.deepEqual(await kit.store.workerRequests("a"), { drain: false, ping: false });
    // Who answers is there.
    kit.pass(9000);
    assert.deepEqual(await kit.store.loseWorkers(kit.now), []);
    asked.push(await other.askPing("a"));
    assert.deepEqual(await answered(), [true, true, false]);
    assert.deepEqual(await kit.store.recordHeartbeat("a", "working", BUSY, kit.now), { drain: false, ping: false });
    assert.deepEqual(await answered(), [true, true, true]);
  });

  scenario(
    "nothing can be asked of who has stopped or was never there, and who is forgotten is told so",
    async (kit) => {
      await kit.store.registerWorker(newWorker("a"), kit.now);
      await kit.store.workerStopped("a", kit.now);
      await refused("illegal_transition", kit.store.askDrain("a", true));
      await refused("illegal_transition", kit.store.askPing("a"));
      await refused("not_found", kit.store.askDrain(NOBODY, true));
      await refused("not_found", kit.store.workerRequests(NOBODY));
      assert.equal(await kit.store.forgetWorkers(kit.now), 0);
      await kit.store.registerWorker(newWorker("b"), kit.now);
      kit.pass(1000);
      assert.equal(await kit.store.forgetWorkers(kit.now), 1);
      assert.deepEqual(await states(kit), { b: "working" });
      await refused("not_found", kit.store.recordHeartbeat("a", "working", BUSY, kit.now));
    },
  );
}
