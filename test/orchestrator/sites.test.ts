import assert from "node:assert/strict";
import { test } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import { changeSite, listSites, resetSite, showSite } from "../../src/orchestrator/sites.ts";
import { openDesk } from "./kit.ts";

const code = (expected: string) => (error: unknown) => isOrbError(error) && error.code === expected;

test("limits are set before a site is seen, shown, and taken back", async (t) => {
  const desk = await openDesk(t);
  assert.deepEqual(await listSites(desk), []);
  const set = await changeSite(desk, "Example.COM:80", { maxConcurrency: 2, minDelayMs: 500 });
  assert.deepEqual([set.site, set.max_concurrency, set.min_delay_ms], ["example.com", 2, 500]);
  assert.deepEqual(desk.woken, [null], "owners hear of it");
  assert.deepEqual(await showSite(desk, "example.com"), set);
  const back = await changeSite(desk, "example.com", { maxConcurrency: null });
  assert.deepEqual([back.max_concurrency, back.min_delay_ms], [null, 500]);
});

test("a pause shows and ends", async (t) => {
  const desk = await openDesk(t);
  assert.equal((await changeSite(desk, "a.test:8080", { paused: true })).paused, true);
  assert.equal((await changeSite(desk, "a.test:8080", { paused: false })).paused, false);
  assert.deepEqual(
    (await listSites(desk)).map((site) => site.site),
    ["a.test:8080"],
  );
});

test("what is not a site, and one that nobody knows, are refused", async (t) => {
  const desk = await openDesk(t);
  for (const name of ["http://a.test/", "a.test/path", "user@a.test", "a b", ""])
    await assert.rejects(changeSite(desk, name, { paused: true }), code("input_invalid"), name);
  await assert.rejects(showSite(desk, "nobody.test"), code("not_found"));
  await assert.rejects(resetSite(desk, "nobody.test"), code("not_found"));
});
