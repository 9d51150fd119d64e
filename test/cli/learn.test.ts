import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { LearnView } from "../../src/orchestrator/learn.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { Installation } from "./installation.ts";

const product = (name: string, price: string) =>
  html(`<div class="page"><h1>${name}</h1><p><b class="price">${price}</b></p></div>`);
const cards = [1, 2, 3, 4].map((n) => `<li class="card"><h3>Lamp ${n}</h3><i>$${n}0</i></li>`).join("");

describe("orb learn", () => {
  test("finds rules from values on two pages, writes them to a file, and scrape uses it", async () => {
    await using site = await MisbehavingSite.start({
      "/a": product("Blue lamp", "€ 12.90"),
      "/b": product("Desk", "€ 140"),
      "/c": product("Rug", "€ 55.50"),
    });
    await using orb = Installation.prepared();
    const learned = await orb.run([
      ...["learn", site.url("/a"), site.url("/b"), "--example", "name=Blue lamp", "--example", "name=Desk"],
      ...["--example", "price=€ 12.90", "--out", "rules.json"],
    ]);
    assert.equal(learned.code, 0, learned.stderr);
    assert.match(learned.stdout, /^name +h1 +0\.\d+ +\d+ +Blue lamp · Desk$/m);
    assert.match(learned.stdout, /^price +b\.price +0\.\d+ +\d+ +€ 12\.90 · € 140$/m);
    assert.match(learned.stderr, /rules written to rules\.json\nnext: orb scrape \S+\/a --rules rules\.json/);
    const rules = JSON.parse(readFileSync(join(orb.dir, "rules.json"), "utf8"));
    assert.deepEqual(rules, { fields: { name: { css: "h1" }, price: { css: "b.price" } } });
    const scraped = await orb.json<{ data: unknown }[]>("scrape", site.url("/c"), "--rules", "rules.json");
    assert.deepEqual(JSON.stringify(scraped).includes('"price":"€ 55.50"'), true, JSON.stringify(scraped));
  });

  test("saves a job for a list of records [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": html(`<ul>${cards}</ul>`) });
    await using orb = new Installation();
    const examples = ["name=Lamp 1", "price=$10", "name=Lamp 2", "price=$20"].flatMap((one) => ["--example", one]);
    const lesson = await orb.json<LearnView & { job_id: string }>(
      ...["learn", site.url("/"), ...examples, "--save", "Lamps"],
    );
    assert.deepEqual(lesson.items, { css: "li.card" });
    assert.deepEqual([lesson.records[0]!.length, lesson.record_counts], [4, [4]]);
    const job = await orb.json<JobView>("jobs", "show", lesson.job_id);
    assert.equal(job.name, "Lamps");
    const run = await orb.run(["jobs", "run", lesson.job_id, "--wait"]);
    assert.equal(run.code, 0, run.stderr);
    const results = await orb.run(["runs", "results", "last", "--format", "jsonl"]);
    assert.match(results.stdout, /"name":"Lamp 4","price":"\$40"/);
  });

  test("says which value is not there, what is missing, and which page cannot be had [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/a": product("Lamp", "€ 1") });
    await using orb = new Installation();
    const partly = await orb.run(["learn", site.url("/a"), "--example", "name=Lamp", "--example", "sku=X-1"]);
    assert.equal(partly.code, 3);
    assert.match(partly.stderr, /^sku: the page does not contain "X-1": copy the value as the page shows it$/m);
    const nothing = await orb.run(["learn", site.url("/a"), "--example", "sku=X-1"]);
    assert.deepEqual([nothing.code, nothing.stdout], [1, ""]);
    assert.match((await orb.run(["learn", site.url("/a")])).stderr, /--example is missing/);
    assert.match((await orb.run(["learn", site.url("/a"), "--example", "sku"])).stderr, /expected FIELD=VALUE/);
    const strange = await orb.run(["learn", "nonsense", "--example", "a=b"]);
    assert.match(strange.stderr, /pages\[0\]\.url: expected an absolute http or https URL/);
    const gone = await orb.run(["learn", site.url("/gone"), "--example", "a=b"]);
    assert.equal(gone.code, 2);
    assert.match(gone.stderr, /pages\[0\]\.url: .*404/);
  });
});
