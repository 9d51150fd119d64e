import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import { Installation } from "./installation.ts";
import { openShop } from "./site.ts";

test("a changed rule is tested on the pages that a job has saved: the exit code says whether something is lost", async () => {
  await using shop = await openShop();
  await using orb = new Installation();
  const flags = [
    "--target-url",
    shop.url("/list"),
    "--items",
    "li.t",
    "--field",
    "name=a",
    "--field",
    "price:number=b",
  ];
  const { id } = await orb.json<JobView>("jobs", "create", ...flags, "--fixtures", "2");
  const early = await orb.run(["jobs", "test", id]);
  assert.notEqual(early.code, 0);
  assert.match(early.stderr, /no saved pages[\s\S]*orb jobs run/);
  assert.match((await orb.run(["jobs", "fixtures", id])).stdout, /^no saved pages: orb jobs run /);
  assert.equal((await orb.run(["jobs", "run", id, "--wait"])).code, 0);
  const visits = shop.hits.length;

  const same = await orb.run(["jobs", "test", id]);
  assert.deepEqual([same.code, same.stdout], [0, "1 page: fields 2 same, 0 changed, 0 lost, 0 new\n"]);
  const lost = await orb.run(["jobs", "test", id, "--set", "price:number=i", "--set", "link=a@href"]);
  assert.equal(lost.code, 1);
  assert.match(lost.stdout, /price +lost \(3 records\) +10\.5 +–/);
  assert.match(lost.stdout, /link +new \(3 records\) +– +\S+/);
  assert.match(lost.stdout, /1 page: fields 1 same, 0 changed, 1 lost, 1 new — not as before\n$/);
  orb.file("rules.json", JSON.stringify({ items: "li.t", fields: { name: "a", price: "b" } }));
  const changed = await orb.run(["jobs", "test", id, "--rules", "rules.json", "--json"]);
  assert.equal(changed.code, 1);
  assert.equal((JSON.parse(changed.stdout) as { summary: { changed: number } }).summary.changed, 1);
  assert.equal(shop.hits.length, visits, "nothing was fetched");

  const listed = await orb.run(["jobs", "fixtures", id]);
  const [, number = ""] = /^ *(\d+) +.* 3 +\d+ +\S*\/list$/m.exec(listed.stdout) ?? [];
  assert.notEqual(number, "", listed.stdout);
  assert.equal((await orb.run(["jobs", "fixtures", id, "--delete", number])).stdout, `deleted ${number}\n`);
  assert.notEqual((await orb.run(["jobs", "fixtures", id, "--delete", number])).code, 0);
  await orb.audit();
});
