import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { type ProxiesThere, waitForProxies } from "../../src/domain/run/run-hold.ts";
import { restMs } from "../../src/domain/proxy/proxy-score.ts";
import { checkHeldRuns } from "../../src/orchestrator/proxies/held-runs.ts";
import { keepProxiesFresh } from "../../src/orchestrator/proxies/keep-fresh.ts";
import type { ProxyRules } from "../../src/orchestrator/proxies/rules.ts";
import type { NewRun } from "../../src/store/ports/port.ts";
import { DONE, newTask } from "../contract/store/kit.ts";
import { PROXY_RULES } from "../support/proxy-rules.ts";
import { openOrchestrator } from "./kit.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const RULES: ProxyRules = { ...PROXY_RULES, atLeast: 1, waitMs: 5 * MINUTE, shortage: "use_fewer", refreshEveryMs: 0 };

async function open(t: TestContext, rules: Partial<ProxyRules> = {}) {
  const orchestrator = await openOrchestrator(t);
  const { store, clock } = orchestrator;
  const proxyRules = { ...RULES, ...rules };
  const deps = {
    ...orchestrator,
    proxyRules,
    siteDefaults: { maxPerSite: 4, minDelayMs: 0 },
    defaultMaxAttempts: 3,
    maxConcurrentCrawls: 5,
  };
  const usable = (id: string) => {
    const at = clock.now();
    return store.noteProxies([{ id, outcome: { kind: "good", latencyMs: 10 }, at, site: null }], at);
  };
  /** It has failed so often in a row, the last time now. */
  const rests = (id: string, times: number) => {
    let at = clock.now();
    for (let step = 0; step < times - 1; step += 1) at -= restMs(step);
    const seen = Array.from({ length: times }, (_, step) => {
      const failed = { id, outcome: { kind: "fault", why: "gone" } as const, at, site: null };
      at += restMs(step);
      return failed;
    });
    return store.noteProxies(seen, clock.now());
  };
  return {
    ...deps,
    usable,
    rests,
    async add(count: number, state: "usable" | null): Promise<string[]> {
      const ports = Array.from({ length: count }, (_, index) => index + 1);
      await store.addProxies(
        ports.map((port) => ({
          scheme: "http",
          hostname: "p.example",
          port,
          sealed: null,
          userHash: "",
          passwordHash: "",
        })),
        clock.now(),
      );
      const ids = (await store.proxies({ limit: count })).map(({ id }) => id);
      if (state !== null) for (const id of ids) await usable(id);
      return ids;
    },
    async begin(more: Partial<NewRun> = {}): Promise<string> {
      const proxies = { atLeast: Math.max(1, proxyRules.atLeast), waitMs: proxyRules.waitMs };
      const run: NewRun = { kind: "page", maxAttempts: 3, snapshot: {}, proxies, ...more };
      return (await store.startRun(run, [newTask("a")], clock.now())).created.id;
    },
    /** As when a page found no proxy. */
    hold: async (id: string) => {
      const hold = waitForProxies({ usable: 0, total: 1, disabled: 0 }, 1, {
        now: clock.now(),
        waitMs: proxyRules.waitMs,
      });
      return store.holdRun(id, hold, clock.now());
    },
    run: async (id: string) => (await store.run(id))!,
    words: async (id: string) => (await store.events(id, { limit: 1000 })).map(({ message }) => message),
    checks: async () => (await store.runs({ kind: "proxy_refresh", limit: 100 })).map(({ snapshot }) => snapshot),
    endCheck: () => orchestrator.work("proxies", () => DONE),
  };
}

describe("a run that waits for proxies", () => {
  test("ends, although checks say that they are usable while no page comes through any", async (t) => {
    const fixture = await open(t);
    await fixture.add(3, "usable");
    const id = await fixture.begin();
    const begun = fixture.clock.now();
    let waits = 0;
    while ((await fixture.run(id)).finishedAt === null) {
      assert.ok(fixture.clock.now() - begun < 10 * MINUTE, JSON.stringify(await fixture.words(id)));
      if (await fixture.hold(id)) waits += 1;
      await fixture.clock.advance(SECOND);
      await checkHeldRuns(fixture);
    }
    const { status, facts } = await fixture.run(id);
    assert.deepEqual([status, facts.failure_reason], ["failed", "no_proxies"]);
    assert.match(
      facts.error_message ?? "",
      /^for too long, no page could be fetched through a proxy: 3 of 3 proxies usable/,
    );
    assert.ok(waits > 2 && waits < 12, `${waits} waits: later each time`);
    assert.ok(fixture.clock.now() - begun >= 5 * MINUTE);
  });

  test("goes on although its time to wait is shorter than it takes to write what is known", async (t) => {
    const fixture = await open(t, { waitMs: SECOND });
    await fixture.add(1, "usable");
    const id = await fixture.begin();
    await fixture.hold(id);
    await fixture.clock.advance(1500);
    await checkHeldRuns(fixture);
    assert.equal((await fixture.run(id)).status, "queued");
    await fixture.clock.advance(1500);
    await checkHeldRuns(fixture);
    assert.deepEqual([(await fixture.run(id)).hold, (await fixture.run(id)).finishedAt], [null, null]);
  });

  test("waits for no more than there are, unless the policy is to fail", async (t) => {
    for (const shortage of ["use_fewer", "fail"] as const) {
      const fixture = await open(t, { atLeast: 10, shortage });
      const [, last] = await fixture.add(3, "usable");
      await fixture.rests(last!, 1);
      const id = await fixture.begin();
      assert.match(
        (await fixture.run(id)).hold?.message ?? "",
        /^Waiting for proxies: 2 usable, at least 10 required, and the pool has only 3; the others are checked/,
      );
      await checkHeldRuns(fixture);
      assert.notEqual((await fixture.run(id)).hold, null, "the third may come");
      await fixture.usable(last!);
      await checkHeldRuns(fixture);
      const { hold } = await fixture.run(id);
      if (shortage === "fail") assert.notEqual(hold, null);
      else {
        assert.equal(hold, null);
        assert.match(
          (await fixture.words(id)).at(-1)!,
          /^Run continues with fewer proxies than required: 3 proxies are usable/,
        );
      }
    }
  });

  test("is told the truth about what there is", () => {
    const words = (there: ProxiesThere, atLeast = 2) =>
      waitForProxies(there, atLeast, { now: 0, waitMs: 1 }).message.replace("Waiting for proxies: ", "");
    assert.match(words({ usable: 0, total: 0, disabled: 0 }), /^there are none; import some/);
    assert.match(words({ usable: 0, total: 3, disabled: 3 }), /^all are disabled/);
    assert.match(
      words({ usable: 1, total: 1, disabled: 0 }),
      /^1 usable, at least 2 required, and the pool has only 1$/,
    );
    assert.match(words({ usable: 0, total: 4, disabled: 1 }), /^none is usable; they are checked/);
  });
});

describe("checks that nobody has asked for", () => {
  test("are not made when all proxies are switched off, and the run is decided all the same", async (t) => {
    const fixture = await open(t, { waitMs: MINUTE });
    for (const id of await fixture.add(2, null)) await fixture.store.setProxyDisabled(id, true);
    const id = await fixture.begin();
    await checkHeldRuns(fixture);
    await keepProxiesFresh(fixture);
    assert.deepEqual(await fixture.checks(), []);
    await fixture.clock.advance(MINUTE);
    await checkHeldRuns(fixture);
    assert.equal((await fixture.run(id)).facts.failure_reason, "no_proxies");
  });

  test("for a run that waits look once at all, then only at those that are new or have rested", async (t) => {
    const fixture = await open(t, { atLeast: 5 });
    const [one, two, three] = await fixture.add(3, null);
    await fixture.rests(one!, 1);
    await fixture.rests(two!, 6);
    await fixture.rests(three!, 8);
    await fixture.begin();
    const look = async () => {
      const before = (await fixture.checks()).length;
      await checkHeldRuns(fixture);
      await keepProxiesFresh(fixture);
      const all = (await fixture.checks()) as { which: string; total: number }[];
      return all.length === before ? null : `${all[0]!.which} ${all[0]!.total}`;
    };
    assert.equal(await look(), "all 3", "nobody is to fail before everybody was asked");
    await fixture.endCheck();
    assert.equal(await look(), null);
    await fixture.clock.advance(MINUTE);
    assert.equal(await look(), "wanting 1");
    await fixture.endCheck();
    await fixture.usable(one!);
    await fixture.clock.advance(MINUTE);
    assert.equal(await look(), null, "what is usable cannot become more so, and the others rest");
  });

  test("in their rhythm go on although others were made in between", async (t) => {
    const fixture = await open(t, { refreshEveryMs: 10 * MINUTE });
    await fixture.add(2, "usable");
    await keepProxiesFresh(fixture);
    await fixture.endCheck();
    for (let minute = 0; minute < 10; minute += 1) {
      await fixture.add(3 + minute, null);
      await fixture.clock.advance(MINUTE);
      await keepProxiesFresh(fixture);
      await fixture.endCheck();
    }
    const which = ((await fixture.checks()) as { which: string }[]).map((check) => check.which);
    assert.deepEqual(which, ["due", ...Array.from({ length: 9 }, () => "wanting"), "due"]);
  });
});
