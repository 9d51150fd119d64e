import assert from "node:assert/strict";
import { test } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import { drainWorker } from "../../src/orchestrator/workers/workers.ts";
import { openOrchestrator } from "./kit.ts";

test("a worker that is lost is not said to drain or to go on: what is known of it is told", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const identity = { boot: "boot-1", pid: 4711, pidStart: "7@ns" };
  const about = { machine: "spider", identity, version: "1.0.0", command: "serve", maxWorkers: 1, heartbeatMs: 2000 };
  await orchestrator.store.registerWorker({ id: "a", ...about }, orchestrator.clock.now());
  const heartbeatAt = new Date(orchestrator.clock.now()).toISOString();
  assert.equal((await drainWorker(orchestrator, "a", true)).drain_asked, true);
  await orchestrator.clock.advance(10_001);
  for (const drain of [true, false])
    await assert.rejects(drainWorker(orchestrator, "a", drain), (error) => {
      assert.ok(isOrbError(error, "illegal_transition"));
      for (const word of ["orb serve, process 4711 on spider", heartbeatAt, "asked to drain before"])
        assert.ok(error.message.includes(word), error.message);
      return true;
    });
  assert.equal((await orchestrator.store.worker("a"))?.drainRequested, true, "nothing has changed");
});
