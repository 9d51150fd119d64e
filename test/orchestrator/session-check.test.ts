import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { systemRandom } from "../../src/base/random.ts";
import { checkSession, createSession } from "../../src/orchestrator/sessions.ts";
import { pageDeps } from "../api/page-deps.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { hang, page } from "../support/misbehaviours.ts";
import { openOrchestrator } from "./kit.ts";

test("a check of a site that never comes to an end says so, and is remembered", async (t) => {
  await using site = await MisbehavingSite.start({ "/": hang });
  const orchestrator = await openOrchestrator(t);
  // Only the check's own time is in the test's hands; the page has all the time it wants.
  const deps = {
    ...orchestrator,
    random: systemRandom,
    ...pageDeps(t, { store: orchestrator.store, clock: systemClock, allow: "127.0.0.1/32" }),
  };
  const { id } = await createSession(deps, { origin: site.origin, headers: { "x-key": "1" } });
  const checking = checkSession(deps, id);
  await site.visited("/");
  await orchestrator.clock.advance(60_000);
  const { health } = await checking;
  assert.equal(health?.status, "unreachable");
  assert.match(health?.message ?? "", /60 seconds/);
  assert.equal((await orchestrator.store.session(id))?.health?.status, "unreachable");
  assert.equal(orchestrator.clock.waiting, 0);
});

test("a check leaves a site alone that is paused", async (t) => {
  await using site = await MisbehavingSite.start({ "/": page("Members") });
  const orchestrator = await openOrchestrator(t);
  const deps = {
    ...orchestrator,
    random: systemRandom,
    ...pageDeps(t, { store: orchestrator.store, clock: systemClock, allow: "127.0.0.1/32" }),
  };
  const { id } = await createSession(deps, { origin: site.origin, headers: { "x-key": "1" } });
  await orchestrator.store.setSite(site.name, { paused: true });
  await assert.rejects(checkSession(deps, id), (error) => isOrbError(error, "site_waits"));
  assert.equal(site.visits.length, 0);
  await orchestrator.store.setSite(site.name, { paused: false });
  assert.equal((await checkSession(deps, id)).health?.status, "healthy");
  assert.equal(site.visits.length, 1);
});
