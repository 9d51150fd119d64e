import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import type { CrawlDetail } from "../../src/orchestrator/crawls/view.ts";
import type { ShownErrorGroup } from "../../src/orchestrator/runs/failed.ts";
import type { RunView, TaskView } from "../../src/orchestrator/runs/view.ts";
import type { SiteView } from "../../src/orchestrator/sites/site-view.ts";
import type { WorkflowProgress } from "../../src/orchestrator/workflows/progress.ts";
import type { WorkflowTaskView } from "../../src/orchestrator/workflows/task-view.ts";
import type { WorkflowDetail } from "../../src/orchestrator/workflows/view.ts";
import { until } from "../chaos/orb.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, status, tooMany } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

/** Of a server that was there: nobody listens on it. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("while something is tried again, what went wrong is told", () => {
  let testServer: TestServer;
  before(async () => {
    testServer = await TestServer.open({ APP_RETRY_BASE_SECONDS: "400", APP_RETRY_MAX_SECONDS: "900" });
  });
  after(() => testServer[Symbol.asyncDispose]());

  const get = async <T>(path: string) => (await testServer.api.get(path)).json<T>();

  async function crawl(url: string): Promise<string> {
    const body = { url, strategy: "http", retry_attempts: 3, respect_robots: false };
    return (await testServer.api.post("/scraping/async-scrape", body)).json<{ task_id: string }>().task_id;
  }

  const waits = (id: string) =>
    until(async () => {
      const { waiting_for: why } = await get<RunView>(`/jobs/runs/${id}`);
      return why !== null && why.last_failure !== null && why;
    }, "it says why it waits");

  test("of a crawl of a port on which nobody listens: on the run, its site, its errors, tasks and events", async () => {
    const site = `127.0.0.1:${await closedPort()}`;
    const url = `http://${site}/`;
    const id = await crawl(url);
    const { reason, message, last_failure: last, until: time } = await waits(id);
    assert.equal(reason, "retry");
    assert.match(message, /Retrying: .*refused.*\. Attempt 2 of 4 at /);
    assert.deepEqual(
      [last?.failure_code, last?.failure_reason, last?.http_status, last?.url, last?.attempt, last?.max_attempts],
      ["network", "connection_refused", null, url, 2, 4],
    );
    assert.equal(last?.next_try_at, time);
    const crawled = await get<CrawlDetail>(`/scraping/tasks/${id}/status`);
    assert.deepEqual(crawled.waiting_for?.last_failure, last);
    assert.deepEqual(crawled.retrying_groups[0]?.next_try_at, time);
    const { last_failure: ofSite, waiting_for: siteWaits } = await get<SiteView>(`/sites/${encodeURIComponent(site)}`);
    assert.deepEqual([ofSite, siteWaits?.last_failure], [last, last]);

    assert.deepEqual(await get(`/jobs/runs/${id}/errors`), [], "nothing has failed for good");
    for (const kind of ["retrying", "retryable", "all"]) {
      const [group] = await get<ShownErrorGroup[]>(`/jobs/runs/${id}/errors?status=${kind}`);
      assert.deepEqual(
        [group?.status, group?.retryable, group?.failure_reason, group?.next_try_at, group?.example.url],
        ["retrying", true, "connection_refused", time, url],
      );
    }
    const tasks = await get<TaskView[]>(`/jobs/runs/${id}/tasks?status=retryable`);
    assert.deepEqual(
      tasks.map((task) => [task.status, task.next_try_at]),
      [["retrying", time]],
    );

    const events = await testServer.events(id);
    const started = events.find((event) => event.message.startsWith("Run started"));
    assert.equal(started?.message, "Run started: strategy http, up to 4 attempts per page");
    const retry = events.find((event) => event.message.startsWith("Retry scheduled"));
    assert.match(
      retry?.message ?? "",
      /^Retry scheduled: attempt 2 of 4 in 4\d\d(?:\.\d)? s for http.*, because .*refused/,
    );
    const { attempt, max_attempts, failure_reason, ready_at, task_id } = retry?.meta ?? {};
    assert.deepEqual([attempt, max_attempts, failure_reason, task_id], [2, 4, "connection_refused", tasks[0]?.id]);
    assert.equal(Date.parse(String(ready_at)) > Date.now(), true);
    await testServer.api.post(`/jobs/runs/${id}/cancel`);
  });

  test("of a page that a server fails to give, with the status it answered", async () => {
    await using site = await MisbehavingSite.start({ "/": status(500) });
    const { id } = await testServer.begin({ target_url: site.url("/"), strategy: "http", max_attempts: 3 });
    const { last_failure: last } = await waits(id);
    assert.deepEqual([last?.http_status, last?.attempt, last?.max_attempts], [500, 2, 3]);
    const started = (await testServer.events(id)).find(({ message }) => message.startsWith("Run started"));
    assert.equal(started?.message, "Run started: attempt 1 of 3, strategy http");
    assert.deepEqual(started?.meta, { attempt: 1, max_attempts: 3, strategy: "http" });
    await testServer.api.post(`/jobs/runs/${id}/cancel`);
  });

  test("of a site that asks for patience: what it answered, and none of its pages counts as in flight [slow]", async () => {
    const links = Array.from({ length: 30 }, (_, n) => `/p${n}`);
    await using site = await MisbehavingSite.start({
      "/": html(links.map((link) => `<a href="${link}">x</a>`).join(" ")),
    });
    for (const link of links) site.on(link, tooMany("300"));
    const id = await crawl(site.url("/"));
    const { reason, last_failure: last, message } = await waits(id);
    assert.deepEqual(
      [reason, last?.http_status, last?.failure_reason],
      ["rate_limited", 429, "http_too_many_requests"],
    );
    assert.match(message, /429/);
    await until(async () => {
      const { running_items: running } = await get<CrawlDetail>(`/scraping/tasks/${id}/status`);
      return running === 0;
    }, "nothing is in flight");
    await testServer.api.post(`/jobs/runs/${id}/cancel`);
  });

  test("of a workflow whose downloads fail: on the workflow and on its step", async () => {
    const urls = Array.from({ length: 14 }, (_, n) => `/${n}.jpg`);
    await using site = await MisbehavingSite.start({});
    for (const url of urls) site.on(url, status(500));
    const definition = {
      name: "gallery",
      steps: [{ name: "fetch", task_type: "download", params: { urls: urls.map((url) => site.url(url)) } }],
    };
    const { id } = (await testServer.api.post("/workflows", { definition })).json<WorkflowDetail>();
    const progress = await until(async () => {
      const now = await get<WorkflowProgress>(`/workflows/${id}/progress`);
      const [step] = now.steps;
      return now.waiting_for !== null && step?.waiting_for?.for === "run" && step.waiting_for.run?.done === 0 && now;
    }, "the workflow waits");
    const waiting = progress.steps[0]?.waiting_for;
    assert.match(waiting?.message ?? "", /^Downloading: 0 of 14\. .*Retrying: the server answered 500/);
    assert.deepEqual([waiting?.last_failure?.http_status, waiting?.last_failure?.attempt], [500, 2]);
    assert.equal(progress.waiting_for?.reason, "retry");
    assert.match(progress.waiting_for?.message ?? "", /^Step fetch: .*500/);
    const flow = await get<WorkflowDetail>(`/workflows/${id}`);
    assert.deepEqual(flow.waiting_for, progress.waiting_for);
    const listed = (await get<WorkflowDetail[]>("/workflows")).find((one) => one.id === id);
    assert.deepEqual(listed?.waiting_for, progress.waiting_for);
    const asRun = (await get<RunView[]>("/runs")).find((one) => one.id === id);
    assert.deepEqual(asRun?.waiting_for, progress.waiting_for);
    assert.match(progress.waiting_for?.message ?? "", /Attempt 2 of \d+ /);
    const groups = await get<ShownErrorGroup[]>(`/jobs/runs/${id}/errors?status=all`);
    assert.deepEqual(
      groups.map((group) => [group.status, group.failure_reason, group.count]),
      [["retrying", "http_server_error", 14]],
      "of the run that its step waits for",
    );
    await testServer.api.post(`/workflows/${id}/cancel`);
  });

  test("of a step that failed and is tried again, and of a workflow that failed where to recover from", async () => {
    await using site = await MisbehavingSite.start({ "/told": status(500), "/ok": html("ok") });
    const step = (name: string, url: string, more = {}) => ({
      name,
      task_type: "webhook",
      params: { url: site.url(url) },
      ...more,
    });
    const steps = [
      step("first", "/ok"),
      step("second", "/told", { dependencies: ["first"], max_retries: 1 }),
      step("third", "/ok", { dependencies: ["second"] }),
    ];
    const { id } = (
      await testServer.api.post("/workflows", { definition: { name: "tell", steps } })
    ).json<WorkflowDetail>();
    const retryable = await until(async () => {
      const list = await get<WorkflowTaskView[]>(`/workflows/${id}/tasks?status=retryable`);
      return list.length > 0 && list;
    }, "the second step is retryable");
    assert.deepEqual(
      retryable.map(({ task_name }) => task_name),
      ["second"],
    );
    const everywhere = await get<WorkflowTaskView[]>("/workflows/tasks?status=retryable");
    assert.deepEqual(
      everywhere.filter(({ workflow_id }) => workflow_id === id).map(({ task_name }) => task_name),
      ["second"],
      "among those of all workflows",
    );
    const firsts = await testServer.api.get("/workflows/tasks?limit=1");
    const next = /<([^>]+)>/.exec(String(firsts.headers["link"]))?.[1] ?? "";
    const names = [firsts.json<WorkflowTaskView[]>(), await get<WorkflowTaskView[]>(next)].map(
      (list) => list[0]?.task_name,
    );
    assert.deepEqual(names, ["first", "second"]);
    await testServer.ended(id);
    const [failed] = await get<WorkflowTaskView[]>(`/workflows/${id}/tasks?status=retryable`);
    assert.deepEqual([failed?.task_name, failed?.status], ["second", "failed"], "a recovery may help");
    const flow = await get<WorkflowDetail>(`/workflows/${id}`);
    assert.deepEqual([flow.status, flow.current_step, flow.waiting_for], ["failed", 1, null]);
    const { current_step_name: name } = await get<WorkflowProgress>(`/workflows/${id}/progress`);
    assert.equal(name, "second");
    const events = await testServer.events(id);
    const retry = events.find((event) => event.message.startsWith("Retry scheduled"));
    assert.match(retry?.message ?? "", /^Retry scheduled: step second, attempt 2 of 2 in /);
  });
});
