import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { QueueItemView } from "../../src/orchestrator/queue/items.ts";
import type { QueueStats } from "../../src/orchestrator/queue/stats.ts";
import { until } from "../chaos/orb.ts";
import { Served } from "../chaos/served.ts";
import { bodyOf, Target } from "../chaos/target.ts";
import { Installation } from "./installation.ts";

describe("orb queue", { concurrency: 2 }, () => {
  test("from a file to stored files: import, run, stats, list, show", async () => {
    await using target = await Target.start(1);
    await using orb = Installation.prepared();
    target.script = (path) =>
      path === "/missing"
        ? { status: 404, body: "" }
        : { body: bodyOf(path), headers: { "content-type": "text/plain" } };
    orb.file(
      "items.jsonl",
      ["/a", "/b", "/missing"]
        .map((path) => `${JSON.stringify({ artifact_id: path.slice(1), url: target.url(path) })}\n`)
        .join(""),
    );
    const imported = await orb.run(["queue", "import", "items.jsonl"]);
    assert.deepEqual(
      [imported.code, imported.stdout],
      [0, "3 lines: 3 added, 0 already there, 0 invalid\n"],
      imported.stderr,
    );
    const run = await orb.run(["queue", "run", "--drain"]);
    assert.equal(run.code, 3, "something failed, something did not");
    assert.equal(run.stdout, "2 items done, 0 skipped, 1 error, 0 left\n");
    assert.match(run.stderr, /orb queue retry-failed/);
    const stats = await orb.run(["queue", "stats"]);
    assert.match(
      stats.stdout,
      /^site +queued +in progress +done +skipped +error +total\n127\.0\.0\.1:\d+ +0 +0 +2 +0 +1 +3\n$/,
    );
    const list = await orb.run(["queue", "list", "--status", "error"]);
    assert.match(list.stdout, /error +missing +http:.* 1 +http_not_found/);
    const shown = await orb.run(["queue", "show", "a"]);
    assert.match(shown.stdout, /status +done/);
    const path = /^file +(.+) \(\d+ bytes, text\/plain\)$/m.exec(shown.stdout)?.[1];
    assert.equal(readFileSync(path ?? "", "utf8"), bodyOf("/a"));
    const failed = await orb.run(["queue", "show", "missing"]);
    assert.match(failed.stdout, /failure +bad_response \(http_not_found\): the server answered 404/);
    await orb.audit();
  });

  test("with --url all of it is done at a server, and nothing here [slow]", async () => {
    await using target = await Target.start(1);
    await using there = new Installation({ APP_MAX_PER_CONCURRENCY_KEY: '{"shop":3}' });
    await using here = new Installation();
    target.script = (path) => (path === "/missing" ? { status: 404, body: "" } : { body: bodyOf(path) });
    const served = await Served.start(there);
    const at = ["--url", /listening on (http:\/\/[^"]+)/.exec(served.process.stderr)?.[1] ?? ""];
    const items = ["/a", "/missing"].map((path) => ({ artifact_id: path.slice(1), url: target.url(path) }));
    here.file("items.jsonl", `${items.map((item) => JSON.stringify(item)).join("\n")}\n{}\n`);
    const imported = await here.run(["queue", "import", "items.jsonl", ...at]);
    assert.deepEqual([imported.code, imported.stdout], [3, "3 lines: 2 added, 0 already there, 1 invalid\n"]);
    const added = await here.run(["queue", "enqueue", "b", target.url("/b"), "--payload", '{"n":1}', ...at]);
    assert.deepEqual([added.code, added.stdout], [0, "enqueued b\n"], added.stderr);
    const again = await here.run(["queue", "enqueue", "b", target.url("/b"), ...at]);
    assert.match(again.stdout, /^b is already in the queue/);
    const counts = async (installation: Installation, ...words: string[]) => {
      const { done, error, total } = await installation.json<QueueStats>("queue", "stats", ...words);
      return [done, error, total];
    };
    await until(async () => (await counts(here, ...at)).join() === "2,1,3", "all are done");
    const first = await here.run(["queue", "list", "--limit", "1", ...at]);
    const after = /^there are more items: use --after (\S+)$/m.exec(first.stderr)?.[1] ?? "";
    const rest = await here.json<QueueItemView[]>("queue", "list", "--after", after, ...at);
    assert.deepEqual(rest.map(({ artifact_id }) => artifact_id).sort(), ["b", "missing"]);
    assert.match((await here.run(["queue", "show", "a", ...at])).stdout, /status +done/);
    const limited = ["queue", "concurrency-key", "shop", ...at];
    assert.equal((await here.run(limited)).stdout, "shop: at most 3 at once\n");
    assert.equal((await here.run([...limited, "--limit", "5"])).stdout, "shop: at most 5 at once\n");
    assert.equal((await here.run(["queue", "retry-failed", ...at])).stdout, "1 item will be retried\n");
    assert.deepEqual(await counts(here), [0, 0, 0]);
    await served.terminated();
  });

  test("what failed is tried again when asked, and then all is done [slow]", async () => {
    await using target = await Target.start(1);
    await using orb = new Installation();
    let mended = false;
    target.script = (path) => (mended ? { body: bodyOf(path) } : { status: 404, body: "" });
    await orb.import([{ artifact_id: "a", url: target.url("/a") }]);
    assert.equal((await orb.run(["queue", "run", "--drain"])).code, 3);
    mended = true;
    const retried = await orb.run(["queue", "retry-failed", "--site", target.sites[0] ?? ""]);
    assert.deepEqual([retried.code, retried.stdout], [0, "1 item will be retried\n"]);
    assert.deepEqual([(await orb.run(["queue", "run", "--drain"])).code, (await orb.show("a")).status], [0, "done"]);
  });

  test("one item by its URL alone, then again, then with everything [slow]", async () => {
    await using orb = new Installation();
    const first = await orb.run(["queue", "enqueue", "http://a.test/x?b=2&a=1#part"]);
    assert.deepEqual([first.code, first.stdout], [0, "enqueued http://a.test/x?a=1&b=2\n"]);
    const again = await orb.run(["queue", "enqueue", "http://a.test/x?a=1&b=2"]);
    assert.match(again.stdout, /is already in the queue; nothing changed/);
    const options = ["--concurrency-key", "r", "--priority", "7", "--handler", "h", "--payload", '{"n":1}'];
    await orb.json("queue", "enqueue", "mine", "http://a.test/y", ...options);
    const { url, concurrency_key, resolver, priority, handler, payload } = await orb.show("mine");
    assert.deepEqual(
      { url, concurrency_key, resolver, priority, handler, payload },
      {
        url: "http://a.test/y",
        concurrency_key: "r",
        resolver: "r",
        priority: 7,
        handler: "h",
        payload: { n: 1 },
      },
    );
  });

  test("resolver is an alias of concurrency key: in a flag, a file, a command and a variable [slow]", async () => {
    await using orb = new Installation({ APP_MAX_PER_RESOLVER: '{"r":3}' });
    await orb.json("queue", "enqueue", "flag", "http://a.test/1", "--resolver", "r");
    const lines = [
      { artifact_id: "new", url: "http://a.test/2", concurrency_key: "r" },
      { artifact_id: "old", url: "http://a.test/3", resolver: "r" },
      { artifact_id: "two", url: "http://a.test/4", concurrency_key: "r", resolver: "s" },
    ];
    const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const imported = await orb.run(["queue", "import", "-"], { input });
    assert.match(imported.stdout, /^3 lines: 2 added, 0 already there, 1 invalid$/m);
    assert.match(
      imported.stderr,
      /line 3: resolver: differs from concurrency_key, of which it is an alias: "s" and "r"/,
    );
    for (const name of ["flag", "new", "old"]) {
      const { concurrency_key, resolver } = await orb.show(name);
      assert.deepEqual([concurrency_key, resolver], ["r", "r"], name);
    }
    assert.match((await orb.run(["queue", "show", "old"])).stdout, /^concurrency key r$/m);
    const both = await orb.run(["queue", "enqueue", "http://a.test/5", "--resolver", "r", "--concurrency-key", "s"]);
    assert.equal(both.code, 2);
    assert.match(both.stderr, /--resolver <name>.*--concurrency-key <name>/);
    assert.equal((await orb.run(["queue", "resolver", "r"])).stdout, "r: at most 3 at once\n");
    const set = await orb.json("queue", "resolver", "r", "--limit", "2");
    assert.deepEqual(set, { concurrency_key: "r", resolver: "r", limit: 2 });
    assert.equal((await orb.run(["queue", "concurrency-key", "r"])).stdout, "r: at most 2 at once\n");
  });

  test("bad lines are told as they are met; some bad is 3, all bad is 1", async () => {
    await using orb = Installation.prepared();
    const good = '{"artifact_id":"1","url":"http://a.test/"}';
    const [some, none, asJson] = [
      await orb.run(["queue", "import", "-"], { input: `${good}\nnonsense\n` }),
      await orb.run(["queue", "import", "-"], { input: "nonsense\n" }),
      await orb.run(["queue", "import", "-", "--json"], { input: `nonsense\n${good}\n` }),
    ];
    assert.equal(some.code, 3);
    assert.match(some.stderr, /^line 2: not JSON/);
    assert.equal(none.code, 1);
    assert.equal(asJson.code, 3);
    const report = JSON.parse(asJson.stdout) as { existing: number; bad_lines: { line: number }[] };
    assert.deepEqual([report.existing, report.bad_lines.map((line) => line.line)], [1, [1]]);
  });

  test("a long list is read page by page", async () => {
    await using orb = Installation.prepared();
    await orb.import(Array.from({ length: 25 }, (_, n) => ({ artifact_id: `item-${n}`, url: `http://a.test/${n}` })));
    const seen: string[] = [];
    for (let after: string[] = []; ;) {
      const page = await orb.json<QueueItemView[]>("queue", "list", "--limit", "10", ...after);
      if (page.length === 0) break;
      seen.push(...page.map((item) => item.artifact_id));
      after = ["--after", page.at(-1)?.id ?? ""];
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 25 }, (_, n) => `item-${n}`),
    );
    const people = await orb.run(["queue", "list", "--limit", "10"]);
    assert.match(people.stderr, /^there are more items: use --after [0-9a-f-]{36}\n$/);
    const wrong = await orb.run(["queue", "list", "--after", "item-3"]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /item-3 is not the id of an item/);
  });

  test("--json gives JSON and nothing else on standard output, for every command", async () => {
    await using orb = Installation.prepared();
    // Those that no other test here asks for JSON.
    for (const args of [
      ["queue", "run", "--drain"],
      ["queue", "retry-failed"],
      ["queue", "resolver", "r", "--limit", "2"],
      ["sites", "set", "a.test", "--max-concurrency", "3"],
      ["sites", "pause", "a.test"],
      ["sites", "resume", "a.test"],
      ["sites", "reset-breaker", "a.test"],
      ["sites", "show", "a.test"],
      ["sites", "list"],
      ["audit"],
    ]) {
      const { code, stdout, stderr } = await orb.run([...args, "--json"]);
      assert.equal(code, 0, `orb ${args.join(" ")}: ${stderr}${stdout}`);
      assert.equal(typeof JSON.parse(stdout), "object", args.join(" "));
    }
    const { code, stdout } = await orb.run(["queue", "show", "nobody", "--json"]);
    assert.equal(code, 1);
    assert.equal((JSON.parse(stdout) as { error: { code: string } }).error.code, "not_found");
  });

  test("an engine that is asked to stop finishes what it has, says so, and ends with 0 [slow]", async () => {
    await using target = await Target.start(1);
    await using orb = new Installation();
    // The first one is not answered before the second is asked for, however slow the machine is.
    const together = target.when(() => target.open >= 2, "it works");
    target.script = async (path) => {
      await together;
      return { body: bodyOf(path) };
    };
    target.latencyMs = 300;
    await orb.import(Array.from({ length: 200 }, (_, n) => ({ artifact_id: `${n}`, url: target.url(`/${n}`) })));
    const engine = orb.start(["queue", "run", "--max-per-host", "2", "--json"]);
    await together;
    engine.kill("SIGTERM");
    const { code, stdout } = await engine.end();
    assert.equal(code, 0);
    const stats = JSON.parse(stdout) as QueueStats & { left: number; stopped: boolean };
    assert.equal(stats.stopped, true);
    assert.equal(stats.left, 200 - stats.done);
    assert.equal(target.hits.filter((hit) => !hit.answered).length, 0);
    assert.equal(target.mostPerSite.get(target.sites[0] ?? ""), 2);
  });

  test("a drain that is interrupted says that something is left [slow]", async () => {
    await using target = await Target.start(1);
    await using orb = new Installation();
    target.latencyMs = 300;
    await orb.import(Array.from({ length: 200 }, (_, n) => ({ artifact_id: `${n}`, url: target.url(`/${n}`) })));
    const engine = orb.start(["queue", "run", "--drain", "--workers", "2"]);
    await target.when(() => target.hits.length >= 1, "it works");
    engine.kill("SIGINT");
    const { code, stderr } = await engine.end();
    assert.equal(code, 3);
    assert.match(stderr, /nothing is lost: run it again to continue/);
  });

  test("limits that are set from another terminal hold for running work [slow]", async () => {
    await using target = await Target.start(1);
    await using orb = new Installation();
    // Nothing is answered before the limit is set: the work must not be done before.
    const limited = Promise.withResolvers<void>();
    target.script = async (path) => {
      await limited.promise;
      return { body: bodyOf(path) };
    };
    target.latencyMs = 30;
    const site = target.sites[0] ?? "";
    await orb.import(Array.from({ length: 400 }, (_, n) => ({ artifact_id: `${n}`, url: target.url(`/${n}`) })));
    const engine = orb.start(["queue", "run", "--drain"]);
    await target.when(() => target.open > 1, "it works");
    const set = await orb.run(["sites", "set", site, "--max-concurrency", "1"]);
    assert.match(set.stdout, /^concurrency +1$/m);
    limited.resolve();
    await target.when(() => target.open <= 1, "it slows down");
    const before = target.hits.length;
    await target.when(() => target.hits.length >= before + 3 && target.open <= 1, "one at a time");
    target.latencyMs = 0;
    await orb.json("sites", "set", site, "--max-concurrency", "default");
    assert.equal((await engine.end()).code, 0);
  });
});
