import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../src/base/log.ts";
import type { AlertView } from "../../src/orchestrator/alerts.ts";
import type { WorkerRecord } from "../../src/store/worker-port.ts";
import { createAlertSender } from "../../src/supervisor/alert-sender.ts";
import { raiser, workerLost } from "../../src/supervisor/alerts.ts";
import { deliverAlerts } from "../../src/supervisor/duties/deliver-alerts.ts";
import { until } from "../chaos/orb.ts";
import { Place } from "../jobs/kit.ts";
import { openDesk } from "../orchestrator/kit.ts";
import { AlertReceiver, WEBHOOK_SECRET } from "../support/alert-receiver.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { page, status } from "../support/misbehaviours.ts";

const ONE_TRY = { strategy: "http", escalate: false, max_attempts: 1 } as const;

test("failed runs and an opened breaker are told once each, also after a restart", async () => {
  await using receiver = await AlertReceiver.start();
  await using site = await MisbehavingSite.start({ "/bad": status(500), "/good": page("fine") });
  await using place = await Place.open({
    ...receiver.env,
    APP_BREAKER_FAILURES: "3",
    APP_BREAKER_COOLDOWN_SECONDS: "600",
  });
  const job = await place.job({ name: "bad one", target_url: site.url("/bad"), ...ONE_TRY });
  const good = await place.run({ target_url: site.url("/good"), ...ONE_TRY });
  const failed: string[] = [];
  for (let n = 0; n < 3; n += 1) failed.push((await place.run(job.id)).id);
  await receiver.until(() => receiver.received.length === 4, "three runs and a breaker");
  assert.deepEqual(
    receiver
      .of("run_failed")
      .map(({ subject }) => subject)
      .toSorted(),
    failed.toSorted(),
  );
  assert.ok(!failed.includes(good.id));
  const [run] = receiver.of("run_failed");
  assert.match(run?.message ?? "", /^Run failed: /);
  assert.deepEqual(
    [run?.detail?.["name"], run?.detail?.["job_id"], run?.detail?.["failure_reason"]],
    ["bad one", job.id, "http_server_error"],
  );
  const [breaker, ...more] = receiver.of("breaker_open");
  assert.deepEqual(more, []);
  assert.equal(breaker?.subject, new URL(site.url("/")).host);
  assert.match(breaker.message, /^Breaker opened: /);

  const list = async () => (await place.api.get("/alerts")).json<AlertView[]>();
  await until(
    async () => (await list()).every(({ delivery }) => delivery === "delivered"),
    "all are noted as delivered",
  );
  const listed = await list();
  assert.deepEqual(listed.map(({ id }) => id).toSorted(), receiver.received.map(({ id }) => id).toSorted());
  assert.ok(listed.every(({ tries }) => tries === 1));
  const pageOne = await place.api.get("/alerts?kind=run_failed&limit=2");
  assert.deepEqual(
    pageOne.json<AlertView[]>().map(({ subject }) => subject),
    [failed[2], failed[1]],
  );
  const next = /^<([^>]+)>; rel="next"$/.exec(String(pageOne.headers["link"]))?.[1] ?? "";
  assert.deepEqual(
    (await place.api.get(next)).json<AlertView[]>().map(({ subject }) => subject),
    [failed[0]],
  );

  await place.stop();
  await place.start();
  const sent = await place.api.post("/alerts/test");
  assert.equal(sent.status, 200, sent.text);
  assert.equal(sent.json<AlertView>().delivery, "delivered");
  await receiver.until(() => receiver.received.length === 5, "the test");
  assert.equal(receiver.received.at(-1)?.kind, "test", "nothing old was told again");
});

test("an alert that is not taken is tried again under the same id, and given up at last", async (t) => {
  await using receiver = await AlertReceiver.start();
  const { store, clock } = await openDesk(t);
  const sender = createAlertSender({ url: receiver.url, secret: WEBHOOK_SECRET, clock, userAgent: "orb-test" });
  t.after(() => sender.close());
  const retry = { baseMs: 10_000, maxMs: 60_000, tries: 4 };
  const duty = deliverAlerts({ store, clock, log: silentLog, sender, retry });
  const look = async (ms: number) => {
    await clock.advance(ms);
    await duty.run(new AbortController().signal);
    return receiver.received.length;
  };
  const raise = raiser({ store, clock, log: silentLog, deliver: true });
  const identity = { boot: "b", pid: 4711, pidStart: "1" };
  const worker = {
    id: "w1",
    machine: "m",
    identity,
    command: "worker",
    inFlight: 3,
    heardAt: clock.now(),
  } as WorkerRecord;
  await raise([workerLost(worker)]);
  await raise([workerLost(worker)]);
  receiver.answers.push(500, 302, 503);
  assert.deepEqual([await look(0), await look(9_999), await look(1)], [1, 1, 2]);
  assert.deepEqual([await look(29_999), await look(1)], [2, 3]);
  assert.deepEqual([await look(59_999), await look(1), await look(1e6)], [3, 4, 4]);
  assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 1);
  assert.match(receiver.received[0]?.message ?? "", /^Worker lost: process 4711 \(worker\) on m /);
  const [delivered] = await store.alerts({ limit: 10 });
  assert.deepEqual([delivered?.delivery, delivered?.tries], ["delivered", 4]);

  // It came back, and was lost once more: that is news.
  await raise([workerLost({ ...worker, heardAt: clock.now() })]);
  receiver.answers.push(500, 500, 500, 400);
  for (const ms of [0, 10_000, 30_000, 60_000, 1e6]) await look(ms);
  const [lost] = await store.alerts({ limit: 1 });
  assert.deepEqual([receiver.received.length, lost?.delivery, lost?.tries, lost?.nextTryAt], [8, "given_up", 4, null]);
  assert.match(lost?.lastError ?? "", /the alert was not taken.*400/);
});

test("without a receiver alerts are listed, and a test says what is missing", async () => {
  await using site = await MisbehavingSite.start({ "/bad": status(500) });
  await using place = await Place.open();
  const { id } = await place.run({ target_url: site.url("/bad"), ...ONE_TRY });
  const list = async () => (await place.api.get("/alerts")).json<AlertView[]>();
  await until(async () => (await list()).length > 0, "the alert");
  assert.deepEqual(
    (await list()).map(({ subject, delivery }) => [subject, delivery]),
    [[id, "off"]],
  );
  const refused = await place.api.post("/alerts/test");
  assert.equal(refused.status, 409);
  assert.match(refused.json<{ detail: string }>().detail, /APP_ALERT_WEBHOOK_URL/);
});
