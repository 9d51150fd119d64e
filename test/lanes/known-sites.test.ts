import assert from "node:assert/strict";
import { test } from "node:test";
import { KnownSites } from "../../src/lanes/handlers/page-lessons.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

const SITE = "a.example";

test("the pages of a site share one read of it, until its settings change, a lesson is learned or a second has passed", async () => {
  const clock = new FakeClock();
  const real = openSqliteStore({ path: ":memory:", clock, connection: preparedInMemory() });
  try {
    let reads = 0;
    const store = new Proxy(real, {
      get: (target, name) => {
        if (name === "site") reads += 1;
        const value = Reflect.get(target, name, target) as unknown;
        return typeof value === "function" ? (value as (...all: unknown[]) => unknown).bind(target) : value;
      },
    }) as Store;
    const sites = new KnownSites({ store, clock });
    const readsFor = async (pages: number) => {
      const before = reads;
      for (let page = 0; page < pages; page += 1) await sites.of(SITE);
      return reads - before;
    };
    await real.setSite(SITE, { minDelayMs: 100 });
    assert.equal(await readsFor(5), 1);
    assert.equal(await readsFor(5), 0);
    await real.setSite(SITE, { minDelayMs: 200 });
    assert.equal((await sites.of(SITE))?.minDelayMs, 200, "a change applies to the next page");
    assert.equal(await readsFor(5), 0);
    await real.forgetLearned(SITE);
    assert.equal(await readsFor(5), 1, "so does what is forgotten");
    sites.drop(SITE);
    assert.equal(await readsFor(5), 1, "and what is learned");
    await clock.advance(1001);
    assert.equal(await readsFor(5), 1);
  } finally {
    await real.close();
  }
});
