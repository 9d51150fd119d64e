import assert from "node:assert/strict";
import { test } from "node:test";
import { assertSound, drainThroughKills, WINDOW, withSeed } from "./kills.ts";
import { assertStored, FULL, Orb, report } from "./orb.ts";
import { bodyOf, Target } from "./target.ts";

const ITEMS = 1000;
const PER_HOST = 8;

type Kind = "ok" | "flaky" | "reset" | "gone" | "broken";

function kindOf(index: number): Kind {
  if (index % 10 === 3) return "flaky";
  if (index % 20 === 7) return "reset";
  if (index % 20 === 11) return "gone";
  return index % 50 === 17 ? "broken" : "ok";
}

test("one site's queue of good, flaky and missing pages ends right however often the process is killed", async () => {
  await withSeed(async (random) => {
    const kills = FULL ? 50 : 4;
    await using target = await Target.start(1);
    await using orb = new Orb({ APP_MAX_PER_HOST: String(PER_HOST), APP_BREAKER_FAILURES: "1000" });
    // A page that fails on its first complete answer; a kill before it must not count as one.
    const failed = new Set<string>();
    target.latencyMs = 12;
    target.script = (path) => {
      const kind = path.split("/")[2] as Kind;
      if (kind === "gone") return { status: 404, body: "gone" };
      if (kind === "broken") return { status: 500, body: "always" };
      if (kind === "ok" || failed.has(path)) return { body: bodyOf(path) };
      failed.add(path);
      return kind === "flaky" ? { status: 500, body: "try again" } : { body: "", reset: true };
    };
    const all = Array.from({ length: ITEMS }, (_, index) => ({ name: `i${index}`, kind: kindOf(index) }));
    const pathOf = (item: { name: string; kind: Kind }) => `/p/${item.kind}/${item.name}`;
    const { added } = await orb.import(all.map((item) => ({ artifact_id: item.name, url: target.url(pathOf(item)) })));
    assert.equal(added, ITEMS);

    const { slowestResumeMs, last } = await drainThroughKills(orb, target, { kills, requests: ITEMS, random });
    assert.equal(last.code, 3, `errors are left: partial. ${last.stderr}`);

    const items = await orb.items();
    assert.equal(items.size, ITEMS);
    for (const item of all) {
      const found = items.get(item.name);
      const story = `${item.name} (${item.kind}): ${JSON.stringify(found)}`;
      switch (item.kind) {
        case "ok":
          assertStored(found, bodyOf(pathOf(item)), item.name);
          assert.equal(found?.attempts, 1, story);
          break;
        case "flaky":
        case "reset":
          assertStored(found, bodyOf(pathOf(item)), item.name);
          // The answer that failed may have died with the process before it was written.
          assert.ok(found?.attempts === 1 || found?.attempts === 2, story);
          break;
        case "gone":
          assert.deepEqual([found?.state, found?.failure, found?.attempts], ["failed", "http_not_found", 1], story);
          break;
        case "broken":
          assert.deepEqual([found?.state, found?.failure, found?.attempts], ["failed", "http_server_error", 3], story);
          break;
      }
    }
    const needed = all.reduce(
      (sum, { kind }) => sum + (kind === "broken" ? 3 : kind === "flaky" || kind === "reset" ? 2 : 1),
      0,
    );
    const refetches = target.hits.length - needed;
    assert.ok(refetches <= WINDOW * kills, `${refetches} refetches`);
    for (const most of target.mostPerSite.values()) assert.ok(most <= PER_HOST, `${most} at once`);
    await orb.audit();
    assertSound(orb.database);
    report("kill -9", {
      items: ITEMS,
      kills,
      refetches,
      "slowest resume ms": slowestResumeMs,
      "most at once": Math.max(...target.mostPerSite.values()),
    });
  });
});
