import assert from "node:assert/strict";
import type { AlertRecord, AlertStore, NewAlert } from "../../../src/store/ports/alert-port.ts";
import { attempt, DONE, FAILED, NOBODY, refused, refusedField, type Scenario, walk } from "./kit.ts";

function newAlert(key: string, more: Partial<NewAlert> = {}): NewAlert {
  return { kind: "run_failed", subject: "a run", message: "it failed", detail: { n: 1 }, key, ...more };
}

const keys = (alerts: readonly AlertRecord[]) => alerts.map(({ key }) => key);

/** What is due, without taking it from anybody. */
const due = (store: AlertStore, now: number, limit = 10) => store.takeDueAlerts({ limit, until: now }, now);

export function alertScenarios(scenario: Scenario): void {
  scenario("an alert is kept as it was raised, and the same one is raised once", async (kit) => {
    const given = newAlert("one");
    const [raised, ...others] = await kit.store.raiseAlerts([given, given], { deliver: true }, kit.now);
    assert.deepEqual(others, []);
    assert.deepEqual(raised, {
      ...given,
      id: raised?.id,
      createdAt: kit.now,
      delivery: "waiting",
      tries: 0,
      nextTryAt: kit.now,
      lastError: null,
      deliveredAt: null,
    });
    kit.pass(10);
    const other = await kit.open();
    const again = await other.raiseAlerts([given, newAlert("two", { detail: null })], { deliver: true }, kit.now);
    assert.deepEqual(keys(again), ["two"]);
    assert.deepEqual(await other.alerts({ limit: 10 }), [again[0], raised]);
  });

  scenario("what is over may be raised again under the same key", async (kit) => {
    const raise = async () =>
      (await kit.store.raiseAlerts([newAlert("disk"), newAlert("other")], { deliver: true }, kit.now)).length;
    assert.deepEqual([await raise(), await raise()], [2, 0]);
    await kit.store.alertOver("disk");
    await kit.store.alertOver("nothing");
    assert.deepEqual([await raise(), await raise()], [1, 0]);
    await kit.store.alertOver("disk");
    assert.equal(await raise(), 1);
    assert.equal((await due(kit.store, kit.now)).length, 4, "what was raised is told all the same");
  });

  scenario("alerts that nobody is to be told are never due", async (kit) => {
    await kit.store.raiseAlerts([newAlert("one")], { deliver: false }, kit.now);
    kit.pass(1e9);
    assert.deepEqual(await due(kit.store, kit.now), []);
    assert.equal((await kit.store.alerts({ limit: 1 }))[0]?.delivery, "off");
  });

  scenario("an alert is due until it is delivered or given up, each time when its time has come", async (kit) => {
    const { store } = kit;
    const raised = await store.raiseAlerts([newAlert("a"), newAlert("b")], { deliver: true }, kit.now);
    const later = { deliver: true, firstTryAt: kit.now + 500 };
    await store.raiseAlerts([newAlert("c")], later, kit.now);
    assert.deepEqual(keys(await due(store, kit.now)), ["a", "b"]);
    assert.deepEqual(keys(await due(store, kit.now, 1)), ["a"]);
    const [a, b] = raised as [AlertRecord, AlertRecord];
    const failed = await store.alertTried(a, { error: "500", nextTryAt: kit.now + 100 }, kit.now);
    assert.deepEqual([failed.delivery, failed.tries, failed.lastError], ["waiting", 1, "500"]);
    const done = await store.alertTried(b, { delivered: true }, kit.now + 3);
    // Who has lost the answer says it again: it counts once.
    assert.deepEqual(await store.alertTried(a, { error: "again", nextTryAt: kit.now + 900 }, kit.now), failed);
    assert.deepEqual(
      [done.delivery, done.tries, done.deliveredAt, done.nextTryAt],
      ["delivered", 1, kit.now + 3, null],
    );
    assert.deepEqual(keys(await due(store, kit.now + 99)), []);
    kit.pass(500);
    assert.deepEqual(keys(await due(store, kit.now)), ["a", "c"]);
    const over = await store.alertTried(failed, { error: "gone", nextTryAt: null }, kit.now);
    assert.deepEqual([over.delivery, over.tries, over.lastError, over.nextTryAt], ["given_up", 2, "gone", null]);
    // A second opinion about what is over changes nothing.
    assert.deepEqual(await store.alertTried(a, { delivered: true }, kit.now), over);
    assert.deepEqual(await store.alertTried(b, { error: "late", nextTryAt: kit.now }, kit.now), done);
    assert.deepEqual(keys(await due(store, kit.now)), ["c"]);
    for (const id of [NOBODY, "not an id"])
      await refused("not_found", store.alertTried({ id, tries: 0 }, { delivered: true }, kit.now));
  });

  scenario(
    "of two who deliver, each alert is one's own until its time; failed runs wait for all others",
    async (kit) => {
      const { store } = kit;
      const failed = ["a", "b", "c"].map((key) => newAlert(key));
      await store.raiseAlerts(failed, { deliver: true }, kit.now);
      kit.pass(10);
      const others = [newAlert("disk", { kind: "disk_low" }), newAlert("lost", { kind: "worker_lost" })];
      await store.raiseAlerts(others, { deliver: true }, kit.now);
      const other = await kit.open();
      const until = kit.now + 1000;
      const mine = await store.takeDueAlerts({ limit: 3, until }, kit.now);
      assert.deepEqual(keys(mine), ["disk", "lost", "a"]);
      assert.ok(mine.every(({ nextTryAt, delivery }) => nextTryAt === until && delivery === "waiting"));
      assert.deepEqual(keys(await other.takeDueAlerts({ limit: 3, until }, kit.now)), ["b", "c"]);
      assert.deepEqual(await other.takeDueAlerts({ limit: 3, until }, kit.now), []);
      await store.alertTried(mine[0]!, { delivered: true }, kit.now);
      kit.pass(1000);
      assert.deepEqual(keys(await due(other, kit.now)), ["lost", "a", "b", "c"]);
    },
  );

  scenario("events are looked through in short looks, for those of the given types", async (kit) => {
    const { store } = kit;
    const after = await store.alertCursor();
    for (const key of ["a", "b", "c"]) await kit.page(key);
    const grant = await kit.take("w1");
    const { tasks } = (await store.claim(grant, { limit: 10 }, kit.now))!;
    const ended = tasks.map((task, n) => ({ task, verdict: n === 1 ? DONE : FAILED, attempt: attempt(1) }));
    await store.settle([{ hold: grant, tasks: ended }], kit.now);
    const { events, last: newest } = await store.feed({ after, limit: 100 });
    const wanted = events.filter(({ type }) => type === "run.failed");
    assert.ok(wanted.length > 0 && wanted.length < events.length, JSON.stringify(events));
    const ids: string[] = [];
    let looks = 0;
    for (let at = after, more = true; more; looks += 1) {
      const look = await store.findEvents({ after: at, types: ["circuit.opened", "run.failed"], look: 2 });
      ids.push(...look.found.map(({ id }) => id));
      at = look.last;
      more = look.more;
      if (!more) assert.equal(at, newest);
    }
    assert.deepEqual(
      ids,
      wanted.map(({ id }) => id),
    );
    // Numbers of events may have gaps.
    assert.ok(looks >= Math.ceil(events.length / 2), `${looks} looks`);
    const all = await store.findEvents({ after, types: ["run.failed"], look: 100 });
    assert.deepEqual(
      all.found,
      wanted.map(({ id, runId, type, level, message, meta, createdAt }) => {
        return { id, runId, isPart: false, type, level, message, meta, createdAt };
      }),
    );
    assert.deepEqual(await store.findEvents({ after: all.last, types: ["run.failed"], look: 100 }), {
      found: [],
      last: all.last,
      more: false,
    });
    await refusedField("after", store.findEvents({ after: NOBODY, types: [], look: 1 }));
  });

  scenario("how far the feed was looked through is kept with what was raised, and never goes back", async (kit) => {
    const { store } = kit;
    const begin = await store.alertCursor();
    const { last } = await store.feed({ limit: 0 });
    assert.equal(begin, last, "what happened before is no news");
    await kit.page();
    const page = await store.feed({ after: begin, limit: 10 });
    assert.ok(page.events.length > 0);
    await store.raiseAlerts([newAlert("one")], { deliver: true, feed: page.last }, kit.now);
    assert.equal(await (await kit.open()).alertCursor(), page.last);
    await store.raiseAlerts([], { deliver: true, feed: begin }, kit.now);
    assert.equal(await store.alertCursor(), page.last);
    await refusedField("after", store.raiseAlerts([newAlert("two")], { deliver: true, feed: NOBODY }, kit.now));
    assert.deepEqual(keys(await store.alerts({ limit: 10 })), ["one"], "both or neither");
  });

  scenario("alerts come newest first, by kind, without gaps or doubles while others are raised", async (kit) => {
    const { store } = kit;
    for (let n = 0; n < 5; n += 1)
      await store.raiseAlerts(
        [newAlert(`run ${n}`), newAlert(`site ${n}`, { kind: "breaker_open" })],
        { deliver: n % 2 === 0 },
        kit.now,
      );
    const late = async () => {
      kit.pass(1);
      await store.raiseAlerts([newAlert(`late ${kit.now}`)], { deliver: false }, kit.now);
    };
    const seen = await walk((position) => store.alerts({ ...position, kind: "breaker_open" }), 2, late);
    assert.deepEqual(keys(seen), ["site 4", "site 3", "site 2", "site 1", "site 0"]);
    const all = await walk((position) => store.alerts(position), 3);
    assert.equal(new Set(keys(all)).size, all.length);
    const counts = await store.countAlerts();
    const count = (kind: string, delivery: string) =>
      counts.find((one) => one.kind === kind && one.delivery === delivery)?.count;
    assert.deepEqual([count("breaker_open", "waiting"), count("breaker_open", "off")], [3, 2]);
    assert.equal(
      counts.reduce((sum, one) => sum + one.count, 0),
      all.length,
    );
    await refusedField("after", store.alerts({ after: NOBODY, limit: 1 }));
  });
}
