import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { RunView, RunWaits } from "../../src/orchestrator/runs/view.ts";
import { until } from "../chaos/orb.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { hang, html, status, tooMany } from "../support/misbehaviours.ts";
import { Place } from "./kit.ts";

describe("what a run waits for is the same wherever it is read", () => {
  let place: Place;
  before(async () => {
    place = await Place.open({
      APP_BREAKER_FAILURES: "2",
      APP_BREAKER_COOLDOWN_SECONDS: "600",
      APP_MAX_CONCURRENT_TASKS: "2",
      APP_RETRY_BASE_SECONDS: "400",
      APP_RETRY_MAX_SECONDS: "900",
    });
  });
  after(async () => place[Symbol.asyncDispose]());

  async function crawl(site: MisbehavingSite): Promise<string> {
    const answer = await place.api.post("/scraping/async-scrape", { url: site.url("/"), strategy: "http" });
    return answer.json<{ task_id: string }>().task_id;
  }

  /** As the run itself, lists of runs, and of crawls, tell it; resolves when it is `reason`. */
  async function waitsFor(id: string, reason: string): Promise<RunWaits> {
    const get = async <T>(path: string) => (await place.api.get(path)).json<T>();
    const { kind } = await get<RunView>(`/jobs/runs/${id}`);
    const told = await until(async () => {
      const { waiting_for: why } = await get<RunView>(`/jobs/runs/${id}`);
      return why?.reason === reason && why;
    }, `it waits for ${reason}`);
    const listed = (await get<RunView[]>("/runs")).find((run) => run.id === id);
    assert.deepEqual(listed?.waiting_for, told);
    if (kind !== "crawl") return told;
    assert.deepEqual((await get<CrawlView>(`/scraping/tasks/${id}/status`)).waiting_for, told);
    const crawled = (await get<CrawlView[]>("/scraping/tasks")).find((one) => one.task_id === id);
    assert.deepEqual(crawled?.waiting_for, told);
    return told;
  }

  const cancel = (id: string) => place.api.post(`/jobs/runs/${id}/cancel`);

  test("a crawl at a site that is down", async () => {
    const links = ["/a", "/b", "/c"];
    await using site = await MisbehavingSite.start({
      "/": html(links.map((link) => `<a href="${link}">x</a>`).join()),
    });
    for (const link of links) site.on(link, status(500));
    const id = await crawl(site);
    const { message, until: time } = await waitsFor(id, "circuit_open");
    assert.ok(message.startsWith(`${site.name}: `) && time !== null);
    await cancel(id);
  });

  test("a crawl whose last page waits for its next try", async () => {
    await using site = await MisbehavingSite.start({ "/": html('<a href="/a">x</a>'), "/a": status(500) });
    const id = await crawl(site);
    assert.notEqual((await waitsFor(id, "retry")).until, null);
    await cancel(id);
  });

  test("a page that waits for its next try, and one whose site asked for patience", async () => {
    await using site = await MisbehavingSite.start({ "/": status(500) });
    await using busy = await MisbehavingSite.start({ "/": tooMany("300") });
    for (const [there, reason] of [
      [site, "retry"],
      [busy, "rate_limited"],
    ] as const) {
      const { id } = await place.begin({ target_url: there.url("/"), strategy: "http" });
      assert.notEqual((await waitsFor(id, reason)).until, null);
      await cancel(id);
    }
  });

  test("a paused crawl, one at a paused site, and one that waits for its turn", async () => {
    await using site = await MisbehavingSite.start({ "/": html('<a href="/a">x</a>'), "/a": hang });
    await using other = await MisbehavingSite.start({ "/": hang });
    const [first, second] = [await crawl(site), await crawl(other)];
    await Promise.all([site.visited("/a"), other.visited("/")]);
    const third = await crawl(site);
    await waitsFor(third, "turn");
    await place.api.post(`/jobs/runs/${first}/pause`);
    await waitsFor(first, "run_paused");
    for (const id of [first, second]) await cancel(id);
    await place.api.post(`/sites/${encodeURIComponent(site.name)}/pause`);
    await waitsFor(await crawl(site), "site_paused");
  });
});
