import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { integerBelow } from "../../src/base/random.ts";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { html, slow } from "../support/misbehaviours.ts";
import { assertSound, pause, withSeed } from "./kills.ts";
import { FULL, Orb } from "./orb.ts";
import { Served } from "./served.ts";

const KILLS = FULL ? 20 : 3;
const PAGES = FULL ? 400 : 60;

/** Later pages have more fields: saved pages are replaced during the run. */
function pages(count: number): Record<string, Route> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => {
      const fields = ["a", "b", "c"].filter((_name, index) => n >= index * (count / 4));
      const values = fields.map((name) => `<p class="${name}">${name} of ${n}</p>`).join("");
      return [`/${n}`, slow(20, html(`<h1>${n}</h1>${values}<a href="/${n + 1}">x</a><a href="/${n + 2}">x</a>`))];
    }),
  );
}

test("kills lose at most candidates: every file is a saved page's, or one that the sweep removes [slow]", async () => {
  await withSeed(async (random) => {
    await using site = await MisbehavingSite.start(pages(PAGES));
    await using orb = new Orb({ APP_MAX_PER_HOST: "5" });
    let served = await Served.start(orb);
    const fields = { title: "h1", a: ".a", b: ".b", c: ".c" };
    const crawl = { max_depth: PAGES, max_pages: PAGES, fields, headers: { "x-key": "secret" } };
    const created = await served.api.post("/jobs", { kind: "crawl", target_url: site.url("/0"), crawl });
    const job = created.json<JobView>().id;
    const { id } = await served.begin(job);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const goal = site.visits.length + 3 + integerBelow(random, 8);
      await site.when(() => site.visits.length >= goal, "more pages are fetched");
      await pause(integerBelow(random, 40));
      await served.killed();
      served = await Served.start(orb);
    }
    assert.equal((await served.ended(id)).status, "completed");
    assert.equal((await served.client.jobs.fixtures(job)).length, 5);
    const { passed, summary } = await served.client.jobs.test(job, null);
    assert.ok(passed, JSON.stringify(summary));
    await served.terminated();
    using db = new DatabaseSync(orb.database, { readOnly: true });
    const known = db
      .prepare("SELECT lower(hex(hash)) AS hash FROM fixtures UNION SELECT lower(hex(hash)) FROM orphaned_files")
      .all();
    const hashes = new Set(known.map(({ hash }) => hash));
    const files = readdirSync(orb.dir, { recursive: true, encoding: "utf8" })
      .map((name) => name.split(/[/.]/).find((part) => /^[0-9a-f]{64}$/.test(part)))
      .filter((name) => name !== undefined);
    const mark = db.prepare("SELECT value FROM meta WHERE name = 'files_mark'").get()?.["value"];
    assert.deepEqual(
      files.filter((hash) => !hashes.has(hash) && hash !== mark),
      [],
    );
    assertSound(orb.database);
  });
});
