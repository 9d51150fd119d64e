import assert from "node:assert/strict";
import type { NewAlert } from "../../../src/store/ports/alert-port.ts";
import type { DueMessage, NewChannel, NewNotice } from "../../../src/store/ports/notify/notify-port.ts";
import { newJob } from "./jobs.ts";
import { type Kit, LANE, newTask, refused, refusedField, type Scenario } from "./kit.ts";

export function newChannel(name: string, more: Partial<NewChannel> = {}): NewChannel {
  return {
    name,
    kind: "webhook",
    settings: {},
    sealed: new Uint8Array([1, 2, 3]),
    target: "receiver.example",
    rules: [{}],
    quiet: null,
    groupMs: 0,
    enabled: true,
    ...more,
  };
}

const disk = (key: string): NewAlert => ({ kind: "disk_low", subject: "artifacts", message: key, detail: null, key });

const add = async (kit: Kit, name: string, more: Partial<NewChannel> = {}) =>
  (await kit.store.createChannel(newChannel(name, more), kit.now)).created;
const raise = (kit: Kit, ...keys: string[]) => kit.store.raiseAlerts(keys.map(disk), { deliver: false }, kit.now);
const take = (kit: Kit, leaseMs = 1000) => kit.store.takeDueMessage(kit.now + leaseMs, kit.now);
const texts = (message: DueMessage | null) => message?.notices.map(({ message: text }) => text) ?? null;
const delivered = (kit: Kit, message: DueMessage) =>
  kit.store.messageTried(message, { delivered: true }, { deliver: false }, kit.now);

async function runOf(kit: Kit, jobId?: string): Promise<string> {
  const run = { kind: "page" as const, maxAttempts: 1, snapshot: { url: "https://a.example/" } };
  const more = jobId === undefined ? {} : { jobId };
  return (await kit.store.startRun({ ...run, ...more }, [newTask("p")], kit.now)).created.id;
}

const notice = (kit: Kit, runId: string, key: string, more: Partial<NewNotice> = {}): NewNotice => ({
  key,
  type: "run_failed",
  subject: runId,
  message: key,
  detail: null,
  runId,
  createdAt: kit.now,
  ...more,
});

export function notificationScenarios(scenario: Scenario): void {
  scenario("a channel is found by id and name, changed and deleted; names are unique", async (kit) => {
    const ops = await add(kit, "ops");
    assert.equal(ops.sealed.length, 0, "the answer, which is stored for repetitions, has no secret");
    const stored = (await kit.store.channel("ops"))!;
    assert.deepEqual([stored.id, [...stored.sealed], stored.failingSince], [ops.id, [1, 2, 3], null]);
    await refusedField("name", add(kit, "ops"));
    await add(kit, "dev");
    await refusedField("name", kit.store.updateChannel(ops.id, { name: "dev" }, kit.now));
    kit.pass(5);
    const changed = await kit.store.updateChannel(ops.id, { name: "on-call", groupMs: 60_000 }, kit.now);
    assert.deepEqual([changed.name, changed.groupMs, changed.updatedAt], ["on-call", 60_000, kit.now]);
    assert.deepEqual(
      (await kit.store.channels()).map(({ name }) => name),
      ["dev", "on-call"],
    );
    await raise(kit, "a");
    const due = (await take(kit))!;
    await kit.store.messageTried(due, { error: "401", nextTryAt: null }, { deliver: false }, kit.now);
    const failing = async (change: Partial<NewChannel>) =>
      (await kit.store.updateChannel(ops.id, change, kit.now)).failingSince !== null;
    assert.deepEqual(
      [await failing({ name: "on-call", enabled: true }), await failing({ sealed: new Uint8Array() })],
      [true, false],
    );
    await kit.store.deleteChannel("on-call");
    await refused("not_found", kit.store.deleteChannel(ops.id));
    assert.equal(await kit.store.channel(ops.id), null);
  });

  scenario("an alert is one message per channel whose rules match, the same one in every attempt", async (kit) => {
    await add(kit, "all");
    await add(kit, "errors", { rules: [{ types: ["run_failed"] }] });
    await add(kit, "off", { enabled: false });
    await raise(kit, "a");
    await raise(kit, "a");
    const first = (await take(kit))!;
    assert.deepEqual([first.channel.name, texts(first), first.tries], ["all", ["a"], 0]);
    assert.equal(await take(kit), null, "leased");
    kit.pass(1000);
    const again = (await take(kit))!;
    assert.deepEqual([again.notices[0]?.id, again.tries], [first.notices[0]?.id, 0]);
    const retryAt = kit.now + 50;
    await kit.store.messageTried(again, { error: "500", nextTryAt: retryAt }, { deliver: false }, kit.now);
    await kit.store.messageTried(first, { error: "late", nextTryAt: kit.now }, { deliver: false }, kit.now);
    kit.pass(50);
    const third = (await take(kit))!;
    assert.equal(third.tries, 1);
    await delivered(kit, third);
    kit.pass(1e7);
    assert.equal(await take(kit), null);
    const [row, ...others] = await kit.store.deliveries({ limit: 10 });
    assert.deepEqual([row?.state, row?.tries, row?.lastError, others], ["delivered", 2, null, []]);
    const channel = (await kit.store.channel("all"))!;
    assert.deepEqual([channel.failingSince, channel.lastError, channel.waiting], [null, "500", 0]);
  });

  scenario("rules choose by severity, tag, site and job; a job may name a channel itself", async (kit) => {
    const quietly = await add(kit, "for jobs", { rules: [] });
    await add(kit, "errors", { rules: [{ min_severity: "error" }] });
    await add(kit, "shop", { rules: [{ tags: ["shop"], types: ["run_completed", "run_failed"] }] });
    await add(kit, "site", { rules: [{ sites: ["a.example"] }] });
    const recipe = { notify: [{ channel: quietly.id, types: ["run_completed"] }] };
    const { created: job } = await kit.store.createJob({ ...newJob("prices", { recipe }), tags: ["shop"] }, kit.now);
    const run = await runOf(kit, job.id);
    const plan = (key: string, more: Partial<NewNotice>) =>
      kit.store.raiseAlerts([], { deliver: false, notices: [notice(kit, run, key, more)] }, kit.now);
    await plan("done", { type: "run_completed" });
    await plan("failed", {});
    await plan("failed", {});
    const got: string[] = [];
    for (let due = await take(kit); due !== null; due = await take(kit)) {
      assert.equal(due.notices[0]?.job?.name, "prices");
      got.push(`${due.channel.name}: ${texts(due)}`);
      await delivered(kit, due);
    }
    assert.deepEqual(got.toSorted(), [
      "errors: failed",
      "for jobs: done",
      "shop: done",
      "shop: failed",
      "site: failed",
    ]);
  });

  scenario("within the time of a group there is one message, and a flood is one without it", async (kit) => {
    await add(kit, "grouped", { groupMs: 60_000 });
    await raise(kit, "a");
    const first = (await take(kit))!;
    await delivered(kit, first);
    kit.pass(10_000);
    await raise(kit, "b", "c");
    assert.equal(await take(kit), null);
    kit.pass(49_999);
    assert.equal(await take(kit), null);
    kit.pass(1);
    const second = (await take(kit))!;
    assert.deepEqual(texts(second), ["b", "c"]);
    await delivered(kit, second);
    await kit.store.deleteChannel("grouped");
    await add(kit, "plain");
    await raise(kit, ..."123456".split(""));
    assert.equal(texts(await take(kit))?.length, 6);
  });

  scenario(
    "a message has at most 100 notifications; of more in a group's time, the next follow at once",
    async (kit) => {
      // The rule is the same for both databases, and so many rows fill the traces of locks.
      if (!kit.store.capabilities.singleEngine) return;
      await add(kit, "grouped", { groupMs: 60_000 });
      // In the order of their keys, in which everyone inserts several alerts at once.
      await raise(kit, ...Array.from({ length: 230 }, (_, n) => String(n).padStart(3, "0")));
      const sizes: number[] = [];
      for (let due = await take(kit); due !== null; due = await take(kit)) {
        sizes.push(due.notices.length);
        await delivered(kit, due);
      }
      assert.deepEqual(sizes, [100, 100, 30]);
      await raise(kit, "later");
      assert.equal(await take(kit), null, "within the group's time");
    },
  );

  scenario("a group whose time ends in quiet hours, and a retry, wait for their end; errors do not", async (kit) => {
    kit.pass(60_000 - (kit.now % 60_000));
    const at = (time: number) => new Date(time).toISOString().slice(11, 16);
    const [from, to] = [kit.now + 300_000, kit.now + 3_600_000];
    const quiet = { from: at(from), to: at(to), timezone: "UTC", except: "error" as const };
    await add(kit, "night", { quiet, groupMs: 600_000, rules: [{ types: ["run_completed", "run_failed"] }] });
    const run = await runOf(kit);
    const plan = (key: string, more: Partial<NewNotice>) =>
      kit.store.raiseAlerts([], { deliver: false, notices: [notice(kit, run, key, more)] }, kit.now);
    await plan("first", { type: "run_completed" });
    const first = (await take(kit))!;
    await kit.store.messageTried(first, { error: "500", nextTryAt: from }, { deliver: false }, kit.now);
    await plan("done", { type: "run_completed" });
    await plan("failed", { type: "run_failed" });
    kit.pass(600_000);
    const failed = (await take(kit))!;
    assert.deepEqual(texts(failed), ["failed"]);
    await delivered(kit, failed);
    assert.equal(await take(kit), null);
    kit.pass(to - kit.now);
    assert.deepEqual([texts(await take(kit)), texts(await take(kit)), await take(kit)], [["first"], ["done"], null]);
  });

  scenario(
    "who has it has it: a late success counts, with what some receivers refused; a late failure does not",
    async (kit) => {
      await add(kit, "slow");
      await raise(kit, "a");
      const first = (await take(kit))!;
      kit.pass(1000);
      const second = (await take(kit))!;
      await kit.store.messageTried(second, { error: "500", nextTryAt: kit.now }, { deliver: false }, kit.now);
      await kit.store.messageTried(first, { error: "late", nextTryAt: null }, { deliver: false }, kit.now);
      const refused = "the mail server refused x@example.com";
      await kit.store.messageTried(first, { delivered: true, refused }, { deliver: false }, kit.now);
      assert.equal(await take(kit), null);
      const [row] = await kit.store.deliveries({ limit: 10 });
      assert.deepEqual([row?.state, row?.tries, row?.lastError], ["delivered", 2, refused]);
    },
  );

  scenario("in quiet hours nothing is sent; afterwards one message has it all", async (kit) => {
    const at = (time: number) => new Date(time).toISOString().slice(11, 16);
    const quiet = { from: at(kit.now), to: at(kit.now + 3_600_000), timezone: "UTC", except: null };
    await add(kit, "night", { quiet });
    await raise(kit, "a");
    kit.pass(60_000);
    await raise(kit, "b");
    assert.equal(await take(kit), null);
    kit.pass(3_600_000 - 60_000 - (kit.now % 60_000 === 0 ? 1 : kit.now % 60_000));
    kit.pass(60_000);
    assert.deepEqual(texts(await take(kit)), ["a", "b"]);
  });

  scenario("a channel that fails is reported to the others once, and never to itself", async (kit) => {
    await add(kit, "broken");
    const fail = async (due: DueMessage, last: boolean) => {
      const nextTryAt = last ? null : kit.now;
      await kit.store.messageTried(due, { error: "401", nextTryAt }, { deliver: false }, kit.now);
    };
    await raise(kit, "a");
    for (const last of [false, false, true]) await fail((await take(kit))!, last);
    const [alert, ...more] = await kit.store.alerts({ kind: "channel_failing", limit: 10 });
    assert.deepEqual([alert?.message.includes("broken"), more], [true, []]);
    assert.equal(await take(kit), null, "nothing about itself");
    const other = await add(kit, "other");
    await raise(kit, "b");
    const due = [(await take(kit))!, (await take(kit))!];
    const broken = due.find(({ channel }) => channel.name === "broken")!;
    await fail(broken, true);
    await fail(
      due.find(({ channel }) => channel.name === "other")!,
      true,
    );
    const reports = await kit.store.alerts({ kind: "channel_failing", limit: 10 });
    assert.deepEqual(
      reports.map(({ subject }) => subject),
      [other.id, broken.channel.id],
      "once each",
    );
    assert.deepEqual((await take(kit))?.channel.name, "broken");
    assert.ok((await kit.store.channel("broken"))?.failingSince !== null);
  });

  scenario("a test is sent by who asks for it, and a disabled channel gives up what waits", async (kit) => {
    await add(kit, "ops");
    const due = await kit.store.startTest("ops", kit.now + 1000, kit.now);
    assert.deepEqual([due.notices[0]?.type, await take(kit)], ["test", null]);
    await kit.store.messageTried(due, { error: "no", nextTryAt: null }, { deliver: false }, kit.now);
    assert.deepEqual(await kit.store.alerts({ limit: 1 }), [], "whoever asked sees it");
    await kit.store.startTest("ops", kit.now + 1000, kit.now);
    kit.pass(1000);
    assert.equal(await take(kit), null, "a test whose process has ended is not repeated");
    await raise(kit, "a");
    await kit.store.updateChannel("ops", { enabled: false }, kit.now);
    const states = (await kit.store.deliveries({ channel: "ops", limit: 10 })).map(({ state }) => state);
    assert.deepEqual([states, await take(kit)], [["given_up", "given_up", "given_up"], null]);
    assert.equal((await kit.store.deliveries({ state: "waiting", limit: 10 })).length, 0);
  });

  scenario("of two who deliver, each message is one's own", async (kit) => {
    await add(kit, "grouped", { groupMs: 1000 });
    await raise(kit, "a", "b");
    const other = await kit.open();
    const [mine, theirs] = await Promise.all([take(kit), other.takeDueMessage(kit.now + 1000, kit.now)]);
    assert.deepEqual(
      [mine, theirs].map(texts).filter((list) => list !== null),
      [["a", "b"]],
    );
    assert.ok(LANE.length > 0);
  });
}
