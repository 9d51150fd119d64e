import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog, silentLog } from "../../src/base/log.ts";
import type { AlertView } from "../../src/orchestrator/alerts.ts";
import type { WorkerRecord } from "../../src/store/ports/worker-port.ts";
import { createAlertSender } from "../../src/supervisor/alert-sender.ts";
import { raiser, workerLost } from "../../src/supervisor/alerts.ts";
import { deliverAlerts } from "../../src/supervisor/duties/deliver-alerts.ts";
import { raiseAlerts } from "../../src/supervisor/duties/raise-alerts.ts";
import { until } from "../chaos/orb.ts";
import { FAILED, LANE, newTask } from "../contract/store/kit.ts";
import { TestServer } from "../jobs/kit.ts";
import { type TestOrchestrator, openOrchestrator } from "../orchestrator/kit.ts";
import { AlertReceiver, WEBHOOK_SECRET } from "../support/alert-receiver.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { page, status } from "../support/misbehaviours.ts";

const ONE_TRY = { strategy: "http", escalate: false, max_attempts: 1 } as const;

test("failed runs and an opened breaker are told once each, also after a restart [slow]", async () => {
  await using receiver = await AlertReceiver.start();
  await using site = await MisbehavingSite.start({ "/good": page("fine") });
  const bad = ["/bad/1", "/bad/2", "/bad/3"];
  for (const path of bad) site.on(path, status(500));
  await using server = await TestServer.open({
    ...receiver.env,
    APP_BREAKER_FAILURES: "3",
    APP_BREAKER_COOLDOWN_SECONDS: "600",
  });
  const good = await server.run({ target_url: site.url("/good"), ...ONE_TRY });
  const failed: string[] = [];
  const jobs = new Map<string, string>();
  for (const path of bad) {
    const job = await server.job({ name: "bad one", target_url: site.url(path), ...ONE_TRY });
    const { id } = await server.run(job.id);
    failed.push(id);
    jobs.set(id, job.id);
  }
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
    [run?.detail?.["event_type"], run?.detail?.["name"], run?.detail?.["job_id"], run?.detail?.["failure_reason"]],
    ["run.failed", "bad one", jobs.get(run?.subject ?? ""), "http_server_error"],
  );
  const [breaker, ...more] = receiver.of("breaker_open");
  assert.deepEqual(more, []);
  assert.equal(breaker?.subject, new URL(site.url("/")).host);
  assert.match(breaker.message, /^Circuit opened: /);
  assert.equal(breaker.detail?.["event_type"], "circuit.opened");

  const list = async () => (await server.api.get("/alerts")).json<AlertView[]>();
  await until(
    async () => (await list()).every(({ delivery }) => delivery === "delivered"),
    "all are noted as delivered",
  );
  const listed = await list();
  assert.deepEqual(listed.map(({ id }) => id).toSorted(), receiver.received.map(({ id }) => id).toSorted());
  assert.ok(listed.every(({ tries }) => tries === 1));
  const pageOne = await server.api.get("/alerts?kind=run_failed&limit=2");
  assert.deepEqual(
    pageOne.json<AlertView[]>().map(({ subject }) => subject),
    [failed[2], failed[1]],
  );
  const next = /^<([^>]+)>; rel="next"$/.exec(String(pageOne.headers["link"]))?.[1] ?? "";
  assert.deepEqual(
    (await server.api.get(next)).json<AlertView[]>().map(({ subject }) => subject),
    [failed[0]],
  );

  await server.stop();
  await server.start();
  const sent = await server.api.post("/alerts/test");
  assert.equal(sent.status, 200, sent.text);
  assert.equal(sent.json<AlertView>().delivery, "delivered");
  await receiver.until(() => receiver.received.length === 5, "the test");
  assert.equal(receiver.received.at(-1)?.kind, "test", "nothing old was told again");
});

test("an alert that is not taken is tried again under the same id, and given up at last", async (t) => {
  await using receiver = await AlertReceiver.start();
  const { store, clock } = await openOrchestrator(t);
  const sender = createAlertSender({
    url: receiver.url,
    secret: WEBHOOK_SECRET,
    clock,
    log: silentLog,
    userAgent: "orb-test",
  });
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
    heartbeatAt: clock.now(),
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
  await raise([workerLost({ ...worker, heartbeatAt: clock.now() })]);
  receiver.answers.push(500, 500, 500, 400);
  for (const ms of [0, 10_000, 30_000, 60_000, 1e6]) await look(ms);
  const [lost] = await store.alerts({ limit: 1 });
  assert.deepEqual([receiver.received.length, lost?.delivery, lost?.tries, lost?.nextTryAt], [8, "given_up", 4, null]);
  assert.match(lost?.lastError ?? "", /the alert was rejected.*400/);
});

/** Runs of one page that have failed, all at once. */
async function failRuns({ store, clock, work }: TestOrchestrator, from: number, count: number): Promise<void> {
  for (let n = from; n < from + count; n += 1)
    await store.startRun(
      { kind: "page", maxAttempts: 1, snapshot: { url: `https://a.example/${n}` } },
      [newTask(`${n}`)],
      clock.now(),
    );
  await work(LANE, () => FAILED);
}

test("of a flood of failed runs a few are told one by one, the others together, and both once", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const { store, clock } = orchestrator;
  await clock.advance(60_000 - (clock.now() % 60_000));
  const raise = raiser({ store, clock, log: silentLog, deliver: true });
  const signal = new AbortController().signal;
  const looks = () => raiseAlerts({ store, clock, raise });
  const first = looks();
  const beside = looks();
  const subjects = async () => (await store.alerts({ limit: 100 })).map(({ subject }) => subject);
  await failRuns(orchestrator, 0, 8);
  await first.run(signal);
  await clock.advance(5000);
  await failRuns(orchestrator, 8, 30);
  for (const duty of [first, beside, looks()]) await duty.run(signal);
  assert.equal(new Set(await subjects()).size, 10, "the first ten of the minute");
  // Killed and started again in the middle of the minute: the next one comes to the same.
  const next = looks();
  await next.run(signal);
  await clock.advance(57_000);
  for (const duty of [next, beside, first, looks()]) await duty.run(signal);
  const [together, ...others] = await store.alerts({ limit: 100 });
  assert.deepEqual([together?.kind, together?.subject, others.length], ["run_failed", "many", 10]);
  assert.ok(together !== undefined);
  assert.equal((together.detail as { count: number }).count, 28);
  assert.match(together.message, /^Runs failed: 28 more runs between \d\d:\d\d:05 and /);
  await failRuns(orchestrator, 100, 1);
  await next.run(signal);
  assert.equal((await subjects()).length, 12, "the next minute begins anew");
});

test("how far events were looked through is kept although nothing was worth an alert", async (t) => {
  const { store, clock } = await openOrchestrator(t);
  let written = 0;
  const duty = raiseAlerts({
    store,
    clock,
    raise: async (alerts, feed) => {
      written += 1;
      await store.raiseAlerts(alerts, { deliver: false, ...(feed === undefined ? {} : { feed }) }, clock.now());
    },
  });
  const signal = new AbortController().signal;
  const begin = await store.alertCursor();
  const some = () => store.startRun({ kind: "page", maxAttempts: 1, snapshot: {} }, [newTask("a")], clock.now());
  await some();
  await duty.run(signal);
  assert.deepEqual([await store.alertCursor(), written], [begin, 0], "not with every look");
  await clock.advance(60_000);
  await duty.run(signal);
  assert.deepEqual([await store.alertCursor(), written], [(await store.feed({ limit: 0 })).last, 1]);
  await clock.advance(60_000);
  await duty.run(signal);
  assert.equal(written, 1, "without news nothing is written");
});

test("a receiver that takes nothing is asked with one at a time, the important first, and its address is in the log alone", async (t) => {
  const { store, clock } = await openOrchestrator(t);
  const receiver = await AlertReceiver.start();
  const { url } = receiver;
  await receiver[Symbol.asyncDispose]();
  const lines: string[] = [];
  const log = createLog({ level: "debug", pretty: false, write: (line) => void lines.push(line) });
  const sender = createAlertSender({ url, secret: null, clock, log, userAgent: "orb-test" });
  t.after(() => sender.close());
  const duty = deliverAlerts({ store, clock, log, sender });
  const of = (kind: "run_failed" | "disk_low", n: number) => ({
    kind,
    subject: "s",
    message: "m",
    detail: null,
    key: `${kind} ${n}`,
  });
  const failed = Array.from({ length: 15 }, (_, n) => of("run_failed", n));
  await store.raiseAlerts(failed, { deliver: true }, clock.now());
  await clock.advance(1);
  await store.raiseAlerts([of("disk_low", 1)], { deliver: true }, clock.now());
  const tries = async () => (await store.alerts({ limit: 100 })).filter((one) => one.tries > 0);
  await duty.run(new AbortController().signal);
  const first = await tries();
  assert.deepEqual([first.length, first[0]?.kind], [10, "disk_low"]);
  await duty.run(new AbortController().signal);
  assert.equal((await tries()).length, 11);
  assert.match(first[0]?.lastError ?? "", /^the receiver is unreachable \(\w+\); see the log$/);
  const { hostname } = new URL(url);
  assert.ok(first.every(({ lastError }) => lastError?.includes(hostname) === false));
  assert.ok(lines.some((line) => line.includes(hostname)));
});

test("without a receiver alerts are listed, and a test says what is missing [slow]", async () => {
  await using site = await MisbehavingSite.start({ "/bad": status(500) });
  await using server = await TestServer.open();
  const { id } = await server.run({ target_url: site.url("/bad"), ...ONE_TRY });
  const list = async () => (await server.api.get("/alerts")).json<AlertView[]>();
  await until(async () => (await list()).length > 0, "the alert");
  assert.deepEqual(
    (await list()).map(({ subject, delivery }) => [subject, delivery]),
    [[id, "off"]],
  );
  const refused = await server.api.post("/alerts/test");
  assert.equal(refused.status, 409);
  assert.match(refused.json<{ detail: string }>().detail, /APP_ALERT_WEBHOOK_URL/);
});
