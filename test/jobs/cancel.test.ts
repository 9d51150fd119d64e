import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { firstTimes, hang, html, page, slow, status, tooMany } from "../support/misbehaviours.ts";
import { report } from "../chaos/orb.ts";
import { cancelled } from "./cancelled.ts";
import { TestServer } from "./kit.ts";

const answerMs: number[] = [];
/** How long sites ask to be left alone: long enough for a run to be cancelled meanwhile, however busy the machine is. */
const REST_S = "15";
const failsAtFirst = firstTimes(1, status(500, { "retry-after": REST_S }), page("Fine again"));

describe("cancelling a run", { concurrency: 6 }, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open({ APP_RETRY_BASE_SECONDS: "0.6" });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    report("cancelling", { "slowest answer ms": Math.max(...answerMs) });
  });

  test("while it waits for its turn [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Page") });
    // A site nobody has asked yet cannot be paused before it is known; one page makes it known.
    await server.run({ target_url: site.url("/") });
    await server.api.post(`/sites/${site.name}/pause`);
    const run = await server.begin({ target_url: site.url("/") });
    assert.equal(run.status, "queued");
    answerMs.push(await cancelled(server, site, run.id));
    await server.api.post(`/sites/${site.name}/resume`);
    const next = await server.run({ target_url: site.url("/") });
    assert.deepEqual([next.status, site.count("/")], ["completed", 2], "only the cancelled one was never asked for");
  });

  for (const [name, route] of Object.entries<Route>({
    "a server that says nothing": hang,
    "a server that takes its time": slow(30_000, page("Late")),
  }))
    test(`while it is fetched, from ${name}`, async () => {
      await using site = await MisbehavingSite.start({ "/": route });
      const run = await server.begin({ target_url: site.url("/"), strategy: "http" });
      await site.visited("/");
      answerMs.push(await cancelled(server, site, run.id));
      assert.equal(site.count("/"), 1);
    });

  test("while another run keeps its site busy [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/busy": hang, "/next": page("Next"), "/known": page("Known") });
    await server.run({ target_url: site.url("/known") });
    const limits = await server.api.call("PATCH", `/sites/${site.name}`, { max_concurrency: 1 });
    assert.equal(limits.status, 200, limits.text);
    const busy = await server.begin({ target_url: site.url("/busy"), strategy: "http" });
    await site.visited("/busy");
    const next = await server.begin({ target_url: site.url("/next"), strategy: "http" });
    const answer = await server.api.post(`/jobs/runs/${next.id}/cancel`);
    assert.deepEqual([answer.status, (await server.ended(next.id)).status], [200, "cancelled"]);
    answerMs.push(await cancelled(server, site, busy.id));
    assert.equal((await server.run({ target_url: site.url("/known") })).status, "completed", "the place is free again");
    assert.equal(site.count("/next"), 0);
  });

  test("while robots.txt is asked for [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/robots.txt": hang, "/": page("Page") });
    const run = await server.begin({ target_url: site.url("/"), respect_robots: true });
    await site.visited("/robots.txt");
    answerMs.push(await cancelled(server, site, run.id));
    assert.equal(site.count("/"), 0);
  });

  test("while it waits to be tried again [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": failsAtFirst, "/next": failsAtFirst });
    const run = await server.begin({ target_url: site.url("/"), strategy: "http" });
    await server.said(run.id, /^Retry scheduled/);
    const next = await server.begin({ target_url: site.url("/next"), strategy: "http" });
    answerMs.push(await cancelled(server, site, run.id));
    assert.equal((await server.ended(next.id)).status, "completed");
    assert.equal(site.count("/"), 1, "not even when what failed after it was tried again");
  });

  test("while its site asks for patience [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": tooMany(REST_S), "/next": page("Next") });
    const run = await server.begin({ target_url: site.url("/") });
    await server.said(run.id, /^Rate limited/);
    const next = await server.begin({ target_url: site.url("/next") });
    answerMs.push(await cancelled(server, site, run.id));
    assert.equal((await server.ended(next.id)).status, "completed");
    assert.equal(site.count("/"), 1, "not even when the site is asked again");
  });

  test("while it is paused", async () => {
    await using site = await MisbehavingSite.start({ "/": failsAtFirst });
    const run = await server.begin({ target_url: site.url("/"), strategy: "http" });
    await server.said(run.id, /^Retry scheduled/);
    assert.equal((await server.api.post(`/jobs/runs/${run.id}/pause`)).status, 200);
    answerMs.push(await cancelled(server, site, run.id));
    assert.equal(site.count("/"), 1);
  });

  test("in the middle of a chain of redirects nothing more is asked for", async () => {
    const step: Route = (visit, response, own) => {
      const left = Number(visit.query.get("left"));
      // The second is under way when the run is cancelled, however long that takes.
      const ms = visit.nth < 2 ? 50 : 30_000;
      own.after(ms, () => response.writeHead(302, { location: `/?left=${left - 1}` }).end());
    };
    await using site = await MisbehavingSite.start({ "/": step });
    const run = await server.begin({ target_url: site.url("/?left=9"), strategy: "http" });
    await site.visited("/", 2);
    answerMs.push(await cancelled(server, site, run.id));
    assert.equal(site.count("/"), 2);
  });

  test("that has ended is refused, whichever way it ended", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Page"), "/gone": status(404) });
    for (const path of ["/", "/gone"]) {
      const run = await server.run({ target_url: site.url(path) });
      const answer = await server.api.post(`/jobs/runs/${run.id}/cancel`);
      assert.deepEqual([answer.status, answer.json<{ code: string }>().code], [409, "illegal_transition"]);
      assert.equal((await server.show(run.id)).status, run.status);
    }
    assert.equal((await server.api.post("/jobs/runs/00000000-0000-7000-8000-000000000000/cancel")).status, 404);
  });

  test("many at once, in all phases: each ends once, and the site's other runs go on", async () => {
    await using site = await MisbehavingSite.start({
      "/slow": slow(400, page("Slow")),
      "/flaky": firstTimes(1_000_000, status(500), page("Never")),
      "/kept": html("<title>Kept</title><p>This one stays.</p>"),
    });
    const paths = ["/slow", "/flaky", "/slow", "/flaky", "/slow", "/slow"];
    const runs = await Promise.all(
      paths.map((path) => server.begin({ target_url: site.url(path), strategy: "http", max_attempts: 9 })),
    );
    const kept = await server.begin({ target_url: site.url("/kept"), strategy: "http" });
    await Promise.all(
      runs.map(async ({ id }, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 60));
        const answer = await server.api.post(`/jobs/runs/${id}/cancel`);
        assert.ok(answer.status === 200 || answer.status === 409, answer.text);
      }),
    );
    assert.equal((await server.ended(kept.id)).status, "completed");
    for (const { id } of runs) {
      const { status: state } = await server.ended(id);
      const ends = (await server.events(id)).filter(({ message }) =>
        /^Run (?:completed|failed|cancelled)/.test(message),
      );
      assert.equal(ends.length, 1);
      assert.equal((await server.results(id)).length, state === "completed" ? 1 : 0);
    }
  });
});
