import assert from "node:assert/strict";
import type { Created, IdempotencyKey } from "../../../src/store/records/job-records.ts";
import type { NewRun, Store } from "../../../src/store/ports/port.ts";
import { newJob } from "./jobs.ts";
import { DONE, type Kit, LANE, newTask, refused, type Scenario } from "./kit.ts";
import { newSession } from "./sessions.ts";

const DAY = 24 * 3_600_000;
const ONCE: IdempotencyKey = { key: "key-1", fingerprint: "print-1" };
const RUN: NewRun = { kind: "page", name: "page", url: "https://a.example/", maxAttempts: 3, snapshot: { a: [1] } };

interface Verb {
  what: string;
  make(store: Store, now: number, once?: IdempotencyKey): Promise<Created<{ id: string }>>;
  /** The ids of what is there. */
  ids(store: Store): Promise<string[]>;
}

const list = (rows: { id: string }[]) => rows.map(({ id }) => id);

/** Every method that may be called again under a key. */
const VERBS: readonly Verb[] = [
  {
    what: "a job",
    make: (store, now, once) => store.createJob(newJob("job", { tags: ["t"] }), now, once),
    ids: async (store) => list(await store.jobs({ limit: 100 })),
  },
  {
    what: "a run",
    make: (store, now, once) => store.startRun(RUN, [newTask("a"), newTask("b")], now, once),
    ids: async (store) => list(await store.runs({ limit: 100 })),
  },
  {
    what: "a session",
    make: (store, now, once) => store.createSession(newSession(null), now, once),
    ids: async (store) => list(await store.sessions({ limit: 100 })),
  },
];

async function expectRepeats(kit: Kit, method: Verb, first: Created<{ id: string }>, store = kit.store): Promise<void> {
  const again = await method.make(store, kit.now, ONCE);
  assert.deepEqual(again, { created: first.created, lanes: [], replayed: true });
}

export function onceScenarios(scenario: Scenario): void {
  for (const method of VERBS) {
    scenario(`${method.what} is made once per key, from every connection, with equal answers`, async (kit) => {
      const other = await kit.open();
      const answers = await Promise.all([
        method.make(kit.store, kit.now, ONCE),
        method.make(other, kit.now, ONCE),
        method.make(kit.store, kit.now, ONCE),
      ]);
      const first = answers.find((one) => !one.replayed);
      assert.ok(first !== undefined);
      assert.equal(answers.filter((one) => one.replayed).length, 2);
      for (const answer of answers) assert.deepEqual(answer.created, first.created);
      assert.deepEqual(await method.ids(kit.store), [first.created.id]);
      kit.pass(DAY);
      await expectRepeats(kit, method, first);
    });

    scenario(`${method.what} is known by its key before it would be made again`, async (kit) => {
      assert.equal(await kit.store.answered(ONCE, kit.now), null);
      const { created } = await method.make(kit.store, kit.now, ONCE);
      assert.equal(((await kit.store.answered(ONCE, kit.now)) as { id: string }).id, created.id);
      assert.equal(await kit.store.answered({ ...ONCE, key: "key-2" }, kit.now), null);
      await refused("idempotency_conflict", kit.store.answered({ ...ONCE, fingerprint: "print-2" }, kit.now));
      kit.pass(8 * DAY);
      assert.equal(await kit.store.answered(ONCE, kit.now), null, "it is forgotten by now");
    });

    scenario(`${method.what} is not made again after the database was closed and opened`, async (kit) => {
      const before = await kit.open();
      const first = await method.make(before, kit.now, ONCE);
      await before.close();
      const after = await kit.open();
      await expectRepeats(kit, method, first, after);
      assert.deepEqual(await method.ids(after), [first.created.id]);
    });

    scenario(`${method.what} under a key of another call is refused, and nothing is made`, async (kit) => {
      const first = await method.make(kit.store, kit.now, ONCE);
      await refused("idempotency_conflict", method.make(kit.store, kit.now, { ...ONCE, fingerprint: "print-2" }));
      assert.deepEqual(await method.ids(kit.store), [first.created.id]);
      await expectRepeats(kit, method, first);
    });

    scenario(`${method.what} without a key is made every time, and under another key too`, async (kit) => {
      for (const once of [undefined, undefined, ONCE, { ...ONCE, key: "key-2" }]) {
        assert.equal((await method.make(kit.store, kit.now, once)).replayed, false);
      }
      assert.equal(new Set(await method.ids(kit.store)).size, 4);
    });

    scenario(`${method.what} is made anew when its key is old enough to be forgotten`, async (kit) => {
      const first = await method.make(kit.store, kit.now, ONCE);
      kit.pass(6 * DAY);
      await expectRepeats(kit, method, first);
      kit.pass(2 * DAY);
      // Also for another call: a forgotten key is as good as new.
      const once = { ...ONCE, fingerprint: "print-2" };
      const second = await method.make(kit.store, kit.now, once);
      assert.equal(second.replayed, false);
      assert.notEqual(second.created.id, first.created.id);
      const again = await method.make(kit.store, kit.now, once);
      assert.deepEqual([again.replayed, again.created], [true, second.created]);
      await refused("idempotency_conflict", method.make(kit.store, kit.now, ONCE));
      assert.equal((await method.ids(kit.store)).length, 2);
    });
  }

  scenario("a younger key does not make an older one forgotten before its time", async (kit) => {
    const first = await kit.store.createJob(newJob("job"), kit.now, ONCE);
    kit.pass(5 * DAY);
    await kit.store.createJob(newJob("other"), kit.now, { ...ONCE, key: "key-2" });
    const again = await kit.store.createJob(newJob("job"), kit.now, ONCE);
    assert.deepEqual([again.replayed, again.created], [true, first.created]);
  });

  scenario("one key is one call: a key of a job is refused for a session", async (kit) => {
    await kit.store.createJob(newJob("job"), kit.now, ONCE);
    await refused(
      "idempotency_conflict",
      kit.store.createSession(newSession("login"), kit.now, { ...ONCE, fingerprint: "session" }),
    );
    assert.deepEqual(await kit.store.sessions({ limit: 10 }), []);
  });

  scenario("the first answer is given again, whatever has become of the job since", async (kit) => {
    const first = await kit.store.createJob(newJob("before"), kit.now, ONCE);
    await kit.store.updateJob(first.created.id, { name: "after" }, kit.now);
    const again = () => kit.store.createJob(newJob("before"), kit.now, ONCE);
    assert.deepEqual((await again()).created, first.created);
    await kit.store.deleteJob(first.created.id, kit.now);
    assert.deepEqual((await again()).created, first.created);
    assert.deepEqual(await kit.store.jobs({ limit: 10 }), []);
  });

  scenario("a session that was deleted does not come back by a repeated call", async (kit) => {
    const first = await kit.store.createSession(newSession("login"), kit.now, ONCE);
    await kit.store.deleteSession(first.created.id);
    const again = await kit.store.createSession(newSession("login"), kit.now, ONCE);
    assert.deepEqual(again.created, first.created);
    assert.equal(await kit.store.session(first.created.id), null);
  });

  scenario("a run that has ended is not started again by a repeated call", async (kit) => {
    const start = () => kit.store.startRun(RUN, [newTask("a")], kit.now, ONCE);
    const first = await start();
    assert.deepEqual(first.lanes, [LANE]);
    const lane = await kit.take("A");
    await kit.work(lane, DONE);
    const again = await start();
    assert.deepEqual([again.created, again.lanes, again.replayed], [first.created, [], true]);
    assert.equal(await kit.status(first.created), "completed");
    assert.deepEqual(await kit.counts(first.created), { completed: 1 });
    assert.equal((await kit.ends(first.created)).length, 1);
    assert.deepEqual((await kit.claim(lane)).tasks, []);
  });

  scenario("a call that was refused keeps no key: what is right the second time is made", async (kit) => {
    const alias = { ...RUN, alias: "only one" };
    await kit.store.openRun(alias, kit.now);
    await assert.rejects(kit.store.startRun(alias, [newTask("a")], kit.now, ONCE));
    assert.equal((await kit.store.runs({ limit: 10 })).length, 1);
    assert.deepEqual(await kit.store.lanesWithWork(), []);
    const { replayed } = await kit.store.startRun(RUN, [newTask("a")], kit.now, ONCE);
    assert.equal(replayed, false);
  });

  scenario("many old keys are forgotten a few at a time, and none of the young ones", async (kit) => {
    const key = (n: number) => ({ key: `old-${n}`, fingerprint: "print" });
    for (let n = 0; n < 250; n += 1) await kit.store.createJob(newJob("old"), kit.now, key(n));
    kit.pass(8 * DAY);
    for (let n = 0; n < 5; n += 1)
      await kit.store.createJob(newJob("young"), kit.now, { ...key(n), key: `young-${n}` });
    for (let n = 0; n < 250; n += 50) {
      assert.equal((await kit.store.createJob(newJob("new"), kit.now, key(n))).replayed, false);
    }
    for (let n = 0; n < 5; n += 1) {
      const once = { ...key(n), key: `young-${n}` };
      assert.equal((await kit.store.createJob(newJob("young"), kit.now, once)).replayed, true);
    }
  });
}
