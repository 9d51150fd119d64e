import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { createSeal } from "../../src/base/seal.ts";
import { parseUpstream, type Upstream } from "../../src/domain/proxy/upstream.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { toNewProxy } from "../../src/proxies/sealed-upstream.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { Orb } from "../chaos/orb.ts";
import { LlmServer, says } from "../support/llm-server.ts";
import { startProxies } from "../support/proxies.ts";
import { Installation } from "./installation.ts";
import { openShop } from "./site.ts";

interface Scraped {
  status: string;
  strategy: string;
  failure_code: string | null;
  failure_reason: string | null;
  hint: string | null;
  notes: string[];
  records: Record<string, unknown>[];
}

/** What a scrape without --save may not leave behind. */
function leftovers(orb: Orb): string[] {
  return readdirSync(orb.dir).filter((name) => name === "data" || name.startsWith("orb-scrape-"));
}

describe("orb scrape", { concurrency: 2 }, () => {
  test("prints one page as JSON for a program, and keeps nothing", async () => {
    await using shop = await openShop();
    await using orb = new Orb();
    const { code, stdout, stderr } = await orb.run(["scrape", shop.url("/")]);
    assert.equal(code, 0, stderr);
    const [record] = JSON.parse(stdout) as { url: string; data: Record<string, string> }[];
    assert.equal(record?.url, shop.url("/"));
    assert.equal(record.data["title"], "All about webs");
    assert.match(record.data["markdown"] ?? "", /^# All about webs\n\nSpiders build them/);
    assert.equal(stderr, "", "a program is told nothing that it did not ask for");
    assert.deepEqual(leftovers(orb), []);
  });

  test("prints the page itself as HTML or its links, and beside --json no format is lost in silence [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const links = await orb.run(["scrape", shop.url("/list"), "--format", "links"]);
    assert.deepEqual(
      [links.code, links.stdout],
      [0, [1, 2, 3].map((n) => `${shop.url(`/t/${n}`)}\n`).join("")],
      links.stderr,
    );
    const page = await orb.run(["scrape", shop.url("/"), "--format", "html", "--out", "page.html"]);
    assert.equal(page.code, 0, page.stderr);
    assert.match(readFileSync(join(orb.dir, "page.html"), "utf8"), /^<article><h1>All about webs<\/h1>/);
    const both = await orb.json<Scraped>("scrape", shop.url("/"), "--format", "html");
    const { document } = both.records[0] as { document: { html: string; metadata: { title: string } } };
    assert.match(document.html, /^<article>/);
    assert.equal(document.metadata.title, "All about webs");
    const lost = await orb.run(["scrape", shop.url("/"), "--format", "csv", "--json"]);
    assert.equal(lost.code, 2, lost.stdout);
    assert.match(lost.stdout, /--format csv cannot be combined with --json/);
    const odd = await orb.run(["scrape", shop.url("/"), "--action", "clack=#x"]);
    assert.equal(odd.code, 2);
    assert.match(odd.stderr, /--action: expected click=CSS/);
  });

  test("reads fields and items as the flags say, in every format, to a file [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const rules = ["--items", "li.t", "--field", "name=a", "--field", "link:url=a@href", "--field", "price:number=b"];
    const csv = await orb.run(["scrape", shop.url("/list"), ...rules, "--format", "csv"]);
    assert.equal(csv.code, 0, csv.stderr);
    assert.deepEqual(csv.stdout.split("\r\n").slice(0, 2), [
      "url,name,link,price",
      `${shop.url("/list")},Thing 1,${shop.url("/t/1")},10.5`,
    ]);
    const file = await orb.run([
      "scrape",
      shop.url("/list"),
      ...rules,
      "--format",
      "parquet",
      "--out",
      "things.parquet",
    ]);
    assert.deepEqual([file.code, file.stdout, file.stderr], [0, "", "written to things.parquet\n"]);
    assert.equal(readFileSync(join(orb.dir, "things.parquet")).subarray(0, 4).toString(), "PAR1");
    orb.file(
      "rules.json",
      JSON.stringify({ items: { css: "li.t" }, fields: { name: "a" }, schema: { type: "object" } }),
    );
    const both = await orb.json<Scraped>(
      "scrape",
      shop.url("/list"),
      "--rules",
      "rules.json",
      "--field",
      "price:number=b",
    );
    assert.deepEqual(both.records[2], { name: "Thing 3", price: 12.5 });
    const known = await orb.json<Scraped>("scrape", shop.url("/"), "--fields", "title,word_count");
    assert.deepEqual(Object.keys(known.records[0] ?? {}), ["title", "word_count"]);
  });

  test("lets a model read the page, as --llm-schema and --llm-prompt say [slow]", async () => {
    await using shop = await openShop();
    await using llm = await LlmServer.start();
    await using orb = new Installation();
    llm.on("/", says({ animal: "spider" }));
    const schema = { type: "object", properties: { animal: { enum: ["spider", "bee"] } }, required: ["animal"] };
    orb.file("animal.json", JSON.stringify(schema));
    const words = ["scrape", shop.url("/"), "--llm-schema", "animal.json", "--llm-prompt", "Who builds it?", "--json"];
    const read = await orb.run(words, { env: llm.env });
    assert.equal(read.code, 0, read.stderr);
    assert.deepEqual((JSON.parse(read.stdout) as Scraped).records, [{ animal: "spider" }]);
    assert.match(llm.of("/")[0]!.messages[1]!.content, /^Who builds it\?/);
    const none = await orb.run(words);
    assert.equal(none.code, 2, none.stderr);
    assert.match(none.stdout + none.stderr, /APP_LLM_URL/);
  });

  test("a page that fails ends with 1, the reason and what to do [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const people = await orb.run(["scrape", shop.url("/nowhere")]);
    assert.deepEqual([people.code, people.stdout], [1, ""]);
    assert.match(people.stderr, /^failed: bad_response \(http_not_found\): the server answered 404/);
    assert.match(people.stderr, /^strategy +http, because /m);
    assert.match(people.stderr, /^what to do +The page does not exist/m);
    const program = await orb.run([
      "scrape",
      shop.url("/list"),
      "--field",
      "x:number=b",
      "--rules",
      "r.json",
      "--json",
    ]);
    assert.equal(program.code, 2, "a file that is not there");
    orb.file("r.json", JSON.stringify({ fields: { missing: { css: "i", required: true } } }));
    const failed = await orb.run(["scrape", shop.url("/list"), "--rules", "r.json", "--json"]);
    assert.equal(failed.code, 1);
    const { status, failure_code, failure_reason, hint } = JSON.parse(failed.stdout) as Scraped;
    assert.deepEqual([status, failure_code, failure_reason], ["failed", "extraction", "field_missing"]);
    assert.match(hint ?? "", /selectors/);
  });

  test("what was found, but is hardly what was wanted, is noted beside it [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const fields = ["--field", "name=a", "--field", "colour=.colour"];
    const none = await orb.run(["scrape", shop.url("/list"), "--items", "li.t", ...fields]);
    assert.deepEqual([none.code, none.stderr], [0, "note: the field colour matched nothing in any of 3 records\n"]);
    assert.equal((JSON.parse(none.stdout) as unknown[]).length, 3);
    const items = await orb.run(["scrape", shop.url("/list"), "--items", "li.x", ...fields]);
    assert.deepEqual([items.code, items.stderr], [0, "note: the items matched nothing: no records\n"]);
    const unread = await orb.json<Scraped>("scrape", shop.url("/list"), "--field", "when:date=a");
    assert.match(unread.notes[0] ?? "", /^the field when could not be read \(css "a": /);
    const sent = await orb.run(["scrape", shop.url("/account"), "--field", "name=h1"]);
    assert.equal(sent.code, 0);
    assert.match(sent.stderr, /^note: the site redirected to \/login, which asks for a password; see orb sessions/);
    const fine = await orb.json<Scraped>("scrape", shop.url("/list"), "--items", "li.t", "--field", "name=a");
    assert.deepEqual(fine.notes, []);
  });

  test("the advice fits what was tried, and the words that were given [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const fault = await orb.run(["scrape", shop.url("/fault")]);
    assert.match(fault.stderr, /^strategy +http, because a plain request was answered \(500\)$/m);
    assert.match(fault.stderr, /^what to do +The site has an error: try again later, or use --max-attempts 3/m);
    const bare = await orb.run(["scrape", shop.url("/").replace("http://", "")]);
    assert.match(bare.stderr, /\(tls_failed\)/);
    assert.match(bare.stderr, /^what to do +https:\/\/ was assumed: use http:\/\/ for a site without TLS\.$/m);
    const session = ["sessions", "add", "--origin", "https://elsewhere.test", "--cookie", "sid=1"];
    const { id } = await orb.json<{ id: string }>(...session);
    const foreign = await orb.run(["scrape", shop.url("/"), "--session", id]);
    assert.equal(foreign.code, 1);
    assert.ok(foreign.stderr.includes(`the session ${id} belongs to https://elsewhere.test`), foreign.stderr);
  });

  test("words that are wrong are named, and nothing is asked for [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const cases: [string[], RegExp][] = [
      [[shop.url("/"), "--field", "x:colour=b"], /fields\.x\.type: expected one of/],
      [[shop.url("/"), "--field", "h1"], /expected NAME=CSS/],
      [[shop.url("/"), "--fields", "titel"], /fields.*titel.*title/],
      [["gopher://shop.test/"], /(?<!target_)url: expected an http or https URL/],
      [[shop.url("/"), "--header", "Authorization hunter2"], /--header: expected 'Name: value'/],
      [[shop.url("/"), "--timeout", "0"], /--timeout/],
      [[shop.url("/"), "--session", "0197c3a1-5a2e-7c3f-9d52-1c8d5f1a2b3c"], /--session: there is no session/],
    ];
    for (const [args, what] of cases) {
      const { code, stderr, stdout } = await orb.run(["scrape", ...args]);
      assert.equal(code, 2, `${args.join(" ")}: ${stderr}`);
      assert.match(stderr, what);
      assert.ok(!`${stdout}${stderr}`.includes("hunter2"), "not even a bad secret is shown");
    }
    assert.equal(shop.hits.length, 0);
  });

  test("Ctrl-C cancels it: the request is dropped, and nothing is left [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const scrape = orb.start(["scrape", shop.url("/never")]);
    await shop.when(() => shop.open === 1, "the page is asked for");
    scrape.kill("SIGINT");
    const { code, stdout, stderr } = await scrape.end();
    assert.deepEqual([code, stdout], [130, ""]);
    assert.match(stderr, /cancelled\n$/);
    await shop.when(() => shop.open === 0, "the connection is gone");
    assert.deepEqual(leftovers(orb), []);
  });

  test("--save keeps the run; --cookie lets it in, and is shown nowhere [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const { code, stdout, stderr } = await orb.run([
      ...["scrape", shop.url("/members"), "--strategy", "http", "--cookie", "sid=4711-secret", "--save", "--json"],
    ]);
    assert.equal(code, 0, stderr);
    const { run_id: id } = JSON.parse(stdout) as { run_id: string };
    const shown = await orb.run(["runs", "show", id, "--json"]);
    const run = JSON.parse(shown.stdout) as RunView;
    assert.deepEqual([run.status, run.job_id, run.resolved_strategy], ["completed", null, "http"]);
    const events = await orb.run(["runs", "events", id]);
    assert.ok(![stdout, stderr, shown.stdout, events.stdout].join("").includes("4711-secret"));
    assert.ok(!readFileSync(orb.database).includes("4711-secret"), "it is sealed");
    assert.ok(existsSync(join(orb.dataDir, "secret.key")));
    await orb.audit();
  });

  test("--proxy pool leaves out proxies that cannot be opened, and says so when that is all of them [slow]", async () => {
    const auth = { username: "ann", password: "hunter2" };
    await using shop = await openShop();
    await using proxies = await startProxies([{ kind: "connect", auth }]);
    await using orb = new Installation({ APP_SECRET_KEY: "the-key-of-this-installation" });
    const store = openSqliteStore({ path: orb.database, clock: systemClock });
    const add = (key: string, url: string) =>
      store.addProxies([toNewProxy(createSeal(key), parseUpstream(url) as Upstream)], systemClock.now());
    await add("a-key-that-nobody-has-any-more", "http://ann:lost@127.0.0.1:9");
    const all = await orb.run(["scrape", shop.url("/"), "--proxy", "pool"]);
    assert.deepEqual([all.code, all.stdout], [1, ""]);
    assert.match(all.stderr, /cannot be decrypted with the current key/);
    await add(orb.env["APP_SECRET_KEY"]!, proxies.all[0]!.url);
    await add("a-key-that-nobody-has-any-more", "http://ann:lost@127.0.0.1:10");
    await store.close();
    const { code, stdout, stderr } = await orb.run(["scrape", shop.url("/"), "--proxy", "pool", "--json"]);
    assert.equal(code, 0, stdout + stderr);
    assert.equal((JSON.parse(stdout) as Scraped).status, "completed");
    assert.ok(proxies.all[0]!.requests.includes("GET / HTTP/1.1"));
  });

  test("what a site writes cannot reach the terminal's controls", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    await orb.run(["scrape", shop.url("/escapes"), "--save", "--json"]);
    const [run] = await orb.json<RunView[]>("runs", "list");
    const shown = await orb.run(["runs", "show", run?.id ?? ""]);
    assert.match(shown.stdout, /^title +\[31mred\[0m$/m);
  });
});
