import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { integerBelow } from "../../src/base/random.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { LiveViewer, walledSite } from "../jobs/live-viewer.ts";
import { browserGate, chromiumPath } from "../support/browser-kit.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { captchaWall, endlessScript, hang, page, rendered, slow, status } from "../support/misbehaviours.ts";
import { assertSound, pause, withSeed } from "./kills.ts";
import { FULL, Orb, report, until } from "./orb.ts";
import { assertNoBrowsers, Served } from "./served.ts";

const RUNS = FULL ? 30 : 18;
const KILLS = FULL ? 25 : 2;

type Kind = "plain" | "flaky" | "gone" | "shell" | "browser";

function kindOf(index: number): Kind {
  if (index % 6 === 1) return "flaky";
  if (index % 10 === 4) return "gone";
  if (index % 6 === 3) return "shell";
  return index % 6 === 5 ? "browser" : "plain";
}

/** No page is given up because the machine is busy. */
const PATIENT = { APP_HTTP_TIMEOUT_SECONDS: "250", APP_BROWSER_NAV_TIMEOUT_MS: "250000" };
const browserEnv = {
  APP_BROWSER_PATH: chromiumPath,
  APP_BROWSER_MAX_PAGES: "3",
  APP_BREAKER_FAILURES: "1000",
  ...PATIENT,
};

/** Every page takes a moment, so that a kill finds it at any stage. */
function pages(all: readonly { path: string; kind: Kind }[]): Record<string, Route> {
  const failed = new Set<string>();
  const flaky: Route = (visit, response, site) => {
    if (failed.has(visit.path)) return page(`Page ${visit.path}`)(visit, response, site);
    failed.add(visit.path);
    return status(500)(visit, response, site);
  };
  return Object.fromEntries(
    all.map(({ path, kind }, index) => {
      const routes: Record<Kind, Route> = {
        plain: page(`Page ${path}`),
        browser: page(`Page ${path}`),
        flaky,
        gone: status(404),
        shell: rendered(`Page ${path}`),
      };
      return [path, slow(100 + (index % 5) * 120, routes[kind])];
    }),
  );
}

const ends = /^Run (?:completed|failed|cancelled)/;

/** The run ended once, in the expected state, with all of its records. */
async function assertEnded(orb: Served, id: string, path: string, kind: Kind): Promise<RunView> {
  const run = await orb.ended(id);
  const task = await orb.task(id);
  const results = await orb.results(id);
  const events = await orb.events(id);
  const story = `${path} (${kind}): ${JSON.stringify({ run, attempts: task.attempts, events })}`;
  assert.equal(events.filter(({ message }) => ends.test(message)).length, 1, `one end. ${story}`);
  assert.ok(ends.test(events.at(-1)?.message ?? ""), `nothing follows the end. ${story}`);
  assert.equal(events.filter(({ message }) => message === "Run created").length, 1, story);
  if (kind === "gone") {
    assert.deepEqual([run.status, run.failure_reason, results.length], ["failed", "http_not_found", 0], story);
    return run;
  }
  assert.equal(run.status, "completed", story);
  assert.deepEqual(
    results.map(({ data }) => data),
    [{ heading: `Page ${path}` }],
    `one result. ${story}`,
  );
  assert.equal(run.resolved_strategy, kind === "shell" || kind === "browser" ? "browser" : "http", story);
  // A kill costs no attempt; the one that failed may have died with its process before it was written.
  assert.ok(task.attempts.length === 1 || (kind === "flaky" && task.attempts.length === 2), story);
  assert.equal(run.attempt, task.attempts.length, story);
  return run;
}

describe("orb serve with pages under way", browserGate, () => {
  test(`killed ${KILLS} times while ${RUNS} runs execute: every run ends once`, async () => {
    await withSeed(async (random) => {
      const all = Array.from({ length: RUNS }, (_, index) => ({ path: `/p${index}`, kind: kindOf(index) }));
      // Browser pages have their own site: what is learned there must not affect the others.
      const isPlain = ({ kind }: { kind: Kind }) => kind !== "shell" && kind !== "browser";
      await using plain = await MisbehavingSite.start(pages(all.filter(isPlain)));
      await using rich = await MisbehavingSite.start(pages(all.filter((one) => !isPlain(one))));
      const seen = () => plain.visits.length + rich.visits.length;
      await using orb = new Orb({ ...browserEnv, APP_MAX_PER_HOST: "4" });
      let served = await Served.start(orb);
      const runs = await Promise.all(
        all.map(async ({ path, kind }) => {
          const strategy = kind === "browser" ? "browser" : "auto";
          const fields = { heading: { css: "h1", required: true } };
          const target_url = (isPlain({ kind }) ? plain : rich).url(path);
          return { path, kind, run: await served.begin({ target_url, strategy, fields }) };
        }),
      );
      const share = Math.max(1, Math.floor((RUNS * 0.7) / KILLS));
      for (let kill = 0; kill < KILLS; kill += 1) {
        const goal = seen() + 1 + integerBelow(random, share);
        await until(() => seen() >= goal, `work goes on after kill ${kill}`);
        await pause(random.next() * 400);
        await served.killed();
        await assertNoBrowsers(orb);
        served = await Served.start(orb);
      }
      for (const { path, kind, run } of runs) await assertEnded(served, run.id, path, kind);
      assert.equal((await served.api.get("/runs?limit=1000")).json<RunView[]>().length, RUNS);
      assert.equal((await served.terminated()).code, 0);
      await assertNoBrowsers(orb);
      await orb.audit();
      assertSound(orb.database);
      report("kill -9 of orb serve", { runs: RUNS, kills: KILLS, requests: seen() });
    });
  });

  test("SIGTERM with pages open in a browser: ends with 0, and what was handed back cost no attempt", async () => {
    const routes: Record<string, Route> = { "/silent": hang, "/endless": endlessScript, "/plain": hang };
    const paths = Object.keys(routes);
    await using site = await MisbehavingSite.start(routes);
    await using quiet = await MisbehavingSite.start({ "/robots.txt": hang, "/": page("Page /") });
    await using orb = new Orb({ ...browserEnv, APP_SHUTDOWN_GRACE_SECONDS: "1" });
    const served = await Served.start(orb);
    const runs = await Promise.all([
      ...paths.map((path) => {
        const strategy = path === "/plain" ? "http" : "browser";
        return served.begin({ target_url: site.url(path), strategy, max_attempts: 1 });
      }),
      served.begin({ target_url: quiet.url("/"), respect_robots: true, max_attempts: 1 }),
    ]);
    for (const path of paths) await site.visited(path);
    await quiet.visited("/robots.txt");
    const asked = Date.now();
    const { code, stderr } = await served.terminated();
    const took = Date.now() - asked;
    assert.equal(code, 0, stderr);
    await assertNoBrowsers(orb);
    await orb.audit();
    for (const path of paths) site.on(path, page(`Page ${path}`));
    quiet.on("/robots.txt", status(404));
    const again = await Served.start(orb);
    for (const { id } of runs) {
      const run = await again.ended(id);
      assert.deepEqual([run.status, run.attempt], ["completed", 1], String(run.error_message));
      assert.equal((await again.task(id)).attempts.length, 1);
    }
    assert.deepEqual([...paths.map((path) => site.count(path)), quiet.count("/")], [2, 2, 2, 1]);
    assert.equal((await again.terminated()).code, 0);
    await orb.audit();
    report("SIGTERM with open pages and a grace of 1 s", { "ms to the end": took });
  });

  test("what waits for a person still waits after kill -9, and goes on with the answer", async () => {
    const pass = { name: "solved", value: "by-a-person" };
    await using site = await MisbehavingSite.start({ "/": captchaWall(pass, page("Behind")) });
    await using orb = new Orb(browserEnv);
    const served = await Served.start(orb);
    const { id } = await served.begin({ target_url: site.url("/"), max_attempts: 1 });
    await served.said(id, /^Waiting for a person/);
    const seen = site.count("/");
    await served.killed();
    const again = await Served.start(orb);
    assert.equal((await again.show(id)).status, "waiting_for_human");
    assert.equal((await again.task(id)).artifacts.length, 2, "the picture and the copy are there");
    const session = await again.session({ origin: site.origin, cookies: { [pass.name]: pass.value } });
    assert.equal((await again.api.post(`/jobs/runs/${id}/resolve`, { session_id: session.id })).status, 200);
    const run = await again.ended(id);
    assert.deepEqual([run.status, run.attempt, site.count("/")], ["completed", 1, seen + 1]);
    assert.equal((await again.terminated()).code, 0);
    await orb.audit();
  });
});

describe("orb serve with a live view", browserGate, () => {
  test("killed with it: its browser is gone, the run still waits, and another view is opened", async () => {
    await using site = await walledSite();
    await using orb = new Orb({ ...browserEnv, APP_ALLOW_PRIVATE_NETWORKS: "127.0.0.2/32" });
    const served = await Served.start(orb);
    const { id } = await served.begin({ target_url: site.url("/"), strategy: "browser" });
    await served.said(id, /^Waiting for a person/);
    const opened = async (on: Served) => {
      const answer = await on.api.post("/live-views", { run_id: id });
      assert.equal(answer.status, 201, answer.text);
      const viewer = await LiveViewer.connect(on.api.url, answer.json<{ id: string }>().id);
      await viewer.until(() => viewer.frames.length > 0, "a picture");
      return viewer;
    };
    await using first = await opened(served);
    await served.killed();
    await first.untilClosed();
    await assertNoBrowsers(orb);
    const again = await Served.start(orb);
    assert.equal((await again.show(id)).status, "waiting_for_human");
    await using second = await opened(again);
    assert.equal((await again.terminated()).code, 0);
    await second.untilClosed();
    assert.equal(second.end, "stopping");
    await assertNoBrowsers(orb);
    await orb.audit();
  });
});

describe("orb serve without a browser", () => {
  test("a start sent again and again with one key, while the process is killed, is one run", async () => {
    await withSeed(async (random) => {
      await using site = await MisbehavingSite.start({ "/": slow(200, page("Once")) });
      await using orb = new Orb();
      let served = await Served.start(orb);
      const { id: job } = await served.job({ target_url: site.url("/"), strategy: "http" });
      const answers = new Set<string>();
      const send = async () => {
        const { api } = served;
        try {
          const answer = await api.post(`/jobs/${job}/runs`, undefined, { "idempotency-key": "only-one" });
          assert.equal(answer.status, 201, answer.text);
          answers.add(answer.text);
        } catch (error) {
          // The connection broke with the process: the caller does not know, and sends it again.
          if (error instanceof assert.AssertionError) throw error;
        }
      };
      const rounds = FULL ? 10 : 2;
      for (let round = 0; round < rounds; round += 1) {
        const sending = Array.from({ length: 17 }, send);
        await pause(random.next() * 30);
        await served.killed();
        await Promise.all(sending);
        served = await Served.start(orb);
      }
      await Promise.all(Array.from({ length: 17 }, send));
      assert.equal(answers.size, 1, [...answers].join("\n"));
      const { id } = JSON.parse([...answers][0] ?? "") as RunView;
      const run = await served.ended(id);
      assert.deepEqual([run.status, run.attempt], ["completed", 1]);
      assert.deepEqual(
        (await served.api.get(`/jobs/${job}/runs`)).json<RunView[]>().map((one) => one.id),
        [id],
      );
      assert.equal((await served.results(id)).length, 1);
      assert.equal((await served.terminated()).code, 0);
      await orb.audit();
    });
  });

  test("cancelled runs stay cancelled through kill -9: nothing of them is asked for again", async () => {
    await using site = await MisbehavingSite.start({ "/hang": hang, "/retry": status(500), "/fine": page("Fine") });
    await using orb = new Orb({ APP_RETRY_BASE_SECONDS: "2", APP_RETRY_MAX_SECONDS: "2", ...PATIENT });
    const served = await Served.start(orb);
    const hanging = await served.begin({ target_url: site.url("/hang"), strategy: "http" });
    const retrying = await served.begin({ target_url: site.url("/retry"), strategy: "http", max_attempts: 100 });
    await site.visited("/hang");
    await served.said(retrying.id, /^Retry scheduled/);
    await Promise.all([hanging, retrying].map(({ id }) => served.api.post(`/jobs/runs/${id}/cancel`)));
    await served.killed();
    const asked = () => [site.count("/hang"), site.count("/retry")];
    const before = asked();
    const again = await Served.start(orb);
    assert.equal((await again.run({ target_url: site.url("/fine") })).status, "completed");
    await pause(2500);
    for (const { id } of [hanging, retrying]) {
      assert.equal((await again.ended(id)).status, "cancelled");
      assert.equal((await again.task(id)).status, "cancelled");
      assert.deepEqual(await again.results(id), []);
    }
    assert.deepEqual(asked(), before);
    assert.equal((await again.terminated()).code, 0);
    await orb.audit();
  });
});
