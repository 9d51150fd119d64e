import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Target } from "../chaos/target.ts";
import { TestServer } from "../jobs/kit.ts";
import * as every from "./every-tool.ts";
import { type Agent, comeOverHttp, openMagazine } from "./kit.ts";

/** Waits until what was cancelled is seen to be so. */
async function untilCancelled(agent: Agent, url: string): Promise<string> {
  for (;;) {
    const { data } = await agent.ok("crawl_status");
    const run = (data["runs"] as { url: string; status: string; run_id: string }[]).find((one) => one.url === url);
    if (run?.status === "cancelled") return run.run_id;
    assert.ok(run !== undefined, "the run is known");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe("an agent at /mcp of a server", () => {
  let server: TestServer;
  let target: Target;

  before(async () => {
    target = await openMagazine();
    server = await TestServer.open({ APP_BROWSER_PATH: "/nowhere/chromium" });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await target[Symbol.asyncDispose]();
  });

  for (const modern of [true, false]) {
    const how = modern ? "by the newest revision" : "as agents spoke before 2026-07-28";

    test(`uses every tool, ${how}`, async () => {
      await using agent = await comeOverHttp(server.api.url, { modern });
      await every.everyToolIsThere(agent);
      await every.onePageIsScraped(agent, target);
      await every.whatCannotBeScrapedIsSaid(agent, target);
      await every.rulesAreTriedOut(agent, target);
      await every.rulesAreLearned(agent, target);
      const runId = await every.aCrawlIsFollowedToItsEnd(agent, target);
      await every.resultsAreReadInParts(agent, runId);
      await every.resourcesAreRead(agent, runId, await every.aWorkflowMakesAFile(agent, target));
    });
  }

  test("is told what its operator runs where a browser is missing", async () => {
    await using agent = await comeOverHttp(server.api.url, { modern: true });
    const told = await agent.refused("scrape", { url: target.url("/p/1"), strategy: "browser" });
    assert.match(told, /browser_missing.*The operator runs: orb doctor --fix/);
  });

  test("leaves no run that stays for good after a page is scraped", async () => {
    await using agent = await comeOverHttp(server.api.url, { modern: true });
    const told = await agent.ok("scrape", { url: target.url("/p/2") });
    const answer = await server.api.get(`/jobs/runs/${String(told.data["run_id"])}`);
    const run = answer.json<{ expires_at: string | null }>();
    assert.ok(Date.parse(run.expires_at ?? "") > Date.now(), JSON.stringify(run));
  });

  test("hears until when a site is held", async () => {
    await using agent = await comeOverHttp(server.api.url, { modern: true });
    await every.aHeldSiteIsTold(agent, target);
  });

  test("stops waiting, and with a cancelled call the run ends, too", async () => {
    await using agent = await comeOverHttp(server.api.url, { modern: true });
    await every.waitingEndsBeforeTheRun(agent, target);
    await untilCancelled(agent, target.url("/never/2"));
  });

  test("is turned away by the guards of the API: other hosts, other web sites, large bodies, other methods", async () => {
    const url = new URL("/mcp", server.api.url);
    const send = (headers: Record<string, string>, body = "{}", method = "POST") =>
      fetch(url, {
        method,
        headers: { "content-type": "application/json", ...headers },
        ...(method === "GET" ? {} : { body }),
      });
    const origin = await send({ origin: "https://evil.test" });
    assert.equal(origin.status, 403);
    assert.equal(((await origin.json()) as { code: string }).code, "forbidden_origin");
    const large = await send({}, JSON.stringify("x".repeat(17 * 1024 * 1024)));
    assert.equal(large.status, 413);
    assert.equal((await send({}, "", "GET")).status, 405);
    const broken = await send({}, "{");
    assert.equal(broken.status, 400);
    const strange = await send(
      { accept: "application/json, text/event-stream" },
      '{"jsonrpc":"2.0","id":1,"method":"nonsense"}',
    );
    assert.ok(strange.status < 500, String(strange.status));
    assert.match(await strange.text(), /"error":\{/);
  });

  test("is answered when the server stops while it waits, and the run goes on afterwards [slow]", async () => {
    const agent = await comeOverHttp(server.api.url, { modern: true });
    const started = await agent.ok("crawl_start", { url: target.url("/never/3"), max_depth: 0 });
    await target.when(() => target.count("/never/3") === 1, "the page is asked for");
    const waiting = agent.call("crawl_status", { run_id: started.data["run_id"], wait_seconds: 100 });
    const scraping = agent.call("scrape", { url: target.url("/never/4"), wait_seconds: 100 });
    await target.when(() => target.count("/never/4") === 1, "the other page is asked for");
    await server.stop();
    assert.equal(((await waiting).data["run"] as { status: string }).status, "running");
    const { data } = await scraping;
    assert.equal(data["status"], "running", "stopping cancels nothing");
    await server.start();
    await using again = await comeOverHttp(server.api.url, { modern: false });
    for (const id of [started.data["run_id"], data["run_id"]]) await again.ok("run_cancel", { run_id: id });
  });
});
