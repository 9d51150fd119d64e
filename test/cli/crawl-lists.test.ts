import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Orb } from "../chaos/orb.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";

const page = (title: string) => html(`<title>${title}</title><p>Words of ${title}.</p><a href="/linked">x</a>`);
const start = () => MisbehavingSite.start({ "/a": page("A"), "/b": page("B"), "/c": page("C"), "/linked": page("L") });
const urls = (json: string) => (JSON.parse(json) as { url: string }[]).map(({ url }) => url).toSorted();

describe("orb crawl with a list of addresses", () => {
  test("reads them from standard input and from a file, without comments and empty lines [slow]", async () => {
    await using site = await start();
    await using orb = new Orb();
    writeFileSync(join(orb.dir, "more.txt"), `\uFEFF${site.url("/c")}\r\n`);
    const args = ["crawl", "-", "--from", "more.txt", "--depth", "0", "--strategy", "http"];
    const input = `# today's\n\n  ${site.url("/a")}  \n${site.url("/b")}\n${site.url("/a")}\n`;
    const { code, stdout, stderr } = await orb.run(args, { input });
    assert.equal(code, 0, stderr);
    assert.deepEqual(urls(stdout), [site.url("/a"), site.url("/b"), site.url("/c")]);
    assert.equal(site.count("/a"), 1);
  });

  test("says which line is no address, and asks for nothing", async () => {
    await using site = await start();
    await using orb = new Orb();
    const { code, stdout, stderr } = await orb.run(["crawl", "-"], { input: `${site.url("/a")}\nexample.com\n` });
    assert.equal(code, 2, stderr);
    assert.equal(stdout, "");
    assert.match(stderr, /standard input has lines that are not URLs/);
    assert.match(stderr, /line 2.*"example\.com"/);
    assert.equal(site.visits.length, 0);
  });

  test("orb scrape with several addresses says how to get them", async () => {
    await using orb = new Orb();
    const { code, stderr } = await orb.run(["scrape", "http://127.0.0.1:9/a", "http://127.0.0.1:9/b"]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /fetches one page, but 2 URLs were given[^]*orb crawl --max-depth 0 URL URL/);
  });

  test("an empty list and a file that is not there are refused", async () => {
    await using orb = new Orb();
    const empty = await orb.run(["crawl", "-"], { input: "\n" });
    assert.deepEqual([empty.code, /standard input has no URLs/.test(empty.stderr)], [2, true], empty.stderr);
    const missing = await orb.run(["crawl", "--from", "nowhere.txt"]);
    assert.deepEqual([missing.code, /there is no such file/.test(missing.stderr)], [2, true], missing.stderr);
  });
});
