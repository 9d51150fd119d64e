import assert from "node:assert/strict";
import { test } from "node:test";
import type { WorkerView } from "../../src/orchestrator/workers/workers.ts";
import { AlertReceiver } from "../support/alert-receiver.ts";
import { Orb, until } from "./orb.ts";
import { Served } from "./served.ts";
import { Target } from "./target.ts";

test("an alert survives a kill between its raising and its delivery, and keeps its id", async () => {
  await using receiver = await AlertReceiver.start();
  await using target = await Target.start(1);
  target.script = () => ({ status: 500, body: "no" });
  await using orb = new Orb({ ...receiver.env, APP_BREAKER_FAILURES: "1000" });
  const first = await Served.start(orb);
  receiver.answers.push("hang");
  const recipe = { target_url: target.url("/bad"), strategy: "http", escalate: false, max_attempts: 1 } as const;
  const run = await first.run(recipe);
  await receiver.until(() => receiver.received.length === 1, "the first try, which is never answered");
  await first.killed();
  const second = await Served.start(orb);
  const told = () => receiver.of("run_failed");
  await receiver.until(() => told().length === 2, "the next try");
  assert.deepEqual(told()[1], told()[0]);
  assert.equal(told()[0]?.subject, run.id);
  // Later alerts are sent alone: earlier ones are not repeated.
  const other = await second.run(recipe);
  await receiver.until(() => told().length === 3, "the next alert");
  assert.equal(told()[2]?.subject, other.id);
  await receiver.until(() => receiver.of("worker_lost").length > 0, "the dead process is missed");
  const [lost, ...more] = receiver.of("worker_lost");
  assert.deepEqual(more, []);
  assert.equal(lost?.detail?.["pid"], first.process.pid);
  assert.equal((await second.terminated()).code, 0);
  await orb.audit();
});

test("the only worker dies: an API without one shows that it is lost, and tells", async () => {
  await using receiver = await AlertReceiver.start();
  await using orb = new Orb({ ...receiver.env });
  const served = await Served.start(orb, ["--no-worker"]);
  const worker = orb.start(["worker"]);
  const states = async () => (await served.api.get("/workers")).json<WorkerView[]>().map(({ state }) => state);
  await until(async () => (await states()).includes("working"), "it works");
  await worker.killed();
  await receiver.until(() => receiver.of("worker_lost").length > 0, "the dead process is missed");
  assert.equal(receiver.of("worker_lost")[0]?.detail?.["pid"], worker.pid);
  assert.deepEqual(await states(), ["lost"]);
  assert.equal((await served.terminated()).code, 0);
});
