import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ProxyListView } from "../../src/orchestrator/proxies/view.ts";
import type { TaskView } from "../../src/orchestrator/runs/view.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { html, slow } from "../support/misbehaviours.ts";
import { startProxies } from "../support/proxies.ts";
import { assertSound } from "./kills.ts";
import { Orb, until } from "./orb.ts";
import { Served } from "./served.ts";

const PAGES = 80;

function pages(): Record<string, Route> {
  const links = Array.from({ length: PAGES }, (_, n) => `<a href="/page-${n}">x</a>`).join("");
  const route = (n: number) => slow(50, html(`<title>Page ${n}</title><p>Words of page ${n}.</p>${links}`));
  return Object.fromEntries(Array.from({ length: PAGES }, (_, n) => [`/page-${n}`, route(n)]));
}

const list = async (served: Served) => (await served.api.get("/proxies")).json<ProxyListView>();
const uses = ({ proxies }: ProxyListView) => proxies.reduce((sum, { successes }) => sum + successes, 0);

describe("a crawl through proxies that is killed", () => {
  test("keeps what was known of them, goes on through them, and asks nothing without them", async () => {
    await using site = await MisbehavingSite.start(pages());
    await using proxies = await startProxies([
      { kind: "connect" },
      { kind: "socks5" },
      { kind: "connect", behaviour: "dead" },
    ]);
    await using orb = new Orb({ APP_MAX_PER_HOST: "2", APP_MIN_PROXIES: "2" });
    let served = await Served.start(orb);
    await served.api.post("/proxies", { proxies: proxies.all.map(({ url }) => url) });
    const answer = await served.api.post("/scraping/async-scrape", { url: site.url("/page-0"), proxy: "pool" });
    const id = answer.json<{ task_id: string }>().task_id;
    await until(async () => {
      const now = await list(served);
      return uses(now) >= 20 && now.resting === 1;
    }, "what is seen of proxies is written while they are used");
    const before = await list(served);
    await served.killed();
    served = await Served.start(orb);
    const after = await list(served);
    assert.ok(uses(after) >= uses(before), "what was written is still there");
    assert.deepEqual([after.usable, after.resting], [before.usable, before.resting]);
    const run = await served.ended(id);
    assert.equal(run.status, "completed", run.message ?? "");
    const tasks = (await served.api.get(`/jobs/runs/${id}/tasks?limit=200`)).json<TaskView[]>();
    assert.ok(tasks.length === PAGES && tasks.every(({ attempts }) => attempts.length === 1));
    // Every request to the site went through one of them.
    const passed = proxies.all.reduce((sum, { requests }) => sum + requests.length, 0);
    assert.ok(site.visits.length <= passed, `${site.visits.length} requests, ${passed} of them through proxies`);
    await served.terminated();
    await orb.audit();
    assertSound(orb.database);
  });
});
