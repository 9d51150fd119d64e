import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { PreviewView } from "../../src/orchestrator/preview.ts";
import type { TaskView } from "../../src/orchestrator/runs/view.ts";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { column, pdf } from "../support/pdf-files.ts";
import { Crawler } from "./crawler.ts";
import { evidenceOf, TestServer } from "./kit.ts";

const WORDS = "Enough words, commas and patience to be what this page is about, for everybody who reads.";

interface Document {
  markdown?: string;
  screenshot?: { artifact_id: string };
  actions?: { screenshots: { artifact_id: string }[]; scrapes: { url: string; html: string }[] };
  metadata: Record<string, unknown>;
}

describe("documents and actions that need a browser", { ...browserGate, concurrency: 2 }, () => {
  let server: TestServer;
  let site: MisbehavingSite;
  before(async () => {
    server = await TestServer.open({ APP_BROWSER_MAX_PAGES: "3" });
    site = await MisbehavingSite.start({
      "/": html(
        `<title>Start</title><main><p>${WORDS}</p><button onclick="document.querySelector('p').textContent = 'clicked: ${WORDS}'">b</button>` +
          `<a href="/a">a</a></main>`,
      ),
      "/a": html(`<title>A</title><main><p>${WORDS}</p><button>b</button></main>`),
      "/bare": html(`<title>Bare</title><p>${WORDS}</p>`),
      "/study.pdf": (_visit, response) =>
        void response
          .writeHead(200, { "content-type": "application/pdf" })
          .end(pdf([{ texts: column(["The text of a study that a browser does not show."]) }])),
    });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  test("a PDF that a browser meets is fetched by a plain request, and read", async () => {
    const job = await server.job({ target_url: site.url("/study.pdf"), strategy: "browser", fields: ["text"] });
    const run = await server.run(job.id);
    assert.deepEqual([run.status, run.resolved_strategy, evidenceOf(run).rule], ["completed", "http", "document"]);
    assert.match(JSON.stringify((await server.results(run.id))[0]?.data), /text of a study/);
  });

  const documentOf = (data: object) => (data as { document: Document }).document;
  const isPicture = async (id: string | undefined) => {
    const answer = await server.api.get(`/artifacts/${id}`);
    assert.deepEqual([answer.status, answer.headers["content-type"]], [200, "image/png"]);
  };

  test("a screenshot makes http a browser, which says why, and is a file of the run [slow]", async () => {
    const document = { formats: ["markdown", "screenshot"] as const };
    const run = await server.run({
      target_url: site.url("/"),
      strategy: "http",
      document: { formats: [...document.formats] },
    });
    assert.deepEqual([run.status, run.resolved_strategy], ["completed", "browser"], run.error_message ?? "");
    assert.deepEqual(evidenceOf(run), {
      rule: "needed",
      because: "a screenshot needs a browser",
    });
    const [result] = await server.results(run.id);
    const { markdown, screenshot, actions } = documentOf(result!.data);
    assert.match(markdown!, /^Enough words/);
    assert.equal(actions, undefined);
    const [file, ...more] = (await server.task(run.id)).artifacts;
    assert.deepEqual([file?.id, file?.role, more.length], [screenshot?.artifact_id, "screenshot", 0]);
    await isPicture(screenshot?.artifact_id);
  });

  test("what actions bring along stands in the document, and the page is read as they leave it [slow]", async () => {
    const run = await server.run({
      target_url: site.url("/"),
      fields: { words: "p" },
      browser: {
        actions: [
          { type: "scrape" },
          { type: "screenshot" },
          { type: "click", selector: "button" },
          { type: "screenshot", full_page: true },
        ],
      },
    });
    assert.equal(run.status, "completed", run.error_message ?? "");
    const [result] = await server.results(run.id);
    assert.match(String(result!.data["words"]), /^clicked: /);
    const { actions, metadata, ...rest } = documentOf(result!.data);
    assert.deepEqual([Object.keys(rest), metadata["title"]], [[], "Start"]);
    assert.equal(actions!.scrapes.length, 1);
    assert.doesNotMatch(actions!.scrapes[0]!.html, /<p>clicked/);
    const files = (await server.task(run.id)).artifacts.map(({ id }) => id);
    assert.deepEqual(
      actions!.screenshots.map(({ artifact_id: id }) => id),
      files,
    );
    assert.equal(new Set(files).size, 2);
  });

  test("a preview does the actions and sends the headers that a run would", async () => {
    const answer = await server.api.post("/extract/preview", {
      url: site.url("/"),
      include_html: true,
      headers: { "x-tried": "yes" },
      browser: { actions: [{ type: "click", selector: "button" }] },
    });
    const seen = answer.json<PreviewView>();
    assert.deepEqual([answer.status, seen.strategy, seen.failure_code], [200, "browser", null], answer.text);
    assert.match(seen.html ?? "", /clicked: Enough words/);
    assert.ok(site.visits.some(({ path, headers }) => path === "/" && headers["x-tried"] === "yes"));
  });

  test("an action that cannot be done fails the run at once, with a picture of why [slow]", async () => {
    const run = await server.run({
      target_url: site.url("/bare"),
      max_attempts: 3,
      browser: { actions: [{ type: "click", selector: "#nowhere" }] },
    });
    assert.deepEqual([run.status, run.failure_code, run.failure_reason], ["failed", "extraction", "action_failed"]);
    assert.equal(run.error_message, 'browser.actions[0] (click "#nowhere"): nothing on the page matches');
    assert.deepEqual([run.attempt, site.count("/bare")], [1, 1]);
    const roles = (await server.task(run.id)).artifacts.map(({ role }) => role);
    assert.deepEqual(roles, ["screenshot", "snapshot"]);
  });

  test("a crawl does them on every page, and may be an archive besides [slow]", async () => {
    const { id, view, items } = await new Crawler(server).crawl({
      url: site.url("/"),
      export_format: "warc",
      document: { formats: ["screenshot_full"] },
      browser: { mobile: true, actions: [{ type: "click", selector: "button" }] },
    });
    assert.equal(view.status, "completed", JSON.stringify(view));
    assert.equal(items.length, 2);
    const tasks = (await server.api.get(`/jobs/runs/${id}/tasks`)).json<TaskView[]>();
    for (const item of items) {
      const artifact = documentOf(item).screenshot?.artifact_id;
      const { artifacts } = tasks.find(({ url }) => url === item.url)!;
      assert.deepEqual(
        artifacts.map(({ role }) => role),
        ["screenshot", "exchange"],
      );
      assert.equal(artifacts[0]?.id, artifact);
      await isPicture(artifact);
    }
    assert.ok(site.of("/a").every(({ headers }) => /Android.*Mobile/.test(headers["user-agent"] ?? "")));
  });

  test("a run that is cancelled in the middle of its actions ends", async () => {
    site.on("/wait", html(`<p>${WORDS}</p><button onclick="fetch('/clicked')">b</button>`));
    const { id } = await server.begin({
      target_url: site.url("/wait"),
      timeout_seconds: 600,
      browser: {
        actions: [
          { type: "click", selector: "button" },
          { type: "wait", selector: "#never" },
        ],
      },
    });
    await site.visited("/clicked");
    assert.equal((await server.api.post(`/jobs/runs/${id}/cancel`)).status, 200);
    assert.equal((await server.ended(id)).status, "cancelled");
  });
});
