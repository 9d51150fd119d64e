import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Problem } from "../../src/api/problems.ts";
import type { SiteView } from "../../src/orchestrator/sites.ts";
import { openPlace } from "./kit.ts";

const DEFAULTS = {
  max_concurrency: null,
  requests_per_second: null,
  burst: null,
  min_delay_ms: null,
  paused: false,
};

describe("the sites", () => {
  test("are those that were seen, and those that were given limits", async (t) => {
    const place = await openPlace(t);
    assert.deepEqual((await place.get("/sites")).json(), []);
    await place.send("POST", "/queue/items", { artifact_id: "a", url: "https://a.test/x" });
    await place.send("PATCH", "/sites/b.test%3A8080", { max_concurrency: 2 });
    const sites = (await place.get("/sites")).json<SiteView[]>();
    assert.deepEqual(
      sites.map(({ site, max_concurrency }) => [site, max_concurrency]),
      [
        ["a.test", null],
        ["b.test:8080", 2],
      ],
    );
    assert.deepEqual((await place.get("/sites/a.test")).json(), {
      site: "a.test",
      ...DEFAULTS,
      crawl_delay_ms: null,
      held_until: null,
      learned_strategy: null,
      breaker: { state: "closed", failures: 0, reopens_at: null },
    });
  });

  test("have names with ports and in brackets, written in any way", async (t) => {
    const place = await openPlace(t);
    for (const [written, site] of [
      ["Shop.TEST", "shop.test"],
      ["shop.test:8080", "shop.test:8080"],
      ["shop.test%3A443", "shop.test"],
      ["%5B::1%5D:81", "[::1]:81"],
      ["[2001:db8::1]", "[2001:db8::1]"],
      ["b%C3%BCcher.test", "xn--bcher-kva.test"],
    ] as const)
      assert.equal((await place.send("PATCH", `/sites/${written}`, { burst: 1 })).json<SiteView>().site, site);
  });

  test("that cannot exist are refused, those that were not seen are not found", async (t) => {
    const place = await openPlace(t);
    for (const name of ["a%2Fb", "user@a.test", "a.test%3F", "a%20b", "%00", "a.test%3A99999", "%23"]) {
      const answer = await place.get(`/sites/${name}`);
      assert.equal(answer.status, 422, `${name}: ${answer.text}`);
    }
    for (const [method, path] of [
      ["GET", "/sites/a.test"],
      ["POST", "/sites/a.test/reset-breaker"],
    ] as const) {
      const answer = await place.call({ method, path });
      assert.deepEqual([answer.status, answer.json<Problem>().code], [404, "not_found"]);
    }
  });

  test("get all their limits at once, or some; null goes back to the default", async (t) => {
    const place = await openPlace(t);
    const all = { max_concurrency: 3, requests_per_second: 0.5, burst: 2, min_delay_ms: 100, paused: true };
    const limitsOf = (view: SiteView) =>
      Object.fromEntries(Object.entries(view).filter(([name]) => Object.hasOwn(DEFAULTS, name)));
    assert.deepEqual(limitsOf((await place.send("PUT", "/sites/a.test", all)).json()), all);
    assert.deepEqual(place.woken, [null], "running work is told");
    const some = await place.send("PATCH", "/sites/a.test", { burst: null, max_concurrency: 9 });
    assert.deepEqual(limitsOf(some.json()), { ...all, burst: null, max_concurrency: 9 });
    assert.deepEqual(limitsOf((await place.send("PUT", "/sites/a.test", DEFAULTS)).json()), DEFAULTS);
    const { min_delay_ms: _, ...incomplete } = all;
    const answer = await place.send("PUT", "/sites/a.test", incomplete);
    assert.deepEqual(answer.json<Problem>().errors, [{ path: "min_delay_ms", message: "is required" }]);
  });

  test("have limits that make sense", async (t) => {
    const place = await openPlace(t);
    for (const body of [
      { max_concurrency: 0 },
      { requests_per_second: 0 },
      { burst: 1.5 },
      { min_delay_ms: -1 },
      { paused: null },
      {},
    ])
      assert.equal((await place.send("PATCH", "/sites/a.test", body)).status, 422, JSON.stringify(body));
    assert.deepEqual((await place.get("/sites")).json(), [], "nothing was changed");
  });

  test("are paused, resumed, and freed of their failures", async (t) => {
    const place = await openPlace(t);
    const post = (verb: string) => place.call({ method: "POST", path: `/sites/a.test/${verb}` });
    assert.equal((await post("pause")).json<SiteView>().paused, true);
    assert.equal((await post("resume")).json<SiteView>().paused, false);
    const reset = (await post("reset-breaker")).json<SiteView>();
    assert.deepEqual(reset.breaker, { state: "closed", failures: 0, reopens_at: null });
    assert.equal(place.woken.length, 3);
  });
});
