import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChannelView } from "../../src/orchestrator/notifications/channels.ts";
import type { DeliveryView } from "../../src/orchestrator/notifications/deliveries.ts";
import { httpReceiver } from "../notifications/kit.ts";
import { Orb, until } from "./orb.ts";
import { Served } from "./served.ts";
import { Target } from "./target.ts";

test("a notification survives a kill between its sending and its record, and keeps its id", async (t) => {
  const receiver = await httpReceiver(t);
  await using target = await Target.start(1);
  target.script = () => ({ status: 500, body: "no" });
  await using orb = new Orb({
    APP_NOTIFY_PRIVATE_NETWORKS: "127.0.0.3",
    APP_BREAKER_FAILURES: "1000",
    APP_PUBLIC_URL: "https://orb.example",
  });
  const first = await Served.start(orb);
  const added = await first.api.post("/notifications/channels", {
    name: "ops",
    kind: "webhook",
    settings: { url: `${receiver.url}/hook?token=SECRET` },
    rules: [],
  });
  assert.equal(added.status, 201, added.text);
  assert.doesNotMatch(added.text, /SECRET/);
  assert.deepEqual(added.json<ChannelView>().secrets, ["url"]);
  // The receiver accepts it, but the process never reads the answer.
  receiver.answers.push({ status: 0 });
  const recipe = {
    target_url: target.url("/bad"),
    strategy: "http",
    escalate: false,
    max_attempts: 1,
    notify: [{ channel: "ops", types: ["run_failed"] }],
  } as const;
  const job = await first.job(recipe);
  const run = await first.run(job.id);
  await until(async () => receiver.received.length === 1, "the first try");
  await first.killed();
  const second = await Served.start(orb);
  await until(async () => receiver.received.length === 2, "the next try");
  const [before, after] = receiver.received;
  assert.deepEqual(after?.body, before?.body);
  assert.equal(after?.headers["x-orb-id"], before?.headers["x-orb-id"]);
  const [notification] = after!.body["notifications"] as { type: string; run_id: string; job: { id: string } }[];
  assert.deepEqual([notification?.type, notification?.run_id, notification?.job.id], ["run_failed", run.id, job.id]);
  assert.equal(after!.body["link"], `https://orb.example/runs/${run.id}`);
  await until(async () => {
    const list = (await second.api.get("/notifications/deliveries")).json<DeliveryView[]>();
    return list.length === 1 && list[0]?.state === "delivered";
  }, "its record");
  assert.equal((await second.terminated()).code, 0);
  await orb.audit();
});
