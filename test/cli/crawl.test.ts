import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import type { CrawlDetail } from "../../src/orchestrator/crawls/view.ts";
import { Orb, until } from "../chaos/orb.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { firstTimes, hang, held, html, sendTo, slow, status } from "../support/misbehaviours.ts";
import { somePort } from "../support/services.ts";
import { Installation } from "./installation.ts";
import { hasScript, onTerminal } from "./screen.ts";

const COUNT = 60;
const AT_ONCE = 4;

const page = (n: number, ...links: string[]) =>
  html(`<title>Page ${n}</title><p>Words of page ${n}.</p>${links.map((link) => `<a href="${link}">x</a>`)}`);

/** A tree of pages, each of which takes a while. */
const tree = (ms: number) =>
  MisbehavingSite.start(
    Object.fromEntries(
      Array.from({ length: COUNT }, (_, n) => {
        const below = Array.from({ length: 5 }, (_one, index) => n * 5 + index + 1).filter((child) => child < COUNT);
        return [`/page-${n}`, slow(ms, page(n, "/page-0", ...below.map((child) => `/page-${child}`)))];
      }),
    ),
  );

const wanted = (site: MisbehavingSite) => Array.from({ length: COUNT }, (_, n) => site.url(`/page-${n}`)).toSorted();
const urls = (json: string) => (JSON.parse(json) as { url: string }[]).map(({ url }) => url).toSorted();
const fetched = (site: MisbehavingSite) => site.visits.filter(({ path }) => path !== "/robots.txt").length;
const flags = ["--depth", "10", "--concurrency", String(AT_ONCE), "--strategy", "http"];

describe("orb crawl", { concurrency: 2 }, () => {
  test("off a terminal it says now and then how it goes, and prints what it found", async () => {
    await using site = await tree(1);
    await using orb = new Orb();
    const { code, stdout, stderr } = await orb.run(["crawl", site.url("/page-0"), ...flags]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(urls(stdout), wanted(site));
    assert.equal(fetched(site), COUNT, "each once");
    assert.match(stderr, /^\d+ of \d+ known pages?, [\d.]+\/s, 0 failed\n/);
    assert.match(stderr, /\nRun completed: 60 pages fetched \(\S{36}\)\n$/);
    assert.ok(!stderr.includes("\u001b"), "nothing that only a screen understands");
  });

  test("--format markdown --out folder/ gives each page a file, which another crawl replaces [slow]", async () => {
    const same = html("<title>Über: uns / \u202Ex</title><h1>About</h1><p>Words.</p>");
    await using site = await MisbehavingSite.start({
      "/": html('<title>Home</title><p>Start</p><a href="/a">a</a> <a href="/b">b</a> <a href="/c?x=../../y">c</a>'),
      "/a": same,
      "/b": same,
      "/c": html("<p>No title</p>"),
    });
    await using orb = new Installation();
    const crawl = ["crawl", site.url("/"), "--strategy", "http", "--article", "--format", "markdown"];
    const { code, stderr } = await orb.run([...crawl, "--out", "pages/"]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /, written to pages\/ \(/);
    const names = readdirSync(join(orb.dir, "pages")).toSorted();
    assert.deepEqual(
      names.map((name) => name.replace(/-[0-9a-f]{8}\.md$/, "")),
      ["c", "home", "über-uns-x", "über-uns-x"],
    );
    const file = join(orb.dir, "pages", names[2] ?? "");
    const text = readFileSync(file, "utf8");
    assert.match(text, /^---\nurl: "http.*\/[ab]"\ntitle: "Über: uns \/ .*\n---\n\n# About\n\nWords\.\n$/s);
    writeFileSync(file, "edited");
    writeFileSync(join(orb.dir, "pages", "notes.md"), "mine");
    // The folder is there by now: it needs no slash.
    const again = await orb.run([...crawl, "--out", "pages"]);
    assert.equal(again.code, 0, again.stderr);
    assert.deepEqual(readdirSync(join(orb.dir, "pages")).toSorted(), [...names, "notes.md"].toSorted());
    assert.equal(readFileSync(file, "utf8"), text);
    assert.equal(readFileSync(join(orb.dir, "pages", "notes.md"), "utf8"), "mine");
  });

  test("the ending of the file says its format [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": html("<title>Home</title><h1>Home</h1>") });
    await using orb = new Installation();
    const begins = async (...words: string[]) => {
      const { code, stderr } = await orb.run(words);
      assert.equal(code, 0, stderr);
      return readFileSync(join(orb.dir, words.at(-1)!), "utf8").split("\n", 1)[0]!;
    };
    const crawl = ["crawl", site.url("/"), "--strategy", "http", "--field", "name=h1", "--out"];
    assert.match(await begins(...crawl, "a.csv"), /^[a-z_]+,.*name/);
    assert.match(await begins(...crawl, "a.jsonl"), /^\{.*"name":"Home"/);
    assert.equal(await begins(...crawl, "a.json"), "[");
    assert.equal(await begins(...crawl, "records"), "[");
    assert.match(await begins("runs", "results", "last", "--out", "b.csv"), /^[a-z_]+,.*name/);
    assert.match(await begins("scrape", site.url("/"), "--out", "page.html"), /^<h1>Home/);
    assert.equal(await begins(...crawl.slice(0, -1), "--format", "json", "--out", "c.csv"), "[");
  });

  test("a folder for a format that is one file is refused before anything is fetched", async () => {
    await using site = await MisbehavingSite.start({ "/": page(0) });
    await using orb = Installation.prepared();
    for (const args of [
      ["--out", "pages/"],
      ["--format", "csv", "--out", "."],
    ]) {
      const { code, stderr } = await orb.run(["crawl", site.url("/"), ...args]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /it is a folder/);
      assert.match(stderr, /--format markdown for a file per page/);
    }
    const nowhere = await orb.run(["crawl", site.url("/"), "--format", "markdown", "--out", "no/such/"]);
    assert.match(nowhere.stderr, /cannot write no\/such\/: its folder does not exist/);
    assert.equal(site.visits.length, 0);
  });

  test("with --json there is JSON and nothing else [slow]", async () => {
    await using site = await tree(1);
    await using orb = new Installation();
    const { code, stdout, stderr } = await orb.run(["crawl", site.url("/page-0"), ...flags, "--json"]);
    assert.deepEqual([code, stderr], [0, ""]);
    const view = JSON.parse(stdout) as CrawlDetail;
    assert.deepEqual([view.status, view.completed_items], ["completed", COUNT]);
    const again = await orb.run(["crawl", "--resume", view.task_id]);
    assert.deepEqual([again.code, urls(again.stdout)], [0, wanted(site)], "what has ended is printed again");
    assert.equal(fetched(site), COUNT);
  });

  test("what failed is told by reason and site, and a part of it is tried again [slow]", async () => {
    await using site = await MisbehavingSite.start({
      "/": page(0, "/gone", "/broken", "/fine"),
      "/fine": page(1),
      "/gone": status(404),
      "/broken": firstTimes(1, status(500), page(2)),
    });
    await using orb = new Installation({ APP_BREAKER_FAILURES: "1000" });
    const first = await orb.run(["crawl", site.url("/"), ...flags]);
    assert.equal(first.code, 0, first.stderr);
    const id = /\((\S{36})\)\n/.exec(first.stderr)?.[1] ?? "";
    assert.match(first.stderr, /\nfailed pages: 1 http_not_found; orb runs errors \S{36} shows examples\n$/);
    const shown = await orb.run(["runs", "errors", id]);
    assert.match(shown.stdout, /^reason +count +code +message +example\nhttp_not_found +1 +bad_response .*\/gone\n$/);
    assert.equal(shown.stderr, "", "what does not exist is not worth another try");
    const table = await orb.run(["runs", "sites", id]);
    assert.match(
      table.stdout,
      /^site +queued +running +retrying +done +failed +skipped +waits\n127\.0\.0\.1:\d+ +0 +0 +0 +3 +1 +0\n$/,
    );
    const none = await orb.run(["runs", "retry-failed", id, "--code", "timeout"]);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /no failed task of this run matches the request\nFailed tasks: 1 bad_response/);
    site.on("/gone", page(3));
    const some = await orb.run(["runs", "retry-failed", id, "--reason", "http_not_found", "--site", site.name]);
    assert.deepEqual([some.code, some.stdout, some.stderr], [0, `${id} running\n`, "1 task will be retried\n"]);
    const rest = await orb.run(["crawl", "--resume", id]);
    assert.deepEqual([rest.code, urls(rest.stdout).length], [0, 4], rest.stderr);
  });

  test("of several sites a dead one is named, the others are got, and the crawl is done in part [slow]", async () => {
    await using one = await MisbehavingSite.start({ "/": page(1, "/more"), "/more": page(2) });
    await using other = await MisbehavingSite.start({ "/": slow(300, page(3)) });
    const gone = `127.0.0.1:${await somePort()}`;
    await using installation = new Installation();
    const starts = [`http://${gone}/`, one.url("/"), other.url("/")];
    const { code, stdout, stderr } = await installation.run(["crawl", ...starts, "--strategy", "http"]);
    assert.equal(code, 3, stderr);
    assert.deepEqual(urls(stdout), [one.url("/"), one.url("/more"), other.url("/")].toSorted());
    assert.match(stderr, /\nRun completed in part: 3 pages fetched; 1 page failed \(\S{36}\)\n/);
    assert.ok(stderr.includes(`\nno pages from ${gone}; orb runs sites `), stderr);
  });

  test("where nothing can be written is found out before the first request", async () => {
    await using site = await tree(1);
    await using orb = Installation.prepared();
    mkdirSync(join(orb.dir, "folder"));
    for (const [out, why] of [
      ["none/pages.json", "its folder does not exist"],
      ["folder", "it is a folder"],
    ] as const) {
      for (const command of [
        ["crawl", site.url("/page-0")],
        ["scrape", site.url("/page-0"), "--strategy", "http"],
        ["runs", "results", crypto.randomUUID()],
      ]) {
        const { code, stderr } = await orb.run([...command, "--out", out]);
        assert.equal(code, 2, stderr);
        assert.ok(stderr.startsWith(`error: cannot write ${out}: ${why}\n`), stderr);
      }
    }
    assert.equal(site.visits.length, 0);
  });

  test("what could not be written in the end is told with the command that gets it [slow]", async () => {
    await using orb = new Installation();
    const out = join(orb.dir, "folder", "pages.json");
    mkdirSync(join(orb.dir, "folder"));
    await using site = await MisbehavingSite.start({
      "/": (visit, response, ...more) => {
        rmSync(join(orb.dir, "folder"), { recursive: true });
        return page(0)(visit, response, ...more);
      },
    });
    const { code, stderr } = await orb.run(["crawl", site.url("/"), ...flags, "--format", "csv", "--out", out]);
    assert.equal(code, 2, stderr);
    const [, id, rest] = /get them with:\n {2}orb runs results (\S{36}) (.*)\n$/.exec(stderr) ?? [];
    assert.equal(rest, `--format csv --out ${out}`, stderr);
    mkdirSync(join(orb.dir, "folder"));
    const again = await orb.run(["runs", "results", id ?? "", ...(rest ?? "").split(" ")]);
    assert.equal(again.code, 0, again.stderr);
    assert.match(readFileSync(out, "utf8"), /Page 0/);
  });

  test("with --json and --out the status is printed and what was found is in the file, also when nothing was [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page(0), "/gone": status(404) });
    await using orb = new Installation();
    const file = join(orb.dir, "pages.jsonl");
    const ask = (path: string, ...more: string[]) =>
      orb.run(["crawl", site.url(path), ...flags, "--json", "--format", "jsonl", ...more]);
    const good = await ask("/", "--out", file);
    assert.deepEqual([good.code, good.stderr], [0, ""]);
    assert.equal((JSON.parse(good.stdout) as CrawlDetail).completed_items, 1);
    assert.match(readFileSync(file, "utf8"), /^\{.*"title":"Page 0".*\}\n$/);
    const bad = await ask("/gone", "--out", file);
    assert.equal(bad.code, 1, bad.stderr);
    assert.equal((JSON.parse(bad.stdout) as CrawlDetail).status, "failed");
    assert.equal(readFileSync(file, "utf8"), "");
    const both = await ask("/");
    assert.equal(both.code, 2);
    const { error } = JSON.parse(both.stdout) as { error: { code: string; message: string; hint: string } };
    assert.equal(error.code, "usage");
    assert.match(`${error.message} ${error.hint}`, /--format jsonl needs --out Add --out FILE/);
  });

  test("what would change a crawl is refused together with --resume", async () => {
    await using orb = Installation.prepared();
    const id = crypto.randomUUID();
    const { code, stderr } = await orb.run([
      "crawl",
      "--resume",
      id,
      "--max-pages",
      "9",
      "--include",
      "/a",
      "--article",
    ]);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /with its original options; --max-pages, --include, --article cannot be changed\nOnly --format, --out/,
    );
    const fine = await orb.run(["crawl", "--resume", id, "--format", "csv", "--out", "a.csv", "--json"]);
    assert.match(fine.stdout, /there is no crawl with the id/, "these go with it");
  });

  test("--resume writes the results as the crawl was begun with, and refuses at once what it cannot write [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page(0, "/1"), "/1": page(1), "/gone": status(404) });
    await using orb = new Installation();
    const begun = await orb.run(["crawl", site.url("/"), ...flags, "--format", "csv"]);
    assert.equal(begun.code, 0, begun.stderr);
    const id = /\((\S{36})\)\n/.exec(begun.stderr)?.[1] ?? "";
    assert.equal((await orb.json<CrawlDetail>("crawl", "--resume", id)).export_format, "csv");
    const again = await orb.run(["crawl", "--resume", id]);
    assert.deepEqual([again.code, again.stdout], [0, begun.stdout]);
    const failed = await orb.run(["crawl", site.url("/gone"), ...flags, "--json"]);
    const { task_id: left } = JSON.parse(failed.stdout) as CrawlDetail;
    const seen = fetched(site);
    const refused = await orb.run(["crawl", "--resume", left, "--format", "warc", "--out", "all.warc.gz"]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /does not store raw responses, so it cannot be exported as warc/);
    assert.equal(fetched(site), seen, "nothing was done");
  });

  test("a page that was left says why, and a crawl that was cancelled cannot be resumed [slow]", async () => {
    await using site = await MisbehavingSite.start({
      "/": page(0, "/old", "/hangs"),
      "/old": sendTo("/"),
      "/hangs": hang,
    });
    await using orb = new Installation();
    const crawl = orb.start(["crawl", site.url("/"), ...flags]);
    await site.visited("/hangs");
    const [run] = await orb.json<{ id: string }[]>("runs", "list");
    const id = run?.id ?? "";
    const told = await until(async () => {
      const { stdout } = await orb.run(["runs", "tasks", id, "--status", "skipped"]);
      return stdout.includes("skipped") && stdout;
    }, "a page was left");
    assert.match(told, /redirects to http:\S+\/, which is already in this crawl/);
    await orb.run(["runs", "cancel", id]);
    const { stderr } = await crawl.ended;
    assert.match(stderr, /\nRun cancelled: 1 page fetched, 1 not done \(\S{36}\)\n$/);
    const resumed = await orb.run(["runs", "resume", id]);
    assert.match(resumed.stderr, /cannot be resumed\nA cancelled run cannot be resumed: start a new run instead\.\n$/);
    const nothing = await orb.run(["crawl", "notaurl"]);
    assert.match(nothing.stderr, /url: expected an absolute http or https URL, did you mean "http:\/\/notaurl\/"\?/);
  });

  test("what ran out of time goes on where it was [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page(0, "/hangs"), "/hangs": hang });
    await using orb = new Installation();
    const first = await orb.run(["crawl", site.url("/"), ...flags, "--timeout-minutes", "0.25", "--json"]);
    const view = JSON.parse(first.stdout) as CrawlDetail;
    assert.deepEqual([first.code, view.end_reason, view.failed_items], [3, "limit_time", 0], first.stderr);
    site.on("/hangs", page(1));
    const end = await orb.run(["crawl", "--resume", view.task_id]);
    assert.deepEqual([end.code, urls(end.stdout)], [0, [site.url("/"), site.url("/hangs")]], end.stderr);
    await orb.audit();
  });

  test("an address together with --resume is refused", async () => {
    await using orb = Installation.prepared();
    const id = crypto.randomUUID();
    const both = await orb.run(["crawl", "http://a.test/", "--resume", id]);
    assert.equal(both.code, 2, both.stderr);
    const unknown = await orb.run(["crawl", "--resume", id]);
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /there is no crawl with the id/);
  });
});

describe("orb crawl at a terminal", { skip: hasScript ? false : "there is no script(1) here" }, () => {
  test("Ctrl-C stops it, and the command that it prints goes on to the same pages as without [slow]", async () => {
    await using site = await tree(20);
    // The last pages come when it was told to stop: it must not be at its end before.
    const { promise: told, resolve: tell } = Promise.withResolvers<void>();
    for (let n = 30; n < COUNT; n += 1) site.on(`/page-${n}`, held(told, page(n, "/page-0")));
    await using orb = new Installation();
    const screen = onTerminal(orb, ["crawl", site.url("/page-0"), ...flags, "--out", "all pages.json"]);
    await site.when(() => fetched(site) >= 15, "some pages are fetched");
    const block =
      /(\d+) of (\d+) known pages[^\r\n]*\r\n {2}[\d./s]+ now {2}\d+ queued {2}\d+ in flight[\s\S]*127\.0\.0\.1:\d+ +\d+\/\d+/;
    await until(() => block.test(stripVTControlCharacters(screen.text)), "the block is drawn");
    screen.type("\u0003");
    await until(() => screen.text.includes("stopping:"), "it says that it stops");
    tell();
    assert.equal(await screen.ended, 3, screen.text);
    const text = stripVTControlCharacters(screen.text);
    assert.match(text, /stopping: pages in flight are finished first; press Ctrl-C again to exit at once/);
    const [, id] =
      /stopped with \d+ pages done, written to all pages\.json; to continue:\s+orb crawl --resume (\S{36}) --out 'all pages\.json'\s+$/.exec(
        text,
      ) ?? [];
    assert.ok(id !== undefined, text);
    assert.ok(urls(readFileSync(join(orb.dir, "all pages.json"), "utf8")).length > 0, "what was done is there");
    const before = fetched(site);
    assert.ok(before < COUNT, "it stopped before its end");
    const paused = await orb.json<{ status: string }>("runs", "show", id);
    assert.equal(paused.status, "paused");
    const end = await orb.run(["crawl", "--resume", id, "--out", "all pages.json"]);
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stderr, /Run completed: 60 pages fetched, written to all pages\.json/);
    assert.deepEqual(urls(readFileSync(join(orb.dir, "all pages.json"), "utf8")), wanted(site));
    assert.ok(fetched(site) <= COUNT + AT_ONCE, `${fetched(site)} fetches: no more than what was in flight again`);
    await orb.audit();
  });

  test("what stays on the screen says how each site ended, however short it was [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page(1) });
    await using orb = new Installation();
    const screen = onTerminal(orb, ["crawl", site.url("/"), ...flags]);
    assert.equal(await screen.ended, 0, screen.text);
    const text = stripVTControlCharacters(screen.text);
    const lines = text.match(/127\.0\.0\.1:\d+ +\d+\/\d+ +\w+/g) ?? [];
    assert.match(lines.at(-1) ?? "", /1\/1 +done$/, text);
  });

  test("Ctrl-C while it waits its turn stops it, too, whoever else works [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/long": hang, "/waits": page(1) });
    await using orb = new Installation({ APP_MAX_CONCURRENT_TASKS: "1" });
    const long = onTerminal(orb, ["crawl", site.url("/long"), ...flags]);
    await site.visited("/long");
    const waits = onTerminal(orb, ["crawl", site.url("/waits"), ...flags]);
    await until(() => waits.text.includes("Waiting for a crawl slot"), "it says that it waits");
    waits.type("\u0003");
    assert.equal(await waits.ended, 3, waits.text);
    const text = stripVTControlCharacters(waits.text);
    const id = /stopped before it started; to continue:\s+orb crawl --resume (\S{36})/.exec(text)?.[1];
    assert.ok(id !== undefined, text);
    assert.equal((await orb.json<{ status: string }>("runs", "show", id)).status, "paused");
    long.type("\u0003");
    await long.ended;
    const end = await orb.run(["crawl", "--resume", id]);
    assert.deepEqual([end.code, urls(end.stdout)], [0, [site.url("/waits")]], end.stderr);
    await orb.audit();
  });

  test("Ctrl-C a second time leaves at once, and nothing is lost [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page(0, "/hangs"), "/hangs": hang });
    await using orb = new Installation();
    const screen = onTerminal(orb, ["crawl", site.url("/"), ...flags]);
    await site.visited("/hangs");
    screen.type("\u0003");
    await until(() => screen.text.includes("stopping:"), "it says that it stops");
    screen.type("\u0003");
    assert.equal(await screen.ended, 3, screen.text);
    const [, id] =
      /press Ctrl-C again to exit at once; to continue:\s+orb crawl --resume (\S{36})/.exec(screen.text) ?? [];
    assert.ok(id !== undefined, screen.text);
    site.on("/hangs", page(1));
    const end = await orb.run(["crawl", "--resume", id]);
    assert.deepEqual([end.code, urls(end.stdout)], [0, [site.url("/"), site.url("/hangs")]], end.stderr);
    await orb.audit();
  });
});
