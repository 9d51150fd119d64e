import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Problem } from "../../src/api/problems.ts";
import type { SiteView } from "../../src/orchestrator/sites/site-view.ts";
import type { SitesProgress } from "../../src/orchestrator/sites/sites-progress.ts";
import { openTestApi } from "./kit.ts";

const DEFAULTS = {
  max_concurrency: null,
  requests_per_second: null,
  burst: null,
  min_delay_ms: null,
  max_memory_mb: null,
  strategy: null,
  respect_robots: null,
  group: null,
  depends_on: [] as string[],
  paused: false,
};

describe("the sites", () => {
  test("are those that were seen, and those that were given limits", async (t) => {
    const served = await openTestApi(t);
    assert.deepEqual((await served.get("/sites")).json(), []);
    await served.send("POST", "/queue/items", { artifact_id: "a", url: "https://a.test/x" });
    await served.send("PATCH", "/sites/b.test%3A8080", { max_concurrency: 2 });
    const sites = (await served.get("/sites")).json<SiteView[]>();
    assert.deepEqual(
      sites.map(({ site, max_concurrency }) => [site, max_concurrency]),
      [
        ["a.test", null],
        ["b.test:8080", 2],
      ],
    );
    const { first_seen_at: seen, version, ...view } = (await served.get("/sites/a.test")).json<SiteView>();
    assert.ok(seen !== null);
    assert.match(version, /^[0-9a-f]{16}$/);
    assert.deepEqual(view, {
      site: "a.test",
      ...DEFAULTS,
      shards: 1,
      state: "waiting",
      counts: { queued: 1, running: 0, retrying: 0, completed: 0, failed: 0 },
      pages_per_second: 0,
      error_rate: null,
      latency_ms: { p50: null, p95: null },
      waiting_for: {
        reason: "no_worker",
        until: null,
        message: "No worker is running: work waits until orb serve or orb worker is started",
        last_failure: null,
      },
      last_failure: null,
      effective: {
        max_concurrency: 10,
        requests_per_second: null,
        burst: null,
        min_delay_ms: 0,
        shards: 1,
        strategy: "auto",
        respect_robots: true,
      },
      crawl_delay_ms: null,
      held_until: null,
      next_fetch_at: null,
      last_success_at: null,
      learned_strategy: null,
      breaker: { state: "closed", failures: 0, reopens_at: null },
    });
  });

  test("have names with ports and in brackets, written in any way", async (t) => {
    const served = await openTestApi(t);
    for (const [written, site] of [
      ["Shop.TEST", "shop.test"],
      ["shop.test:8080", "shop.test:8080"],
      ["shop.test%3A443", "shop.test"],
      ["%5B::1%5D:81", "[::1]:81"],
      ["[2001:db8::1]", "[2001:db8::1]"],
      ["b%C3%BCcher.test", "xn--bcher-kva.test"],
    ] as const)
      assert.equal((await served.send("PATCH", `/sites/${written}`, { burst: 1 })).json<SiteView>().site, site);
  });

  test("that cannot exist are refused, those that were not seen are not found", async (t) => {
    const served = await openTestApi(t);
    for (const name of ["a%2Fb", "user@a.test", "a.test%3F", "a%20b", "%00", "a.test%3A99999", "%23"]) {
      const answer = await served.get(`/sites/${name}`);
      assert.equal(answer.status, 422, `${name}: ${answer.text}`);
    }
    for (const [method, path] of [
      ["GET", "/sites/a.test"],
      ["POST", "/sites/a.test/reset-breaker"],
    ] as const) {
      const answer = await served.call({ method, path });
      assert.deepEqual([answer.status, answer.json<Problem>().code], [404, "not_found"]);
    }
  });

  test("change by the keys given, with PUT and PATCH alike; null goes back to the default", async (t) => {
    const served = await openTestApi(t);
    const all = {
      max_concurrency: 3,
      requests_per_second: 0.5,
      burst: 2,
      min_delay_ms: 100,
      max_memory_mb: 512,
      strategy: "browser",
      respect_robots: false,
      group: "shop",
      depends_on: ["b.test", "c.test:8080"],
      paused: true,
    };
    const limitsOf = (view: SiteView) =>
      Object.fromEntries(Object.entries(view).filter(([name]) => Object.hasOwn(DEFAULTS, name)));
    assert.deepEqual(limitsOf((await served.send("PUT", "/sites/a.test", all)).json()), all);
    assert.deepEqual(served.woken, [null], "running work is told");
    const half = await served.send("PATCH", "/sites/a.test", { burst: 0.5 });
    assert.deepEqual(half.json<{ errors: unknown }>().errors, [
      { path: "burst", message: "expected integer, got number" },
      { path: "burst", message: "must be at least 1" },
    ]);
    const some = await served.send("PATCH", "/sites/a.test", { burst: null, max_concurrency: 9 });
    assert.deepEqual(limitsOf(some.json()), { ...all, burst: null, max_concurrency: 9 });
    const put = await served.send("PUT", "/sites/a.test", { burst: 4 });
    assert.deepEqual(limitsOf(put.json()), { ...all, burst: 4, max_concurrency: 9 });
    assert.deepEqual(limitsOf((await served.send("PUT", "/sites/a.test", DEFAULTS)).json()), DEFAULTS);
  });

  test("of one group share what belongs to the server", async (t) => {
    const served = await openTestApi(t);
    await served.send("PATCH", "/sites/www.shop.test", { group: "shop", max_concurrency: 2, strategy: "http" });
    await served.send("PATCH", "/sites/img.shop.test", { group: "shop" });
    const shared = (await served.get("/sites?group=shop")).json<SiteView[]>();
    assert.deepEqual(
      shared.map(({ site, max_concurrency, strategy }) => [site, max_concurrency, strategy]),
      [
        ["img.shop.test", 2, null],
        ["www.shop.test", 2, "http"],
      ],
    );
  });

  test("that would wait for each other are refused with the whole circle", async (t) => {
    const served = await openTestApi(t);
    const needs = (site: string, ...depends_on: string[]) => served.send("PATCH", `/sites/${site}`, { depends_on });
    assert.equal((await needs("a.test", "b.test")).status, 200);
    assert.equal((await needs("b.test", "x.test", "c.test")).status, 200);
    const answer = await needs("c.test", "d.test", "a.test");
    const [error] = answer.json<Problem>().errors ?? [];
    assert.deepEqual([answer.status, error?.path], [422, "depends_on"]);
    assert.match(error?.message ?? "", /c\.test → a\.test → b\.test → c\.test$/);
    assert.deepEqual((await served.get("/sites?q=c.test")).json(), [], "nothing was changed");
    assert.match((await needs("e.test", "E.test")).text, /e\.test → e\.test/);
  });

  test("are listed in pages, and found by name, state and group", async (t) => {
    const served = await openTestApi(t);
    for (const name of ["a", "b", "c", "d", "e"])
      await served.send("PATCH", `/sites/${name}.test`, {
        burst: 1,
        paused: name === "d",
        ...(name > "c" ? { group: name } : {}),
      });
    const names: string[] = [];
    let pages = 0;
    for (let next: string | undefined = "/sites?limit=2"; next !== undefined; pages += 1) {
      const answer = await served.get(next);
      names.push(...answer.json<SiteView[]>().map(({ site }) => site));
      next = /<([^>]+)>/.exec(String(answer.headers["link"] ?? ""))?.[1];
    }
    assert.deepEqual([pages, names], [3, ["a.test", "b.test", "c.test", "d.test", "e.test"]]);
    for (const [query, found] of [
      ["q=B.t", ["b.test"]],
      ["state=paused", ["d.test"]],
      ["state=active", []],
      ["group=e", ["e.test"]],
    ] as const)
      assert.deepEqual(
        (await served.get(`/sites?${query}`)).json<SiteView[]>().map(({ site }) => site),
        found,
        query,
      );
    assert.equal((await served.get("/sites?state=asleep")).status, 422);
    assert.equal((await served.get("/sites?cursor=%25")).status, 422);
  });

  test("are summed up, and told live when something changes", async (t) => {
    const served = await openTestApi(t);
    await served.send("POST", "/queue/items", { artifact_id: "a", url: "https://a.test/x" });
    const { totals, sites } = (await served.get("/sites/progress")).json<SitesProgress>();
    assert.deepEqual([totals.queued, totals.sites, totals.waiting_sites, sites[0]?.site], [1, 1, 1, "a.test"]);
    const gone = new AbortController();
    const stream = await fetch(`${served.url}/sites/progress/stream`, { signal: gone.signal });
    assert.equal(stream.headers.get("content-type"), "text/event-stream");
    let text = "";
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    const until = async (words: RegExp) => {
      while (!words.test(text)) text += (await reader.read()).value ?? assert.fail("it has ended");
    };
    await until(/event: sites_progress\ndata: .*"queued":1,/);
    await served.send("POST", "/queue/items", { artifact_id: "b", url: "https://b.test/x" });
    await until(/"queued":2,.*"b\.test"/);
    gone.abort();
  });

  test("have limits that make sense", async (t) => {
    const served = await openTestApi(t);
    for (const body of [
      { max_concurrency: 0 },
      { requests_per_second: 0 },
      { burst: 1.5 },
      { min_delay_ms: -1 },
      { max_memory_mb: 0 },
      { shards: 65 },
      { shards: 11 },
      { shards: 4, max_concurrency: 3 },
      { shards: 2, min_delay_ms: 5 },
      { shards: 2, requests_per_second: 5 },
      { shards: 2, group: "shop" },
      { strategy: "telnet" },
      { respect_robots: "yes" },
      { group: "a b" },
      { group: "" },
      { depends_on: null },
      { depends_on: ["b.test", "http://c.test/"] },
      { paused: null },
      { speed: 1 },
    ]) {
      const answer = await served.send("PATCH", "/sites/a.test", body);
      const [error] = answer.json<Problem>().errors ?? [];
      assert.equal(answer.status, 422, JSON.stringify(body));
      assert.equal(error?.path.replace("[1]", ""), Object.keys(body)[0]);
    }
    assert.equal((await served.send("PATCH", "/sites/a.test", {})).status, 422);
    assert.deepEqual((await served.get("/sites")).json(), [], "nothing was changed");
  });

  test("are paused, resumed, and freed of their failures", async (t) => {
    const served = await openTestApi(t);
    const post = (verb: string) => served.call({ method: "POST", path: `/sites/a.test/${verb}` });
    assert.equal((await post("pause")).json<SiteView>().paused, true);
    assert.equal((await post("resume")).json<SiteView>().paused, false);
    const reset = (await post("reset-breaker")).json<SiteView>();
    assert.deepEqual(reset.breaker, { state: "closed", failures: 0, reopens_at: null });
    assert.equal(served.woken.length, 3);
  });
});
