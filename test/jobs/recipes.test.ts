import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { PreviewView } from "../../src/orchestrator/preview.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { html, type TestSite, webSite } from "../support/browser-kit.ts";
import { TestServer } from "./kit.ts";

describe("runs without a job, and the same again", () => {
  let server: TestServer;
  let site: TestSite;
  before(async () => {
    server = await TestServer.open();
    site = await webSite({
      "/": html("<title>One</title><h1>Grüße</h1>"),
      "/json": (_request, response) =>
        void response.writeHead(200, { "content-type": "application/json" }).end('{"a":{"b":1}}'),
    });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });
  const recipeOf = async (id: string) =>
    (await server.api.get(`/jobs/runs/${id}/recipe`)).json<{
      recipe: Record<string, unknown>;
      header_names: string[];
    }>();

  test("a page is got at once; what it was asked for is told without its secrets, and can be saved as a job", async () => {
    const headers = { "x-key": "secret-4711" };
    const asked = {
      target_url: site.url("/"),
      fields: { t: { css: "h1" } },
      max_attempts: 2,
      strategy: "http",
      headers,
    };
    const answer = await server.api.post("/runs", asked);
    assert.equal(answer.status, 201, answer.text);
    const begun = answer.json<RunView>();
    assert.equal(begun.job_id, null);
    assert.equal((await server.ended(begun.id)).status, "completed");
    const told = await recipeOf(begun.id);
    assert.ok(!JSON.stringify(told).includes("secret-4711"));
    assert.deepEqual(told.header_names, ["x-key"]);
    const { kind, target_url, fields, max_attempts, strategy } = told.recipe;
    assert.deepEqual(
      [kind, target_url, fields, max_attempts, strategy],
      ["page", asked.target_url, asked.fields, 2, "http"],
    );
    const saved = await server.api.post("/jobs", told.recipe);
    assert.equal(saved.status, 201, saved.text);
  });

  test("of a crawl and of a workflow, too; a run of another kind has none", async () => {
    const crawl = (await server.api.post("/scraping/async-scrape", { url: site.url("/"), max_depth: 0 })).json<{
      task_id: string;
    }>();
    const { recipe } = await recipeOf(crawl.task_id);
    assert.deepEqual([recipe["kind"], (recipe["crawl"] as { max_depth: number }).max_depth], ["crawl", 0]);
    assert.equal((await server.api.post("/jobs", recipe)).status, 201);
    await server.ended(crawl.task_id);
    const definition = {
      name: "w",
      steps: [{ name: "s", task_type: "crawl", params: { url: site.url("/"), max_depth: 0 } }],
    };
    const flow = (await server.api.post("/workflows", { definition })).json<{ id: string }>();
    const again = await recipeOf(flow.id);
    assert.equal(again.recipe["kind"], "workflow");
    assert.equal((await server.api.post("/jobs", again.recipe)).status, 201);
    await server.ended(flow.id);
    const unknown = "0197c000-0000-7000-8000-000000000001";
    assert.equal((await server.api.get(`/jobs/runs/${unknown}/recipe`)).status, 404);
  });

  test("what is no single page is refused by its field", async () => {
    for (const [more, path] of [
      [{ target_url: "ftp://a.example/" }, /target_url/],
      [{ target_url: site.url("/"), schedule: "0 6 * * *" }, /schedule/],
      [{}, /target_url/],
    ] as const) {
      const answer = await server.api.post("/runs", more);
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.text, path);
    }
  });

  test("a preview brings the page along where that is asked for, and reads what is sent as what it is", async () => {
    const preview = async (body: unknown) => (await server.api.post("/extract/preview", body)).json<PreviewView>();
    const seen = await preview({ url: site.url("/"), include_html: true, strategy: "http" });
    assert.match(seen.html ?? "", /<h1>Grüße<\/h1>/);
    assert.match(seen.content_type ?? "", /^text\/html/);
    assert.equal((await preview({ url: site.url("/"), strategy: "http" })).html, null);
    const fields = { b: { jsonpath: "$.a.b" } };
    const read = await preview({ html: '{"a":{"b":1}}', content_type: "application/json", fields });
    assert.deepEqual(read.records, [{ b: 1 }]);
    const large = await preview({ html: `<h1>x</h1>${" ".repeat(2_000_000)}`, fields: { t: "h1" } });
    assert.deepEqual(large.records, [{ t: "x" }]);
  });
});
