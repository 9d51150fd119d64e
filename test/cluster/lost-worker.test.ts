import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LaneView } from "../../src/orchestrator/queue/lanes.ts";
import type { RunSiteView } from "../../src/orchestrator/runs/sites.ts";
import type { WorkerView } from "../../src/orchestrator/workers/workers.ts";
import type { SiteView } from "../../src/orchestrator/sites/site-view.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { until } from "../chaos/orb.ts";
import { servicesGate } from "../support/services-kit.ts";
import { Cluster, Web } from "./kit.ts";

describe("a worker of a cluster is killed", servicesGate, () => {
  test("until its lease ends, the crawl whose pages it had says what it waits for [slow]", async () => {
    await using web = await Web.start({ sites: 1, pages: 5 });
    await using cluster = await Cluster.start({ workers: 2, env: { APP_LEASE_TTL_SECONDS: "300" } });
    web.hold();
    const id = await cluster.crawl(web);
    await until(
      async () => (await cluster.registered()).filter(({ role }) => role === "engine").length === 2,
      "both workers are registered as at work",
    );
    // A worker whose request is held has claimed its pages for good.
    const held = () => web.target.hits.find(({ path }) => path !== "/");
    await web.target.when(() => held() !== undefined, "a worker asks for a page that is not answered");
    const victim = cluster.workers.find(({ name }) => held()?.agent.includes(name));
    assert.ok(victim);
    // One that is at work on the same machine would find out within a second, and take the pages up.
    const others = cluster.workers.filter((worker) => worker !== victim);
    for (const { process } of others) process.kill("SIGSTOP");
    using _ = { [Symbol.dispose]: () => others.forEach(({ process }) => process.kill("SIGCONT")) };
    await victim.process.killed();
    const why = await until(async () => {
      const run = (await cluster.api.api.get(`/jobs/runs/${id}`)).json<RunView>();
      return run.waiting_for?.reason === "worker_lost" && run.waiting_for;
    }, "the crawl waits for the worker that is gone");
    assert.match(why.message, /Its pages belong to the worker on .*, which is lost: other workers take over/);
    assert.ok(Date.parse(why.until ?? "") > Date.now(), "until its lease ends");
    const { api } = cluster.api;
    const [ofRun] = (await api.get(`/jobs/runs/${id}/sites`)).json<RunSiteView[]>();
    const [site] = (await api.get("/sites")).json<SiteView[]>();
    const lane = (await api.get("/queue/lanes")).json<LaneView[]>().find(({ sites }) => sites[0] === site?.site);
    assert.deepEqual(
      [ofRun, site, lane].map((one) => one?.waiting_for?.reason),
      ["worker_lost", "worker_lost", "worker_lost"],
    );
    assert.deepEqual([site?.state, lane?.state], ["waiting", "waiting"]);
    const lost = (await api.get("/workers")).json<WorkerView[]>().find(({ pid }) => pid === victim.process.pid);
    assert.equal(lost?.state, "lost", "it is not said to be working");
    web.letGo();
  });
});
