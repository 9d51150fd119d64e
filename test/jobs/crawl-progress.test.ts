import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { CrawlHealth } from "../../src/orchestrator/crawls/read.ts";
import type { CrawlDetail } from "../../src/orchestrator/crawls/view.ts";
import type { Overview } from "../../src/orchestrator/live/overview.ts";
import type { ErrorGroup } from "../../src/orchestrator/runs/failed.ts";
import type { RunSiteView } from "../../src/orchestrator/runs/sites.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { hang, html, sendTo, status, tooMany } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

const page = (title: string, ...links: string[]) =>
  html(`<title>${title}</title><p>Some words.</p>${links.map((link) => `<a href="${link}">go on</a>`).join(" ")}`);

interface Results {
  items: { url: string }[];
  errors: { page_task_id: string; task_id: string; url: string; failure_code: string }[];
}

const nextOf = (answer: { headers: Record<string, unknown> }) =>
  /<([^>]+)>/.exec(String(answer.headers["link"] ?? ""))?.[1];

describe("how a crawl is getting on", { concurrency: 4 }, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open();
  });
  after(() => server[Symbol.asyncDispose]());

  const begin = async (body: object, at = server) => {
    const answer = await at.api.post("/scraping/async-scrape", body);
    assert.equal(answer.status, 202, answer.text);
    return answer.json<{ task_id: string }>().task_id;
  };
  const view = async (id: string) => (await server.api.get(`/scraping/tasks/${id}/status`)).json<CrawlDetail>();
  const sites = async (id: string, query = "", at = server) =>
    (await at.api.get(`/jobs/runs/${id}/sites${query}`)).json<RunSiteView[]>();
  const errors = async (id: string) => (await server.api.get(`/jobs/runs/${id}/errors`)).json<ErrorGroup[]>();
  const retry = (id: string, body?: object) => server.api.post(`/jobs/runs/${id}/retry-failed`, body);

  /** A site of which every kind of page fails in its own way. */
  const broken = async () => {
    const bad = { gone: status(404), fault: status(500), no: status(403) };
    const paths = Object.keys(bad).flatMap((kind) => ["1", "2"].map((n) => `/${kind}/${n}`));
    const site = await MisbehavingSite.start({ "/": page("Start", ...paths, "/fine"), "/fine": page("Fine") });
    for (const path of paths) site.on(path, bad[path.split("/")[1] as keyof typeof bad]);
    return site;
  };
  const brokenCrawl = async (site: MisbehavingSite) => {
    const id = await begin({ url: site.url("/"), retry_attempts: 0, strategy: "http" });
    assert.equal((await server.ended(id)).status, "partial");
    return id;
  };

  test("what failed is told by reason, with an example [slow]", async () => {
    await using site = await broken();
    const id = await brokenCrawl(site);
    const { error_groups: groups, failed_items: failed, errors: classes } = await view(id);
    assert.deepEqual([failed, classes], [6, { timeout: 0, connection: 0, general: 6 }]);
    assert.deepEqual(
      groups.map((group) => [group.failure_code, group.failure_reason, group.class, group.count]),
      [
        ["blocked", "http_forbidden", "general", 2],
        ["bad_response", "http_not_found", "general", 2],
        ["bad_response", "http_server_error", "general", 2],
      ],
    );
    assert.match(groups[1]?.example.url ?? "", /\/gone\/[12]$/);
    assert.match(groups[1]?.example.message ?? "", /404/);
    for (const { example } of groups) assert.equal(example.page_task_id, example.task_id);
    const kept = (await errors(id)) as (ErrorGroup & { example: { snapshot_id: string | null } })[];
    const [forbidden] = kept;
    assert.ok(forbidden?.example.snapshot_id, "of what was refused there is a copy");
    assert.deepEqual(
      kept,
      groups.map(({ example: { url, message, task_id }, ...group }) => ({
        ...group,
        example: {
          url,
          message,
          task_id,
          screenshot_id: null,
          snapshot_id: group.failure_code === "blocked" ? forbidden.example.snapshot_id : null,
        },
      })),
      "the same for runs of every kind, with what was kept of the example",
    );
    assert.equal((await server.api.get(`/jobs/runs/${crypto.randomUUID()}/errors`)).status, 404);
  });

  test("a page that failed alone is told in the same way [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": status(404) });
    const run = await server.run({ target_url: site.url("/"), strategy: "http" });
    const [group] = await errors(run.id);
    assert.deepEqual([group?.failure_reason, group?.count, group?.example.url], ["http_not_found", 1, site.url("/")]);
  });

  test("failed pages are listed page by page beside the others, each once [slow]", async () => {
    await using site = await broken();
    const id = await brokenCrawl(site);
    let next: string | undefined = `/scraping/tasks/${id}/results?include_errors=true&limit=4`;
    const seen: Results = { items: [], errors: [] };
    let pages = 0;
    for (; next !== undefined; pages += 1) {
      const answer = await server.api.get(next);
      assert.equal(answer.status, 200, answer.text);
      const { items, errors: failed } = answer.json<Results>();
      assert.ok(items.length <= 4 && failed.length <= 4);
      seen.items.push(...items);
      seen.errors.push(...failed);
      next = nextOf(answer);
    }
    assert.deepEqual([pages, seen.items.length, new Set(seen.errors.map(({ url }) => url)).size], [2, 2, 6]);
    assert.equal(seen.errors.length, 6);
    for (const { page_task_id: task, task_id: alias, url } of seen.errors) {
      assert.equal(alias, task);
      const page = (await server.api.get(`/jobs/runs/${id}/tasks/${task}`)).json<{ url: string }>();
      assert.equal(page.url, url, "the task of the page, not the crawl");
    }
    const alone = (await server.api.get(`/scraping/tasks/${id}/results`)).json<Results>();
    assert.deepEqual(alone.errors, []);
    for (const name of ["limit=4", "cursor=x", "include_errors=true"]) {
      const refused = await server.api.get(`/scraping/tasks/${id}/results?format=csv&${name}`);
      assert.equal(refused.status, 422);
      assert.equal(refused.json<{ errors: { path: string }[] }>().errors[0]?.path, `query.${name.split("=")[0]}`);
    }
    assert.equal((await server.api.get(`/jobs/runs/${id}/results?format=csv&limit=4`)).status, 422);
    const nonsense = Buffer.from("1:here/there").toString("base64url");
    assert.equal((await server.api.get(`/scraping/tasks/${id}/results?cursor=${nonsense}`)).status, 422);
  });

  test("a part of what failed is tried again: by reason, by code, by site, by name [slow]", async () => {
    await using site = await broken();
    const id = await brokenCrawl(site);
    let ran = (await view(id)).duration_seconds;
    const mended = async (body: object, ...paths: string[]) => {
      const before = site.visits.length;
      for (const path of paths) site.on(path, page("Mended"));
      const answer = await retry(id, body);
      assert.deepEqual([answer.status, answer.json<{ status: string }>().status], [200, "running"], answer.text);
      await server.ended(id);
      assert.deepEqual(
        site.visits
          .slice(before)
          .map(({ path }) => path)
          .toSorted(),
        paths.toSorted(),
      );
      const now = await view(id);
      assert.ok(now.duration_seconds > ran, `${now.duration_seconds} s, and ${ran} s before: all its time counts`);
      ran = now.duration_seconds;
      const pace = (now.completed_items + now.failed_items + now.skipped_items) / ran;
      assert.ok(Math.abs(now.pages_per_second - pace) <= 0.01, `${now.pages_per_second} pages/s of ${pace}`);
    };
    await mended({ failure_reason: "http_forbidden" }, "/no/1", "/no/2");
    assert.deepEqual(
      (await errors(id)).map(({ failure_reason: reason, count }) => [reason, count]),
      [
        ["http_not_found", 2],
        ["http_server_error", 2],
      ],
    );
    const listed = (await server.api.get(`/scraping/tasks/${id}/results?include_errors=true`)).json<Results>();
    const one = listed.errors.find(({ url }) => url.endsWith("/gone/1"))?.task_id;
    await mended({ task_ids: [one] }, "/gone/1");
    await mended({ failure_code: "bad_response", site: site.name }, "/gone/2", "/fault/1", "/fault/2");
    const end = await view(id);
    assert.deepEqual([end.status, end.failed_items, end.error_groups], ["completed", 0, []]);
  });

  test("what nobody knows, or nothing is like, is refused with what there is", async () => {
    await using site = await broken();
    const id = await brokenCrawl(site);
    for (const [body, path] of [
      [{ failure_code: "no_such" }, "failure_code"],
      [{ failure_reason: "no_such" }, "failure_reason"],
      [{ task_ids: ["x"] }, "task_ids[0]"],
      [{ reason: "internal" }, "reason"],
    ] as const) {
      const answer = await retry(id, body);
      assert.equal(answer.status, 422, answer.text);
      assert.equal(answer.json<{ errors: { path: string }[] }>().errors[0]?.path, path);
    }
    assert.equal((await retry(id, { site: "http://x/" })).status, 422);
    for (const body of [
      { failure_code: "timeout" },
      { site: "elsewhere.test" },
      { task_ids: [crypto.randomUUID()] },
      { failure_code: "blocked", failure_reason: "http_not_found" },
    ]) {
      const answer = await retry(id, body);
      assert.equal(answer.status, 409, answer.text);
      assert.match(answer.json<{ hint: string }>().hint, /2 bad_response \(http_not_found\)/);
    }
    assert.equal((await server.show(id)).status, "partial", "nothing was opened again");
  });

  test("each site tells how far it is and why it waits", async () => {
    await using fast = await MisbehavingSite.start({ "/": page("Fast", "/1", "/2"), "/1": page("1"), "/2": page("2") });
    await using busy = await MisbehavingSite.start({ "/": tooMany("60") });
    await using dead = await MisbehavingSite.start({ "/": hang });
    const id = await begin({ url: [fast.url("/"), busy.url("/"), dead.url("/")], timeout_minutes: 5 });
    await busy.visited("/");
    await dead.visited("/");
    await server.said(id, /^Site rate limited/);
    await fast.visited("/2");
    let list: RunSiteView[] = [];
    await fast.when(() => fast.open === 0, "the fast site is done");
    do list = await sites(id);
    while (list.some(({ site, counts }) => site === fast.name && counts.completed < 3));
    const at = (site: MisbehavingSite) => list.find(({ site: name }) => name === site.name);
    assert.deepEqual(
      list.map(({ site }) => site),
      [fast.name, busy.name, dead.name].toSorted(),
      "by name",
    );
    assert.deepEqual([at(fast)?.counts.completed, at(fast)?.waiting_for], [3, null]);
    assert.deepEqual([at(busy)?.counts.queued, at(busy)?.waiting_for?.reason], [1, "rate_limited"]);
    assert.equal(at(busy)?.waiting_for?.until, at(busy)?.held_until);
    assert.deepEqual([at(dead)?.counts.running, at(dead)?.waiting_for], [1, null], "it is at work");
    const first = await server.api.get(`/jobs/runs/${id}/sites?limit=2`);
    const rest = await server.api.get(nextOf(first) ?? "");
    assert.deepEqual([...first.json<RunSiteView[]>(), ...rest.json<RunSiteView[]>()].map(({ site }) => site).length, 3);
    assert.deepEqual(
      (await sites(id, "?status=running")).map(({ site }) => site),
      [dead.name],
    );
    await server.api.post(`/jobs/runs/${id}/pause`);
    const [held] = await sites(id, "?status=queued");
    assert.deepEqual([held?.waiting_for?.reason, held?.waiting_for?.last_failure], ["run_paused", null]);
    await server.api.call("DELETE", `/scraping/tasks/${id}`);
  });

  test("pages under way are as many as the limits allow at once, in the status and site by site", async () => {
    const paths = Array.from({ length: 40 }, (_, n) => `/p/${n}`);
    await using site = await MisbehavingSite.start({ "/": page("Start", ...paths) });
    for (const path of paths) site.on(path, hang);
    const id = await begin({ url: site.url("/"), max_concurrent_articles: 3, strategy: "http", timeout_minutes: 5 });
    await site.when(() => site.visits.filter(({ path }) => path.startsWith("/p/")).length === 3, "three are asked for");
    const { running_items: running, queued_items: queued, completed_items: done, total_items: known } = await view(id);
    assert.deepEqual([running, queued, done, known], [3, 37, 1, 41]);
    const [only] = await sites(id);
    assert.deepEqual([only?.counts.running, only?.counts.queued, only?.counts.completed], [3, 37, 1]);
    const answer = await server.api.call("DELETE", `/scraping/tasks/${id}`);
    const told = answer.json<CrawlDetail>();
    assert.deepEqual([told.cancelled_items, told.running_items, told.queued_items], [40, 0, 0], "while it is dropped");
    const end = await view(id);
    assert.deepEqual([end.cancelled_items, end.running_items, end.queued_items], [40, 0, 0]);
    assert.ok(end.progress < 100, "a cancelled crawl shows how far it had come");
    assert.equal(end.completed_items + end.failed_items + end.skipped_items + end.cancelled_items, end.total_items);
  });

  test("the overview counts the pages of a crawl as its status does: within its limits", async () => {
    const paths = Array.from({ length: 40 }, (_, n) => `/p/${n}`);
    await using site = await MisbehavingSite.start({ "/": page("Start", ...paths) });
    for (const path of paths) site.on(path, hang);
    const limits = { max_concurrent_articles: 3, max_pages: 20 };
    const id = await begin({ url: site.url("/"), ...limits, strategy: "http", timeout_minutes: 5 });
    await site.when(() => site.visits.filter(({ path }) => path.startsWith("/p/")).length === 3, "three are asked for");
    // What it answers may be a second old.
    const shown = async () =>
      (await server.api.get("/overview")).json<Overview>().active_runs.find((run) => run.id === id)?.counts;
    let counts = await shown();
    while (counts?.completed !== 1 || counts.running === 0) counts = await shown();
    assert.deepEqual(counts, { queued: 16, running: 3, retrying: 0, completed: 1, failed: 0, skipped: 0 });
    await server.api.call("DELETE", `/scraping/tasks/${id}`);
  });

  test("a page that is tried again is told with what went wrong, before it fails for good", async () => {
    // It is waited for so long that everything can be looked at meanwhile.
    await using site = await MisbehavingSite.start({ "/": status(500, { "retry-after": "120" }) });
    const id = await begin({ url: site.url("/"), strategy: "http", timeout_minutes: 5 });
    await site.visited("/");
    let stuck = await view(id);
    while (stuck.retrying_items === 0) stuck = await view(id);
    assert.deepEqual([stuck.failed_items, stuck.queued_items, stuck.error_groups], [0, 1, []]);
    const [group] = stuck.retrying_groups;
    assert.deepEqual(
      [group?.failure_reason, group?.count, group?.example.url],
      ["http_server_error", 1, site.url("/")],
    );
    const [waits] = stuck.waiting_sites;
    assert.deepEqual([waits?.site, waits?.waiting_for?.reason], [site.name, "retry"]);
    assert.match(waits?.last_failure?.message ?? "", /500/);
    assert.ok(Date.parse(waits?.waiting_for?.until ?? "") > Date.parse(stuck.created_at));
    await server.api.call("DELETE", `/scraping/tasks/${id}`);
    assert.deepEqual((await view(id)).waiting_sites, []);
  });

  test("a crawl of one page that fails says why", async () => {
    await using site = await MisbehavingSite.start({ "/": status(404) });
    const id = await begin({ url: site.url("/"), strategy: "http" });
    await server.ended(id);
    assert.match((await view(id)).message ?? "", /^Run failed: no page was fetched \(1 not found\): .*404/);
  });

  test("the record of a page that was redirected has one address, that of the page", async () => {
    await using site = await MisbehavingSite.start({
      "/": page("Start", "/old"),
      "/old": sendTo("/new"),
      "/new": page("New"),
    });
    const id = await begin({ url: site.url("/"), strategy: "http" });
    await server.ended(id);
    const records = (await server.api.get(`/jobs/runs/${id}/results`)).json<{ url: string; data: { url: string } }[]>();
    assert.deepEqual(
      records.map(({ url, data }) => [url, data.url]),
      ["/", "/new"].map((path) => [site.url(path), site.url(path)]),
    );
  });

  test("an address that redirects in a circle is asked for once on each way round", async () => {
    await using site = await MisbehavingSite.start({ "/": sendTo("/a"), "/a": sendTo("/b"), "/b": sendTo("/a") });
    const id = await begin({ url: site.url("/"), strategy: "http", retry_attempts: 0, respect_robots: false });
    await server.ended(id);
    assert.match((await view(id)).message ?? "", /the redirects form a loop$/);
    assert.deepEqual(
      site.visits.map(({ path }) => path),
      ["/", "/a", "/b"],
    );
  });

  test("a site that keeps failing is left alone, tried once, and comes back [slow]", async () => {
    await using cautious = await TestServer.open({ APP_BREAKER_FAILURES: "5", APP_BREAKER_COOLDOWN_SECONDS: "12" });
    const paths = Array.from({ length: 12 }, (_, n) => `/p/${n}`);
    await using site = await MisbehavingSite.start({ "/": page("Start", ...paths) });
    for (const path of paths) site.on(path, status(500));
    const health = async () => (await cautious.api.get("/scraping/status")).json<CrawlHealth>();
    const id = await begin({ url: site.url("/"), max_concurrent_articles: 1, strategy: "http" }, cautious);
    const opened = await cautious.said(id, /^Circuit opened/);
    assert.equal(opened.meta["failures"], 5);
    const failures = () => site.visits.filter(({ path }) => path.startsWith("/p/")).length;
    assert.equal(failures(), 5, "nothing is sent while it is open");
    const [blocked] = (await health()).blocked_domains;
    assert.deepEqual([blocked?.domain, blocked?.failures], [site.name, 5]);
    assert.ok(Date.parse(blocked?.reopens_at ?? "") > Date.parse(opened.created_at));
    const [held] = await sites(id, "", cautious);
    assert.deepEqual([held?.waiting_for?.reason, held?.waiting_for?.until], ["circuit_open", blocked?.reopens_at]);
    assert.match(held?.waiting_for?.message ?? "", /^Circuit open until /);
    for (const path of paths) site.on(path, page("Mended"));
    await site.when(() => failures() > 5, "a probe");
    const probe = site.visits.filter(({ path }) => path.startsWith("/p/"))[5];
    assert.ok(probe !== undefined && probe.at >= Date.parse(blocked?.reopens_at ?? "") - 5, "no earlier than it said");
    assert.equal((await cautious.ended(id)).status, "completed");
    const second = site.visits.filter(({ path }) => path.startsWith("/p/"))[6];
    assert.ok(second !== undefined && second.at >= (probe.endedAt ?? Infinity), "one probe alone");
    const after = await health();
    assert.deepEqual([after.blocked_domains, after.healthy, after.active_tasks], [[], true, 0]);
    assert.deepEqual(after.error_counts, { timeout: 0, connection: 0, general: 0 }, "all were got in the end");
    assert.ok(after.pages_per_second > 0 && after.window_seconds <= 300);
  });

  test("what cannot be a crawl is refused with what was meant", async () => {
    for (const [body, path, message] of [
      [{ url: [] }, "url", /at least one entry/],
      [{ url: "http://a.test/", depth: 3 }, "depth", /did you mean "max_depth"/],
    ] as const) {
      const answer = await server.api.post("/scraping/async-scrape", body);
      assert.equal(answer.status, 422);
      const [error] = answer.json<{ errors: { path: string; message: string }[] }>().errors;
      assert.equal(error?.path, path);
      assert.match(error.message, message);
    }
  });

  test("crawls that nobody works on are no healthy state, and say so", async () => {
    await using idle = await TestServer.open({}, { worker: false });
    const health = async () => (await idle.api.get("/scraping/status")).json<CrawlHealth>();
    assert.deepEqual([(await health()).healthy, (await health()).problems], [true, []]);
    const id = await begin({ url: "http://127.0.0.1:9/" }, idle);
    const { healthy, problems } = await health();
    assert.equal(healthy, false);
    assert.match(problems.join(), /no worker is running/);
    const [site] = await sites(id, "", idle);
    assert.deepEqual([site?.waiting_for?.reason, site?.waiting_for?.until], ["no_worker", null]);
    assert.match(site?.waiting_for?.message ?? "", /^No worker is running: /);
    await idle.api.call("DELETE", `/scraping/tasks/${id}`);
  });
});
