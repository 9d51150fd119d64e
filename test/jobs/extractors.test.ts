import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { PreviewView } from "../../src/orchestrator/preview.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import type { SiteView } from "../../src/orchestrator/sites/site-view.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, page } from "../support/misbehaviours.ts";
import { root } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";
import { TestServer } from "./kit.ts";

/** What a user writes; outside of the clone, \`orbweaver/handlers\` has another address. */
const MODULE = `import { defineExtractor } from "${pathToFileURL(join(root, "src/lanes/handlers/user/define.ts"))}";
const words = defineExtractor({
  name: "words",
  about: "counts words",
  params: { type: "object", properties: { least: { type: "integer", minimum: 1 } }, additionalProperties: false },
  run({ url, html, markdown, title, status, headers, content_type, params }, { log }) {
    log.info("counting at " + url);
    const long = markdown.split(/\\W+/).filter((word) => word.length >= (params.least ?? 5));
    return { title, long: long.length, status, type: headers["content-type"] ?? null, html: html.includes("<h1>"), said: content_type };
  },
});
const links = defineExtractor({ name: "links", run: ({ html }) => [...html.matchAll(/href="(.+?)"/g)].map(([, to]) => ({ to })) });
const bad = {
  hang: () => new Promise(() => {}),
  loop: () => { for (;;); },
  exit: () => process.exit(3),
  flood: () => ({ text: "x".repeat(9_000_000) }),
  memory: () => { const all = []; for (;;) all.push(new Uint8Array(10_000_000).fill(1)); },
  throws: () => { throw new Error("no idea"); },
  final: () => { throw Object.assign(new Error("never"), { retry: false }); },
  text: () => "not a record",
};
export const extractors = [words, links, ...Object.entries(bad).map(([name, run]) => defineExtractor({ name, timeout: name === "hang" || name === "loop" ? 1 : 50, run }))];
`;

describe("extractors of the user's own", { concurrency: 3 }, () => {
  const folder = tempDir();
  let server: TestServer;
  let site: MisbehavingSite;
  before(async () => {
    const module = join(folder.path, "extractors.ts");
    writeFileSync(module, MODULE);
    site = await MisbehavingSite.start({
      "*": page("A page", "Several considerable words stand here."),
      "/links": html('<h1>Links</h1><a href="/a">a</a> <a href="/b">b</a>'),
    });
    server = await TestServer.open({ APP_HANDLERS: module, APP_BREAKER_FAILURES: "1" });
  });
  after(async () => {
    await site[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const run = (path: string, extract: object, more: object = {}): Promise<RunView> =>
    server.run({ target_url: site.url(path), strategy: "http", extract, ...more } as never);
  const records = async ({ id }: RunView) => (await server.results(id)).map(({ data }) => data);

  test("one is given the page and its params, and gives a record or several [slow]", async () => {
    const ended = await run("/words", { name: "words", params: { least: 7 } });
    assert.equal(ended.status, "completed", String(ended.error_message));
    const type = "text/html; charset=utf-8";
    const record = { title: "A page", long: 2, status: 200, type, html: true, said: type };
    assert.deepEqual(await records(ended), [record]);
    assert.equal((ended.stats["extract"] as { extractor: string }).extractor, "words");
    assert.ok(server.log.some((line) => line.includes("counting at ")));
    const several = await run("/links", { name: "links" }, { fields: { heading: { css: "h1" } } });
    assert.deepEqual(await records(several), [
      { heading: "Links", to: "/a" },
      { heading: "Links", to: "/b" },
    ]);
  });

  test("the job's schema is held against what it gives", async () => {
    const schema = { required: ["to"], properties: { to: { pattern: "^/a" } } };
    const ended = await run("/links", { name: "links" }, { schema });
    assert.deepEqual([ended.failure_code, ended.failure_reason], ["extraction", "schema_mismatch"]);
    assert.match(ended.error_message ?? "", /to of record 2/);
  });

  test("one that hangs, dies, floods or fills the memory fails its page and nothing else [slow]", async () => {
    const reasons: Record<string, string> = {
      hang: "handler_timeout",
      loop: "handler_timeout",
      exit: "handler_exited",
      flood: "handler_bad_result",
      memory: "handler_out_of_memory",
      throws: "handler_threw",
      final: "handler_refused",
      text: "handler_bad_result",
    };
    for (const [name, reason] of Object.entries(reasons)) {
      const ended = await run(`/${name}`, { name }, { max_attempts: 1 });
      assert.deepEqual([name, ended.status, ended.failure_reason], [name, "failed", reason]);
      assert.match(ended.error_message ?? "", new RegExp(`^the extractor ${name}: `));
    }
    const again = await run("/again", { name: "throws" }, { max_attempts: 2 });
    assert.equal(site.count("/again"), 2, "what it throws is tried again");
    assert.equal(again.attempt, 2);
    const shown = (await server.api.get(`/sites/${encodeURIComponent(site.name)}`)).json<SiteView>();
    assert.deepEqual([shown.breaker.state, shown.breaker.failures], ["closed", 0]);
    assert.equal((await run("/words", { name: "words" })).status, "completed");
  });

  test("previews and crawls have them, too", async () => {
    const given = { html: '<a href="/x">x</a>', extract: { name: "links" } };
    const preview = await server.api.post("/extract/preview", given);
    assert.deepEqual(preview.json<PreviewView>().records, [{ to: "/x" }], preview.text);
    const started = await server.api.post("/scraping/async-scrape", {
      url: site.url("/links"),
      max_depth: 0,
      respect_robots: false,
      extract: { name: "links" },
    });
    const { task_id: id } = started.json<{ task_id: string }>();
    assert.equal((await server.ended(id)).status, "completed");
    const { items } = (await server.api.get(`/scraping/tasks/${id}/results`)).json<{ items: { fields: unknown }[] }>();
    assert.deepEqual(
      items.map(({ fields }) => fields),
      [{ to: "/a" }, { to: "/b" }],
    );
  });

  test("a name that nobody has, and params that it does not take, are refused with their path", async () => {
    const wrong = async (path: string, body: object) => {
      const answer = await server.api.post(path, body);
      assert.equal(answer.status, 422, answer.text);
      return answer.json<{ errors: { path: string; message: string }[] }>().errors;
    };
    const target_url = site.url("/wrong");
    const [error] = await wrong("/jobs", { target_url, extract: { name: "word" } });
    assert.deepEqual([error?.path, /did you mean "words"/.test(error?.message ?? "")], ["extract.name", true]);
    for (const [path, body, where] of [
      ["/runs", { target_url }, "extract.params.least"],
      ["/extract/preview", { url: target_url }, "extract.params.least"],
      ["/scraping/async-scrape", { url: target_url }, "extract.params.least"],
    ] as const)
      assert.equal((await wrong(path, { ...body, extract: { name: "words", params: { least: 0 } } }))[0]?.path, where);
    const crawl = { url: target_url, extract: { name: "nobody" } };
    assert.equal((await wrong("/jobs", { kind: "crawl", crawl }))[0]?.path, "crawl.extract.name");
  });

  test("a version whose extractor was removed since is not restored, and the error names the field", async () => {
    const own = tempDir();
    await using moved = await TestServer.open({ APP_HANDLERS: join(folder.path, "extractors.ts") }, { worker: false });
    const crawl = { extract: { name: "links" }, max_pages: 5 };
    const job = await moved.job({ kind: "crawl", target_url: site.url("/"), crawl } as never);
    const page = await moved.job({ target_url: site.url("/"), extract: { name: "links" } } as never);
    await moved.client.jobs.change(job.id, { crawl: { extract: { name: "words" } } } as never);
    await moved.client.jobs.change(page.id, { extract: null } as never);
    writeFileSync(join(own.path, "extractors.ts"), MODULE.replace('name: "links"', 'name: "others"'));
    await moved.stop();
    await moved.start({ worker: false, env: { APP_HANDLERS: join(own.path, "extractors.ts") } });
    for (const [id, path] of [
      [job.id, "crawl.extract.name"],
      [page.id, "extract.name"],
    ]) {
      const refused = await moved.api.post(`/jobs/${id}/versions/1/restore`);
      assert.equal(refused.status, 422);
      const { errors } = refused.json<{ errors: { path: string; message: string }[] }>();
      assert.equal(errors[0]?.path, path);
      assert.match(errors[0]?.message ?? "", /no extractor of this name/);
      assert.equal((await moved.client.jobs.versions(id!).take()).length, 2, "nothing was changed");
    }
    own[Symbol.dispose]();
  });
});
