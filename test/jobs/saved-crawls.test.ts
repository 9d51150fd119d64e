import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { held, html } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

const page = (title: string, ...links: string[]) =>
  html(`<title>${title}</title><p>Words of ${title}.</p>${links.map((link) => `<a href="${link}">go on</a>`)}`);

const SITE = {
  "/": page("Start", "/a", "/b"),
  "/a": page("A", "/a/1"),
  "/b": page("B"),
  "/a/1": page("A1", "/a/2"),
  "/a/2": page("A2"),
};

interface Problem {
  code: string;
  errors: { path: string; message: string }[];
}

describe("a crawl that is saved as a job", () => {
  let server: TestServer;
  let site: MisbehavingSite;
  before(async () => {
    [server, site] = [await TestServer.open(), await MisbehavingSite.start(SITE)];
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const saved = (more: object = {}, crawl: object = {}) =>
    server.job({ kind: "crawl", target_url: site.url("/"), crawl, ...more });
  const urls = async (run: string) => (await server.results(run)).map(({ data }) => data["url"] as string).toSorted();
  const paths = (...list: string[]) => list.map((path) => site.url(path)).toSorted();

  test("runs as often as it is told, each time as it is then", async () => {
    const job = await saved({ name: "all of it", tags: ["shop"] }, { max_depth: 1, fields: { words: "p" } });
    assert.deepEqual(
      [job.kind, job.target_url, job.crawl?.url, job.crawl?.max_depth, job.crawl?.max_pages, job.strategy],
      ["crawl", site.url("/"), site.url("/"), 1, 1000, "auto"],
    );
    const first = await server.run(job.id);
    assert.deepEqual([first.kind, first.job_id, first.name, first.status], ["crawl", job.id, "all of it", "completed"]);
    assert.deepEqual(await urls(first.id), paths("/", "/a", "/b"));
    const patched = await server.api.call("PATCH", `/jobs/${job.id}`, { crawl: { max_depth: 2 } });
    assert.deepEqual(
      [patched.json<JobView>().crawl?.max_depth, patched.json<JobView>().crawl?.fields],
      [2, { words: "p" }],
      "the other keys stay as they were",
    );
    const second = await server.run(job.id);
    assert.deepEqual(await urls(second.id), paths("/", "/a", "/b", "/a/1"));
    const runs = (await server.api.get(`/jobs/${job.id}/runs`)).json<RunView[]>();
    assert.deepEqual(
      runs.map(({ id }) => id),
      [second.id, first.id],
    );
    const tagged = (await server.api.get("/jobs?tag=shop")).json<JobView[]>();
    assert.deepEqual(
      tagged.map(({ id }) => id),
      [job.id],
    );
    const view = (await server.api.get(`/scraping/tasks/${second.id}/status`)).json<CrawlView>();
    assert.deepEqual([view.status, view.completed_items], ["completed", 4]);
    assert.equal((await server.api.call("DELETE", `/jobs/${job.id}`)).status, 204);
    assert.deepEqual(await urls(second.id), paths("/", "/a", "/b", "/a/1"), "its runs stay readable");
  });

  test("begins where target_url or crawl.url says, and moves with either", async () => {
    const job = await server.job({ kind: "crawl", crawl: { url: [site.url("/a/1"), site.url("/b")], max_depth: 0 } });
    assert.deepEqual([job.target_url, job.site], [site.url("/a/1"), site.name]);
    assert.deepEqual(await urls((await server.run(job.id)).id), paths("/a/1", "/b"));
    const change = async (body: object) => server.api.call("PATCH", `/jobs/${job.id}`, body);
    const refused = await change({ target_url: site.url("/b") });
    assert.equal(refused.status, 422, "which of the two starts is meant?");
    assert.equal(refused.json<Problem>().errors[0]?.path, "target_url");
    const one = await change({ crawl: { url: site.url("/a") } });
    assert.equal(one.json<JobView>().target_url, site.url("/a"));
    const other = await change({ target_url: site.url("/b") });
    assert.deepEqual(
      [other.json<JobView>().target_url, other.json<JobView>().crawl?.url],
      [site.url("/b"), site.url("/b")],
    );
    assert.deepEqual(await urls((await server.run(job.id)).id), paths("/b"));
  });

  test("a repeated call under one key makes one job and one run", async () => {
    const headers = { "idempotency-key": "one-crawl" };
    const body = { kind: "crawl", target_url: site.url("/b") };
    const make = async () => (await server.api.call("POST", "/jobs", body, headers)).json<JobView>().id;
    const id = await make();
    assert.equal(await make(), id);
    const begin = async () =>
      (
        await server.api.call("POST", `/jobs/${id}/runs`, undefined, { "idempotency-key": "one-run-of-it" })
      ).json<RunView>();
    const run = await begin();
    assert.deepEqual([(await begin()).id, run.kind, run.status], [run.id, "crawl", "queued"]);
    await server.ended(run.id);
    assert.equal((await server.api.get(`/jobs/${id}/runs`)).json<RunView[]>().length, 1);
  });

  test("its runs wait their turn like all crawls, and a live one keeps the job from being deleted [slow]", async () => {
    await using busy = await TestServer.open({ APP_MAX_CONCURRENT_TASKS: "1" });
    const gate = Promise.withResolvers<void>();
    await using slow = await MisbehavingSite.start({ "/": held(gate.promise, page("Slow")) });
    const job = await busy.job({ kind: "crawl", target_url: slow.url("/") });
    const first = await busy.begin(job.id);
    await slow.visited("/", 1);
    const second = await busy.begin(job.id);
    assert.equal((await busy.show(second.id)).status, "queued");
    assert.equal((await busy.api.call("DELETE", `/jobs/${job.id}`)).status, 409);
    gate.resolve();
    assert.equal((await busy.ended(first.id)).status, "completed");
    assert.equal((await busy.ended(second.id)).status, "completed");
  });

  test("its schedule starts it", async () => {
    const job = await saved({ schedule: "* * * * * *" }, { max_depth: 0 });
    await site.visited("/", site.count("/") + 1);
    await server.api.call("PATCH", `/jobs/${job.id}`, { schedule: null });
    const runs = (await server.api.get(`/jobs/${job.id}/runs`)).json<RunView[]>();
    assert.ok(runs.length > 0 && runs.every(({ kind }) => kind === "crawl"));
    for (const { id } of runs) assert.equal((await server.ended(id)).status, "completed");
  });

  test("what makes no sense is refused, naming the field", async () => {
    const target_url = "http://127.0.0.2/";
    const cases: [object, string][] = [
      [{ kind: "crawl" }, "target_url"],
      [{ kind: "crawl", target_url: "ftp://x" }, "target_url"],
      [{ kind: "crawl", crawl: { url: "nope" } }, "crawl.url"],
      [{ kind: "crawl", target_url, crawl: { url: "http://127.0.0.2/other" } }, "target_url"],
      [{ kind: "crawl", target_url: "http://ann:pw@127.0.0.2/" }, "target_url"],
      [{ kind: "crawl", target_url, crawl: { include: ["/word/"] } }, "crawl.include[0]"],
      [{ kind: "crawl", target_url, crawl: { max_depth: -1 } }, "crawl.max_depth"],
      [{ kind: "crawl", target_url, crawl: { depth: 1 } }, "crawl.depth"],
      [{ kind: "crawl", target_url, crawl: { fields: { a: { css: "[[" } } } }, "crawl.fields.a.css"],
      [{ kind: "crawl", target_url, schedule: "soon" }, "schedule"],
      [{ kind: "crawl", target_url, fields: ["title"] }, "fields"],
      [{ kind: "crawl", target_url, max_attempts: 3 }, "max_attempts"],
      [{ kind: "crawl", target_url, headers: { a: "b" } }, "headers"],
      [{ target_url, crawl: {} }, "crawl"],
      [{ kind: "feed", target_url }, "kind"],
    ];
    for (const [body, path] of cases) {
      const answer = await server.api.post("/jobs", body);
      assert.equal(answer.status, 422, JSON.stringify(body));
      assert.equal(answer.json<Problem>().errors[0]?.path, path, answer.text);
    }
    const forbidden = await server.api.post("/jobs", { kind: "crawl", target_url: "http://10.0.0.1/" });
    assert.deepEqual([forbidden.status, forbidden.json<Problem>().code], [422, "forbidden_target"]);
    const job = await server.job({ target_url });
    const turned = await server.api.call("PATCH", `/jobs/${job.id}`, { kind: "crawl" });
    assert.deepEqual([turned.status, turned.json<Problem>().errors[0]?.path], [422, "kind"]);
  });
});
