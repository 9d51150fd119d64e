import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { EventView, RunView, TaskView } from "../../src/orchestrator/runs/view.ts";
import { until } from "../chaos/orb.ts";
import type { Target } from "../chaos/target.ts";
import { readWarc } from "../jobs/warc-reader.ts";
import { Installation } from "./installation.ts";
import { openShop } from "./site.ts";

const listJob = (shop: Target) => ({
  name: "all things",
  target_url: shop.url("/list"),
  items: { css: "li.t" },
  fields: { name: "a" },
  tags: ["shop"],
});

describe("orb jobs and orb runs", { concurrency: 2 }, () => {
  test("a job from flags is run here, and its records come out as a table of values", async () => {
    await using shop = await openShop();
    await using orb = Installation.prepared();
    const flags = ["--target-url", shop.url("/list"), "--name", "all things", "--items", "li.t"];
    const created = await orb.run(["jobs", "create", ...flags, "--field", "name=a", "--field", "price:number=b"]);
    assert.equal(created.code, 0, created.stderr);
    assert.match(created.stdout, /^name +all things$/m);
    assert.match(created.stdout, /^fields +name=a\n +price:number=b$/m);
    const id = /^id +(\S+)$/m.exec(created.stdout)?.[1] ?? "";
    const run = await orb.run(["jobs", "run", id, "--wait"]);
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stderr, /info +Run created\n[\s\S]*info +Strategy resolved: http[\s\S]*info +Run completed\n/);
    const [, runId = ""] = /^(\S{36}) completed\n$/.exec(run.stdout) ?? [];
    const csv = await orb.run(["runs", "results", runId, "--format", "csv"]);
    assert.equal(csv.stdout.split("\r\n")[1], `${shop.url("/list")},Thing 1,10.5`);
    const some = await orb.run(["runs", "results", runId, "--limit", "2"]);
    assert.equal((JSON.parse(some.stdout) as unknown[]).length, 2, "a limit is one off a terminal, too");
    const rows = await orb.run(["runs", "results", runId, "--limit", "1", "--format", "csv"]);
    assert.equal(rows.stdout, csv.stdout.split("\r\n").slice(0, 2).join("\r\n").concat("\r\n"));
    const listed = await orb.run(["runs", "list"]);
    assert.match(listed.stdout, /^id +status +reason +created +page\n/);
    assert.ok(listed.stdout.includes(runId));
    const [task] = await orb.json<TaskView[]>("runs", "tasks", runId);
    assert.equal(task?.attempts.length, 1);
    await orb.audit();
  });

  test("a job from a file is changed, listed by its tag, and deleted [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    orb.file("job.json", JSON.stringify(listJob(shop)));
    const job = await orb.json<JobView>(
      "jobs",
      "create",
      "job.json",
      "--schedule",
      "0 6 * * *",
      "--header",
      "X-Key: k1",
    );
    assert.deepEqual([job.name, job.schedule?.cron, job.header_names], ["all things", "0 6 * * *", ["x-key"]]);
    const shown = await orb.run(["jobs", "show", job.id]);
    assert.match(shown.stdout, /^next run +\d{4}-\d\d-\d\dT06:00:00.000Z$/m);
    orb.file("rules.json", JSON.stringify({ document: { formats: ["links"] }, browser: { wait_ms: 5 } }));
    const words = [
      "--crawl",
      "--target-url",
      shop.url("/"),
      "--rules",
      "rules.json",
      "--header",
      "X-Key: k2",
      "--mobile",
    ];
    const { crawl } = await orb.json<JobView>("jobs", "create", ...words);
    assert.deepEqual([crawl?.document?.formats, crawl?.header_names], [["links"], ["x-key"]]);
    assert.deepEqual([crawl?.browser?.wait_ms, crawl?.browser?.mobile], [5, true], "options add to what the file says");
    const piped = await orb.run(["jobs", "create", "-", "--name", "second", "--json"], {
      input: JSON.stringify({ target_url: shop.url("/") }),
    });
    assert.equal(piped.code, 0, piped.stderr);
    const changed = await orb.json<JobView>("jobs", "update", job.id, "--name", "some things", "--no-escalate");
    assert.deepEqual([changed.name, changed.escalate, changed.items], ["some things", false, { css: "li.t" }]);
    orb.file("items.json", JSON.stringify({ items: "li.t" }));
    const plain = await orb.run(["jobs", "update", job.id, "items.json"]);
    for (const { stdout } of [shown, plain]) assert.match(stdout, /^items +li\.t$/m);
    const tagged = await orb.json<JobView[]>("jobs", "list", "--tag", "shop");
    assert.deepEqual(
      tagged.map(({ id }) => id),
      [job.id],
    );
    const first = await orb.run(["jobs", "list", "--limit", "1"]);
    assert.match(first.stderr, /there are more/);
    assert.equal((await orb.json<JobView[]>("jobs", "list", "--limit", "1", "--all")).length, 3);
    assert.deepEqual(await orb.json("jobs", "delete", job.id), { deleted: job.id });
    const gone = await orb.run(["jobs", "show", job.id, "--json"]);
    assert.equal(gone.code, 1);
    assert.equal((JSON.parse(gone.stdout) as { error: { code: string } }).error.code, "not_found");
  });

  test("a crawl is saved from flags in the words of orb crawl, changed, and run [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const flags = ["--depth", "1", "--include", "/t/**", "--field", "heading=h1", "--attempts", "1"];
    const created = await orb.run(["jobs", "create", "--crawl", "--target-url", shop.url("/list"), ...flags]);
    assert.equal(created.code, 0, created.stderr);
    assert.match(created.stdout, /^limits +depth 1, 1000 pages, 30 minutes$/m);
    assert.match(created.stdout, /^include +\/t\/\*\*$/m);
    const id = /^id +(\S+)$/m.exec(created.stdout)?.[1] ?? "";
    const changed = await orb.json<JobView>("jobs", "update", id, "--max-pages", "3");
    const { max_depth, max_pages, retry_attempts, fields } = changed.crawl!;
    assert.deepEqual([max_depth, max_pages, retry_attempts, fields], [1, 3, 0, { heading: { css: "h1" } }]);
    const reread = await orb.json<JobView>("jobs", "update", id, "--field", "name=h2", "--respect-robots");
    assert.deepEqual([reread.crawl?.fields, reread.crawl?.max_pages], [{ name: { css: "h2" } }, 3]);
    const nothing = await orb.run(["jobs", "update", id]);
    assert.deepEqual([nothing.code, /nothing to change/.test(nothing.stderr)], [2, true], nothing.stderr);
    const run = await orb.run(["jobs", "run", id, "--wait"]);
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stderr, /Run completed: 1 page fetched, 2 not found/);
    const { script } = shop;
    shop.script = (path, ...request) => (path === "/t/1" ? { status: 500, body: "oh" } : script(path, ...request));
    const partial = await orb.run(["jobs", "run", id, "--wait"]);
    assert.equal(partial.code, 3, partial.stderr);
    const [, errors = ""] = /, orb (runs errors \S+) what failed$/m.exec(partial.stderr) ?? [];
    assert.match((await orb.run(errors.split(" "))).stdout, /http_server_error/, partial.stderr);
    const page = await orb.json<JobView>("jobs", "create", "--target-url", shop.url("/"));
    const refused = await orb.run(["jobs", "update", page.id, "--depth", "3"]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /kind: cannot be changed from page/);
    await orb.audit();
  });

  test("orb crawl --format warc writes an archive of what the site sent; other runs have none [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const file = join(orb.dir, "shop.warc.gz");
    const crawl = await orb.run(["crawl", shop.url("/list"), "--depth", "1", "--format", "warc", "--out", file]);
    assert.equal(crawl.code, 0, crawl.stderr);
    const records = await readWarc(readFileSync(file));
    const answers = records.filter(({ type }) => type === "response");
    assert.deepEqual(
      answers.map(({ url, statusLine }) => `${statusLine?.split(" ")[1]} ${new URL(url ?? "").pathname}`).toSorted(),
      ["200 /list", "404 /t/1", "404 /t/2", "404 /t/3"],
    );
    const id = /\(([0-9a-f-]{36})\)/.exec(crawl.stderr)?.[1] ?? "";
    const limited = await orb.run(["runs", "results", id, "--format", "warc", "--limit", "1"]);
    assert.deepEqual(
      [limited.code, /--limit cannot be combined with --format warc/.test(limited.stderr)],
      [2, true],
      limited.stderr,
    );
    const plain = await orb.run(["crawl", shop.url("/list"), "--depth", "0", "--format", "jsonl"]);
    const other = /\(([0-9a-f-]{36})\)/.exec(plain.stderr)?.[1] ?? "";
    const none = await orb.run(["runs", "results", other, "--format", "warc"]);
    assert.notEqual(none.code, 0);
    assert.match(none.stderr, /did not store raw responses[\s\S]*orb crawl --format warc/);
    await orb.audit();
  });

  test("what is wrong with a job is named by its field [slow]", async () => {
    await using orb = new Installation();
    const cases: [string[], string][] = [
      [["jobs", "create"], "target_url"],
      [["jobs", "create", "--target-url", "http://a.test/", "--schedule", "soon"], "schedule"],
      [["jobs", "create", "--target-url", "http://a.test/", "--field", "x=li["], "fields.x.css"],
      [["jobs", "show", "7"], "job_id"],
      [["runs", "cancel", "7"], "run_id"],
    ];
    for (const [args, path] of cases) {
      const { code, stdout } = await orb.run([...args, "--json"]);
      assert.equal(code, 2, args.join(" "));
      const { error } = JSON.parse(stdout) as { error: { code: string; fields: { path: string }[] } };
      assert.deepEqual([error.code, error.fields[0]?.path], ["input_invalid", path]);
    }
    const nothing = await orb.run(["jobs", "update", "0197c3a1-5a2e-7c3f-9d52-1c8d5f1a2b3c"]);
    assert.equal(nothing.code, 2);
    assert.match(nothing.stderr, /nothing to change/);
  });

  test("a run that nobody works on says how to start somebody; it is cancelled, and cannot be resumed [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const { id } = await orb.json<JobView>("jobs", "create", "--target-url", shop.url("/"));
    const started = await orb.run(["jobs", "run", id]);
    assert.equal(started.code, 0);
    assert.match(started.stderr, /no worker is running on this database; start orb worker/);
    const runId = started.stdout.trim();
    assert.equal((await orb.run(["runs", "cancel", runId])).stdout, `${runId} cancelled\n`);
    const resumed = await orb.run(["runs", "resume", runId]);
    assert.equal(resumed.code, 1);
    assert.match(resumed.stderr, /a run that is cancelled cannot be resumed/);
    assert.equal(shop.hits.length, 0);
  });

  test("orb worker does what is there; SIGTERM ends it with 0; leaving a wait does not cancel the run [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const worker = orb.start(["worker"]);
    await worker.said("working on runs and the queue");
    const { id } = await orb.json<JobView>("jobs", "create", "--target-url", shop.url("/never"));
    const wait = orb.start(["jobs", "run", id, "--wait"]);
    await shop.when(() => shop.open === 1, "the page is asked for");
    await wait.said("Run started");
    wait.kill("SIGINT");
    const left = await wait.end();
    assert.equal(left.code, 3, "it is not at its end");
    assert.match(
      left.stderr,
      /Run started: [^\n]+\nstopped waiting; the run is not cancelled\nthe run has not ended: [^\n]+\n$/,
    );
    const [, runId = ""] = /^(\S{36}) running\n$/.exec(left.stdout) ?? [];
    assert.equal(shop.open, 1);
    const watched = orb.start(["runs", "events", runId, "--follow"]);
    await until(() => watched.stdout.includes("Run started"), "the run is followed");
    watched.kill("SIGINT");
    const unwatched = await watched.end();
    assert.deepEqual([unwatched.code, unwatched.stderr], [130, "stopped following; the run is not cancelled\n"]);
    const events = orb.start(["runs", "events", runId, "--follow", "--json"]);
    assert.equal((await orb.run(["runs", "cancel", runId])).code, 0);
    const followed = (await events.end()).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as EventView);
    assert.equal(followed.at(-1)?.message, "Run cancelled");
    const some = ["runs", "events", runId, "--type", "run.started,run.cancelled"];
    const listed = (await orb.json<EventView[]>(...some)).map(({ type }) => type);
    const streamed = (await orb.run([...some, "--follow", "--json"])).stdout.trim().split("\n");
    assert.deepEqual(listed, ["run.started", "run.cancelled"]);
    assert.deepEqual(
      streamed.map((line) => (JSON.parse(line) as EventView).type),
      listed,
    );
    worker.kill("SIGTERM");
    assert.equal((await worker.end()).code, 0);
    await orb.audit();
  });

  test("a run that failed is told with its reason, and tried again when asked [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const job = await orb.json<JobView>("jobs", "create", "--target-url", shop.url("/nowhere"));
    const failed = await orb.run(["jobs", "run", job.id, "--wait"]);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /failed: bad_response \(http_not_found\)/);
    const runId = failed.stdout.slice(0, 36);
    const again = await orb.json<RunView>("runs", "retry-failed", runId);
    assert.deepEqual([again.id, again.status, again.generation], [runId, "running", 2]);
  });
});
