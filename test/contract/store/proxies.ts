import assert from "node:assert/strict";
import type { NewProxy, ProxyRecord, ProxySeen } from "../../../src/store/ports/proxy-port.ts";
import {
  DONE,
  FAILED,
  type Kit,
  keysOf,
  newTask,
  NOBODY,
  refused,
  refusedField,
  type Scenario,
  walk,
  temporary,
} from "./kit.ts";

const SEALED = new Uint8Array([1, 2, 3]);

const newProxy = (port: number, more: Partial<NewProxy> = {}): NewProxy => ({
  scheme: "http",
  hostname: "proxy.example",
  port,
  sealed: null,
  userHash: "",
  passwordHash: "",
  ...more,
});

/** One proxy for each port, in this order. */
async function add(kit: Kit, ...ports: number[]): Promise<ProxyRecord[]> {
  await kit.store.addProxies(
    ports.map((port) => newProxy(port)),
    kit.now,
  );
  const all = await kit.store.proxies({ limit: 1000 });
  return ports.map((port) => all.find((proxy) => proxy.port === port) ?? assert.fail(`no proxy at ${port}`));
}

const GOOD = { kind: "good", latencyMs: 80 } as const;
const FAULT = { kind: "fault", why: "refused" } as const;

/** A use at a site, or a check. */
const used = (kit: Kit, { id }: { id: string }, more: Partial<ProxySeen> = {}): ProxySeen => ({
  id,
  outcome: GOOD,
  at: kit.now,
  site: "shop.example",
  ...more,
});
const checked = (kit: Kit, proxy: { id: string }, more: Partial<ProxySeen> = {}): ProxySeen =>
  used(kit, proxy, { site: null, ...more });

/** What a pool reads that has read everything up to this change. */
async function changedSince(kit: Kit, since: number): Promise<number[]> {
  return ports((await kit.store.changedProxies(since, 100)).proxies);
}

const ports = (list: readonly ProxyRecord[]) => list.map(({ port }) => port);
const REFRESH = { kind: "proxy_refresh", maxAttempts: 3, snapshot: { which: "due" }, temporary: true } as const;
const chunk = (key: string) => newTask(key, { lane: "proxies", site: null, url: null, handler: "@proxy_check" });

export function proxyScenarios(scenario: Scenario): void {
  scenario("proxies are added once each; another user of the same one is another", async (kit) => {
    const user = { sealed: SEALED, userHash: "a", passwordHash: "p" };
    const list = [newProxy(1), newProxy(2, user), newProxy(2, { ...user, userHash: "b" }), newProxy(1)];
    assert.deepEqual(await kit.store.addProxies(list, kit.now), { added: 3, existing: 1 });
    const [second, first] = (await kit.store.proxies({ limit: 2 })) as [ProxyRecord, ProxyRecord];
    const three = { outcome: FAULT, at: kit.now };
    await kit.store.noteProxies([used(kit, first, three), used(kit, second, three)], kit.now);
    const { changed } = await kit.store.proxyVersion();
    const again = newProxy(2, { ...user, userHash: "b", sealed: new Uint8Array([8]) });
    const renewed = newProxy(2, { ...user, sealed: new Uint8Array([9]), passwordHash: "q" });
    assert.deepEqual(await kit.store.addProxies([renewed, again], kit.now), { added: 0, existing: 2 });
    const { proxies: told } = await kit.store.changedProxies(changed, 10);
    assert.deepEqual(
      told.map(({ id, state, restUntil, restStep, lastError }) => [id, state, restUntil, restStep, lastError]),
      [[first.id, "unchecked", 0, 0, null]],
      "with another password it begins anew; with the same one it goes on resting",
    );
    assert.equal((await kit.store.proxy(second.id))?.state, "resting");
    const [b, a, plain] = await kit.store.proxies({ limit: 10 });
    assert.deepEqual([b?.sealed, a?.sealed, plain?.sealed], [SEALED, new Uint8Array([9]), null]);
    assert.deepEqual(plain, {
      id: plain?.id,
      scheme: "http",
      hostname: "proxy.example",
      port: 1,
      sealed: null,
      state: "unchecked",
      score: 0.5,
      latencyMs: null,
      successes: 0,
      failures: 0,
      blocks: 0,
      restUntil: 0,
      restStep: 0,
      lastError: null,
      checkedAt: null,
      usedAt: null,
      createdAt: kit.now,
    });
    assert.deepEqual(await kit.store.proxy(plain.id), plain);
  });

  scenario("a list of proxies is read page by page, newest first, also while they go", async (kit) => {
    const all = await add(kit, 1, 2, 3, 4, 5);
    await kit.store.noteProxies([used(kit, all[1]!), used(kit, all[3]!)], kit.now);
    let at = 4;
    const read = await walk(
      (position) => kit.store.proxies(position),
      2,
      async () => {
        if (at === 4) await kit.store.deleteProxy(all[3]!.id);
        at = 0;
      },
    );
    assert.deepEqual(ports(read), [5, 4, 3, 2, 1], "one goes on behind what is gone");
    assert.deepEqual(ports(await kit.store.proxies({ state: "usable", limit: 10 })), [2]);
    await refusedField("after", kit.store.proxies({ after: NOBODY, limit: 10 }));
  });

  scenario("what was seen says how proxies have served, adds up, and is counted by state", async (kit) => {
    const [good, bad, off, never] = (await add(kit, 1, 2, 3, 4)) as [
      ProxyRecord,
      ProxyRecord,
      ProxyRecord,
      ProxyRecord,
    ];
    const { changed: before } = await kit.store.proxyVersion();
    const fault = { outcome: FAULT };
    const seen = [checked(kit, good), used(kit, bad), used(kit, bad, fault), used(kit, bad, fault), used(kit, off)];
    await kit.store.noteProxies([...seen, used(kit, { id: NOBODY })], kit.now);
    assert.deepEqual(await changedSince(kit, before), [1, 2, 3]);
    const { changed: noted } = await kit.store.proxyVersion();
    assert.equal((await kit.store.setProxyDisabled(off.id, true)).state, "disabled");
    assert.deepEqual(await changedSince(kit, noted), [3]);
    assert.deepEqual(await kit.store.countProxies(), {
      total: 4,
      usable: 1,
      unchecked: 1,
      resting: 1,
      disabled: 1,
      usedAt: kit.now,
    });

    const quiet = await kit.store.proxyVersion();
    const blocked = { outcome: { kind: "blocked" } } as const;
    await kit.store.noteProxies([used(kit, good), used(kit, good, blocked), used(kit, off)], kit.now);
    assert.deepEqual(await kit.store.proxyVersion(), quiet, "no state has changed");
    const [first, second] = (await Promise.all([good, bad].map(({ id }) => kit.store.proxy(id)))) as [
      ProxyRecord,
      ProxyRecord,
    ];
    assert.deepEqual(
      [first.state, first.successes, first.blocks, first.checkedAt, first.usedAt, first.latencyMs],
      ["usable", 2, 1, kit.now, kit.now, 80],
    );
    assert.ok(first.score > good.score && second.score < good.score);
    assert.deepEqual(
      [second.state, second.restUntil, second.restStep, second.lastError, second.successes, second.failures],
      ["resting", kit.now + 30_000, 1, "refused", 1, 2],
    );
    assert.equal(
      (await kit.store.setProxyDisabled(off.id, false)).state,
      "usable",
      "what was known of it is known again",
    );
    assert.equal((await kit.store.proxy(never.id))?.state, "unchecked");
    await refused("not_found", kit.store.setProxyDisabled(NOBODY, true));
  });

  scenario("whoever follows the changes from the beginning has read all, and learns that one is gone", async (kit) => {
    const all = await add(kit, 1, 2, 3, 4, 5);
    await kit.store.noteProxies([used(kit, all[1]!)], kit.now);
    const read: number[] = [];
    for (let since = 0; ;) {
      const { proxies, next } = await kit.store.changedProxies(since, 2);
      if (proxies.length === 0) break;
      read.push(...ports(proxies));
      since = next;
      if (read.length === 2) await kit.store.setProxyDisabled(all[0]!.id, true);
    }
    assert.deepEqual(read, [1, 3, 4, 5, 2, 1], "what changes meanwhile is read again");
    const { changed } = await kit.store.proxyVersion();
    await kit.store.deleteProxy(all[2]!.id);
    const after = await kit.store.proxyVersion();
    assert.ok(after.changed > changed && after.removed === after.changed);
  });

  scenario(
    "uses and checks are written late: what the other has shown later holds, and all are counted",
    async (kit) => {
      const [one, two] = (await add(kit, 1, 2)) as [ProxyRecord, ProxyRecord];
      const early = kit.now;
      kit.pass(500);
      await kit.store.noteProxies([checked(kit, one), used(kit, two, { outcome: FAULT })], kit.now);
      const { changed } = await kit.store.proxyVersion();
      const late = kit.now;
      kit.pass(500);
      const fault = { outcome: FAULT, at: early };
      await kit.store.noteProxies([used(kit, one, fault), checked(kit, two, { at: early })], kit.now);
      const known = await kit.store.proxy(one.id);
      assert.deepEqual(
        [known?.state, known?.restUntil, known?.lastError, known?.failures, known?.usedAt, known?.checkedAt],
        ["usable", 0, null, 1, early, late],
      );
      const other = await kit.store.proxy(two.id);
      assert.deepEqual([other?.state, other?.successes, other?.checkedAt], ["resting", 1, early]);
      assert.deepEqual(await changedSince(kit, changed), [1, 2], "whoever believes otherwise reads it again");
      await kit.store.noteProxies([used(kit, one, { outcome: FAULT })], kit.now);
      assert.equal((await kit.store.proxy(one.id))?.state, "resting", "a later use counts");
    },
  );

  scenario("when the clock is set back, what is seen from then on still counts", async (kit) => {
    const [one, two] = (await add(kit, 1, 2)) as [ProxyRecord, ProxyRecord];
    const before = kit.now + 3_600_000;
    await kit.store.noteProxies([checked(kit, one, { at: before }), used(kit, two, { at: before })], before);
    await kit.store.noteProxies([used(kit, one, { outcome: FAULT }), checked(kit, two, { outcome: FAULT })], kit.now);
    for (const { id } of [one, two]) assert.equal((await kit.store.proxy(id))?.state, "resting");
  });

  scenario("how a proxy does at a site is remembered: of the newest sites, the newest answers most", async (kit) => {
    const [one, two] = (await add(kit, 1, 2)) as [ProxyRecord, ProxyRecord];
    const blocked = { kind: "blocked" } as const;
    const at = (site: string, outcome: ProxySeen["outcome"], times: number) =>
      Array.from({ length: times }, () => used(kit, one, { site, outcome }));
    await kit.store.noteProxies([...at("a.example", GOOD, 30), ...at("a.example", blocked, 10)], kit.now);
    await kit.store.noteProxies(
      [...at("a.example", blocked, 1), ...at("a.example", FAULT, 1), used(kit, two)],
      kit.now,
    );
    const known = { id: one.id, successes: 15, failures: 0, blocks: 6, at: kit.now };
    assert.deepEqual(await kit.store.proxySites("a.example"), [known]);
    kit.pass(600_000);
    await kit.store.noteProxies(at("a.example", blocked, 1), kit.now);
    const later = { ...known, successes: 7.5, blocks: 4, at: kit.now };
    assert.deepEqual(await kit.store.proxySites("a.example"), [later], "what was long ago counts less");
    for (let n = 0; n < 120; n += 1) {
      kit.pass(1);
      await kit.store.noteProxies(at(`s${n}.example`, GOOD, 1), kit.now);
    }
    assert.deepEqual(await kit.store.proxySites("a.example"), []);
    assert.equal((await kit.store.proxySites("s119.example")).length, 1);
    await kit.store.deleteProxy(one.id);
    assert.deepEqual(await kit.store.proxySites("s119.example"), []);
    assert.equal(await kit.store.proxy(one.id), null);
    await refused("not_found", kit.store.deleteProxy(one.id));
  });

  scenario("a run that needs proxies is held from its beginning when too few are usable", async (kit) => {
    const [one] = (await add(kit, 1, 2)) as [ProxyRecord];
    const needs = { proxies: { atLeast: 2, waitMs: 5000 } };
    await kit.store.noteProxies([used(kit, one)], kit.now);
    const held = await kit.page("held", needs);
    const words =
      "Waiting for proxies: 1 usable, at least 2 required; the others are checked again, after a pause if they failed";
    assert.deepEqual((await kit.store.run(held.id))?.hold, {
      reason: "proxies",
      since: kit.now,
      until: kit.now + 5000,
      message: words,
    });
    assert.deepEqual(await kit.words(held), ["Run created", words]);
    await kit.page("free", { proxies: { atLeast: 1, waitMs: 5000 } });
    assert.deepEqual(keysOf(await kit.claim(await kit.take("w"))), ["free"]);
  });

  scenario(
    "a run that needs proxies asks for them also when it is opened again, and when its turn has come",
    async (kit) => {
      const [one] = (await add(kit, 1)) as [ProxyRecord];
      const needs = { proxies: { atLeast: 1, waitMs: 5000 } };
      await kit.store.noteProxies([used(kit, one)], kit.now);
      const failed = await kit.page("failed", needs);
      await kit.work(await kit.take("w"), FAILED);
      const hold = {
        reason: "previous_run",
        since: kit.now,
        until: null,
        message: "Waiting for the run before it",
      } as const;
      const queued = await kit.page("queued", { ...needs, hold });
      await kit.store.setProxyDisabled(one.id, true);
      kit.pass(1000);
      const words = "Waiting for proxies: all are disabled; enable some (orb proxies enable ID)";
      const event = { level: "info", message: "The run before it has ended" } as const;
      assert.deepEqual(await kit.store.releaseRuns([queued.id], "previous_run", event, kit.now), {
        released: [],
        lanes: [],
      });
      assert.equal((await kit.store.retryFailed(failed.id, { limit: 10 }, kit.now)).requeued, 1);
      for (const run of [failed, queued]) {
        const { reason, until, message } = (await kit.store.run(run.id))!.hold!;
        assert.deepEqual([reason, until, message], ["proxies", kit.now + 5000, words]);
        assert.equal((await kit.words(run)).at(-1), words);
      }
      assert.deepEqual(
        (await kit.store.heldRuns("proxies", 10)).map(({ id, waits }) => [id, waits]),
        [
          [failed.id, 0],
          [queued.id, 0],
        ],
      );
    },
  );

  scenario("a check looks at those that were checked longest ago first, and leaves alone who rests", async (kit) => {
    const all = await add(kit, 1, 2, 3, 4, 5);
    const [fresh, rests, rested, off, old] = all as [ProxyRecord, ProxyRecord, ProxyRecord, ProxyRecord, ProxyRecord];
    const never = (await add(kit, 6))[0]!;
    await kit.store.noteProxies(
      [
        checked(kit, fresh, { at: kit.now - 10 }),
        checked(kit, rests, { at: kit.now - 29_999, outcome: FAULT }),
        checked(kit, rested, { at: kit.now - 30_000, outcome: FAULT }),
        checked(kit, off, { at: kit.now - 40_000 }),
        checked(kit, old, { at: kit.now - 50_000 }),
      ],
      kit.now,
    );
    await kit.store.setProxyDisabled(off.id, true);
    const toCheck = (which: "all" | "due" | "wanting", now = kit.now) => kit.store.proxiesToCheck(which, now);
    assert.deepEqual(await toCheck("all"), [never.id, old.id, rested.id, rests.id, fresh.id]);
    assert.deepEqual(await toCheck("due"), [never.id, old.id, rested.id, fresh.id]);
    assert.deepEqual(await toCheck("wanting"), [never.id, rested.id]);
    const setBack = kit.now - 24 * 3_600_000;
    assert.deepEqual(await toCheck("wanting", setBack), [never.id, rested.id, rests.id], "nobody rests for days");
  });

  scenario("one check of all proxies is at work at a time; when it has ended, another may begin", async (kit) => {
    assert.equal(await kit.store.lastRefresh(), null);
    const first = await kit.store.startRefresh(REFRESH, [chunk("0")], kit.now);
    assert.deepEqual([first.started, first.lanes], [true, ["proxies"]]);
    const again = await kit.store.startRefresh(REFRESH, [chunk("0")], kit.now);
    assert.deepEqual([again.started, again.run.id, again.lanes], [false, first.run.id, []]);
    await kit.work(await kit.take("w", "proxies"), DONE);
    assert.equal((await kit.store.lastRefresh())?.status, "completed");
    const next = await kit.store.startRefresh(REFRESH, [chunk("0")], kit.now + 1);
    assert.deepEqual([next.started, (await kit.store.lastRefresh())?.id], [true, next.run.id]);
    assert.equal((await kit.store.lastRefresh(["all", "due"]))?.id, next.run.id);
    assert.equal(await kit.store.lastRefresh(["wanting"]), null);
    kit.pass(10);
    assert.equal(await kit.store.expireRuns(temporary(kit.now), 10, kit.now), 1, "old ones go as crawls do");
    assert.equal(await kit.store.run(first.run.id), null);
    while ((await kit.store.removeExpired(100)) > 0);
  });
}
