import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { SessionView } from "../../src/orchestrator/sessions.ts";
import { Orb, type OrbProcess } from "../chaos/orb.ts";
import { somePort } from "../support/services.ts";
import { Installation } from "./installation.ts";
import { openShop } from "./site.ts";

const TOKEN = "a-token-of-good-length-4711";

async function serve(orb: Orb, port = "0"): Promise<{ server: OrbProcess; url: string }> {
  const server = orb.start(["serve", "--port", port]);
  await server.said("listening on");
  return { server, url: /listening on (http:\/\/[^"]+)/.exec(server.stderr)?.[1] ?? "" };
}

describe("commands with --url", { concurrency: 2 }, () => {
  test("the same commands work on a server, with its token, and touch no database here", async () => {
    await using shop = await openShop();
    await using there = new Orb({ APP_API_TOKEN: TOKEN });
    await using here = new Installation({ APP_API_TOKEN: TOKEN });
    const { url } = await serve(there);
    const job = await here.json<JobView>(
      ...["jobs", "create", "--url", url, "--target-url", shop.url("/list"), "--items", "li.t", "--field", "name=a"],
    );
    const run = await here.run(["jobs", "run", job.id, "--wait", "--url", url]);
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stderr, /Run started[\s\S]*Run completed/);
    const runId = run.stdout.slice(0, 36);
    const jsonl = await here.run(["runs", "results", runId, "--url", url, "--format", "jsonl"]);
    assert.deepEqual(
      jsonl.stdout
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { data: unknown }).data),
      [{ name: "Thing 1" }, { name: "Thing 2" }, { name: "Thing 3" }],
    );
    const told = await here.run(["runs", "events", runId, "--follow", "--url", url]);
    assert.match(told.stdout, /Run created\n[\s\S]*Run completed\n$/, "an ended run is told to its end");
    const added = await here.json<SessionView>(
      ...["sessions", "add", "--url", url, "--origin", "https://shop.test", "--cookie", "sid=1"],
    );
    assert.equal((await here.json<SessionView[]>("sessions", "list", "--url", url))[0]?.id, added.id);
    assert.deepEqual(await here.json("jobs", "list"), [], "the database here knows nothing of it");
    assert.equal((await there.json<JobView[]>("jobs", "list")).length, 1);
  });

  test("a page is got by the server, which keeps the run, and is printed here as if it were got here [slow]", async () => {
    await using shop = await openShop();
    await using there = new Orb({ APP_API_TOKEN: TOKEN });
    await using here = new Installation({ APP_API_TOKEN: TOKEN });
    const { url } = await serve(there);
    const scrape = (...more: string[]) => here.run(["scrape", "--url", url, ...more]);
    const list = await scrape("--items", "li.t", "--field", "name=a", "--format", "csv", shop.url("/list"));
    assert.equal(list.code, 0, list.stderr);
    assert.match(list.stdout, /name[^\n]*\r?\n.*Thing 1[\s\S]*Thing 3/);
    const [, next = ""] = /^stored as a run: orb (.*)$/m.exec(list.stderr) ?? [];
    const shown = await here.run(next.split(" "));
    assert.match(shown.stdout, /completed/, shown.stderr);
    const page = await here.json<{ run_id: string; status: string }>("scrape", "--url", url, shop.url("/"));
    assert.equal(page.status, "completed");
    assert.equal((await there.json<{ id: string }[]>("runs", "list"))[0]?.id, page.run_id);
    const wrong = await scrape("ftp://shop.test/");
    assert.equal(wrong.code, 2, wrong.stderr);
    assert.match(wrong.stderr, /\burl: /, "the argument is named as it is called here");
    assert.deepEqual(await here.json("runs", "list"), [], "the database here knows nothing of it");
  });

  test("what a workflow on a server says to type next works from here: it names the server [slow]", async () => {
    await using there = new Orb({ APP_API_TOKEN: TOKEN });
    await using here = new Installation({ APP_API_TOKEN: TOKEN });
    const { url } = await serve(there);
    const flow = (seconds: string) => `name: Flow\nsteps: [{ name: w, task_type: wait, params: { ${seconds} } }]\n`;
    const run = (text: string, ...more: string[]) => {
      here.file("flow.yaml", text);
      return here.run(["workflows", "run", "flow.yaml", "--url", url, ...more]);
    };
    const done = await run(flow("seconds: 0"));
    assert.equal(done.code, 0, done.stderr);
    const [, next = ""] = /^orb (workflows tasks .*) shows the output of each step$/m.exec(done.stderr) ?? [];
    const tasks = await here.run(next.split(" "));
    assert.match(tasks.stdout, /^w +completed/m, tasks.stderr);
    const started = await run(flow("seconds: 0"), "--detach");
    assert.ok(started.stderr.includes(` --url ${url} shows its progress\n`), started.stderr);
    const refused = await here.run(["workflows", "run", "article-dataset", "--url", url]);
    assert.ok(
      refused.stderr.includes(`orb workflows templates show article-dataset --url ${url} shows`),
      refused.stderr,
    );
  });

  test("what a crawl and a job on a server say to type next names the server [slow]", async () => {
    await using shop = await openShop();
    await using there = new Orb({ APP_API_TOKEN: TOKEN });
    await using here = new Installation({ APP_API_TOKEN: TOKEN });
    const { url } = await serve(there);
    const crawl = await here.run(["crawl", shop.url("/list"), shop.url("/gone"), "--depth", "0", "--url", url]);
    const [, next = ""] = /; orb (runs errors .*) shows examples$/m.exec(crawl.stderr) ?? [];
    const errors = await here.run(next.split(" "));
    assert.match(errors.stdout, /http_not_found/, `${crawl.stderr}${errors.stderr}`);
    const target = ["--target-url", shop.url("/list"), "--field", "name=a"];
    const job = await here.json<JobView>("jobs", "create", "--url", url, ...target);
    const run = await here.run(["jobs", "run", job.id, "--wait", "--url", url]);
    const [, results = ""] = /^orb (runs results .*) shows the results$/m.exec(run.stderr) ?? [];
    assert.match((await here.run(results.split(" "))).stdout, /Thing 1/, run.stderr);
  });

  test("a server's refusals keep their code, message and fields [slow]", async () => {
    await using there = new Orb({ APP_API_TOKEN: TOKEN });
    await using here = new Installation();
    const { url } = await serve(there);
    const refused = await here.run(["jobs", "list", "--url", url, "--json"]);
    assert.equal(refused.code, 1);
    const { error } = JSON.parse(refused.stdout) as { error: { code: string; hint: string } };
    assert.equal(error.code, "unauthorized");
    assert.match(error.hint, /APP_API_TOKEN/);
    const env = { APP_API_TOKEN: TOKEN };
    const bad = await here.run(["jobs", "create", "--target-url", "nonsense", "--url", url, "--json"], { env });
    assert.equal(bad.code, 2);
    const problem = JSON.parse(bad.stdout) as { error: { code: string; fields: { path: string }[] } };
    assert.deepEqual([problem.error.code, problem.error.fields[0]?.path], ["input_invalid", "target_url"]);
    assert.ok(!`${refused.stdout}${bad.stdout}${bad.stderr}`.includes(TOKEN));
  });

  test("a server that is not there, and an address that is none, are said", async () => {
    await using here = new Installation();
    const nobody = await here.run(["runs", "list", "--url", "http://127.0.0.1:9"]);
    assert.equal(nobody.code, 1);
    assert.match(nobody.stderr, /no answer from http:\/\/127\.0\.0\.1:9: the connection was refused\n.*orb serve/);
    const nonsense = await here.run(["runs", "list", "--url", "somewhere"]);
    assert.equal(nonsense.code, 2);
    assert.match(nonsense.stderr, /--url: expected the URL of a server/);
    await using shop = await openShop();
    const other = await here.run(["runs", "list", "--url", shop.url("")]);
    assert.equal(other.code, 1);
    assert.match(other.stderr, /answered 404, but it is not Orbweaver/);
  });

  test("a server that stops while somebody follows is waited for, and the events go on where they were [slow]", async () => {
    await using shop = await openShop();
    await using there = new Orb({ APP_HTTP_TIMEOUT_SECONDS: "600" });
    const port = String(await somePort());
    const first = await serve(there, port);
    const job = await there.json<JobView>("jobs", "create", "--target-url", shop.url("/never"));
    const wait = there.start(["jobs", "run", job.id, "--wait", "--url", first.url]);
    await shop.when(() => shop.open === 1, "the page is asked for");
    await wait.said("Run started");
    await first.server.killed();
    const second = there.start(["serve", "--port", port, "--no-worker"]);
    await second.said("listening on");
    const [run] = await there.json<{ id: string }[]>("runs", "list");
    assert.equal((await there.run(["runs", "cancel", run?.id ?? ""])).code, 0);
    const { code, stderr } = await wait.end();
    assert.equal(code, 1);
    assert.match(stderr, /Run cancelled/);
    assert.equal(stderr.split("Run started").length, 2, "nothing is told twice");
  });
});
