/** The demo site within a server: started by a call, crawled under the usual guard, gone with the server. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "undici";
import type { OpenDemo } from "../../src/api/deps.ts";
import { BOOKS, priceText } from "../../src/demo/books.ts";
import { GALLERY_TRUTH, PICTURES } from "../../src/demo/gallery.ts";
import { galleryWorkflow } from "../../src/demo/tour.ts";
import type { CrawlDetail } from "../../src/orchestrator/crawls/view.ts";
import type { WorkflowTaskView } from "../../src/orchestrator/workflows/task-view.ts";
import { TestServer } from "../jobs/kit.ts";

const CLOSED = { APP_ALLOW_PRIVATE_NETWORKS: "false", APP_BROWSER_PATH: "/nowhere/chromium" };

describe("the demo site of a server", () => {
  test("is crawled to its end without opening the private network, with its failures told apart", async () => {
    await using server = await TestServer.open(CLOSED);
    const { api } = server;
    const before = (await api.get("/demo-site")).json<{ available: boolean; url: string | null }>();
    assert.deepEqual([before.available, before.url], [true, null]);
    const demo = (await api.post("/demo-site")).json<OpenDemo>();
    assert.equal(
      (await api.post("/demo-site")).json<OpenDemo>().url,
      demo.url,
      "one site, however often it is asked for",
    );
    assert.equal(demo.browser, false);
    const elsewhere = await api.post("/scraping/async-scrape", { url: api.url });
    assert.equal(elsewhere.status, 422, "the server's own port stays closed");
    const workflow = (await api.post("/workflows", { ...galleryWorkflow(new URL(demo.url).origin) })).json<{
      id: string;
    }>();
    const crawl = (await api.post("/scraping/async-scrape", demo.crawl)).json<{ task_id: string }>();
    await server.ended(crawl.task_id);
    const view = (await api.get(`/scraping/tasks/${crawl.task_id}/status`)).json<CrawlDetail>();
    assert.equal(view.status, "partial", JSON.stringify(view));
    assert.deepEqual(
      Object.fromEntries(view.error_groups.map(({ failure_reason: reason, count }) => [reason, count])),
      { http_not_found: 1, http_server_error: 1, truncated_body: 1, too_many_redirects: 1, robots_disallowed: 1 },
    );
    const records = await server.results(crawl.task_id);
    const books = records.flatMap(({ data }) => {
      const { fields } = data as { fields: { title: string; price: number | null } };
      return fields.price === null ? [] : [`${fields.title} €${fields.price.toFixed(2)}`];
    });
    assert.deepEqual(books.toSorted(), BOOKS.map((book) => `${book.title} ${priceText(book)}`).toSorted());

    await server.ended(workflow.id);
    const steps = (await api.get(`/workflows/${workflow.id}/tasks`)).json<WorkflowTaskView[]>();
    const result = (name: string) =>
      steps.find(({ task_name: own }) => own === name)?.result as Record<string, unknown>;
    const { refused, kept, exactCopies: exact, smallerCopies: near } = GALLERY_TRUTH;
    assert.equal(PICTURES.length, GALLERY_TRUTH.pictures);
    assert.deepEqual(result("validate")["reasons"], refused);
    const { kept: left, exact: same, near: alike } = result("deduplicate");
    assert.deepEqual([left, same, alike], [kept, exact, near]);

    await server.stop();
    await assert.rejects(request(demo.url), /ECONNREFUSED/);
    await server.start();
  });

  test("is not offered where another process would do the crawling", async () => {
    await using server = await TestServer.open(CLOSED, { worker: false });
    const { available } = (await server.api.get("/demo-site")).json<{ available: boolean }>();
    assert.equal(available, false);
    const answer = await server.api.post("/demo-site");
    assert.equal(answer.status, 409, answer.text);
    assert.match(answer.text, /orb demo/);
  });
});
