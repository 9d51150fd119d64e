import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { CapturedPage } from "../../src/cli/scrape/capture-view.ts";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import { browserGate, chromiumPath, plain, SITE, webSite } from "../support/browser-kit.ts";
import { Installation } from "./installation.ts";
import { openShop } from "./site.ts";

const THINGS = Array.from({ length: 25 }, (_, n) => ({ name: `Wonderful thing ${n + 1}`, price: 10 + n }));

/** A page that is empty until a script has asked for its list. */
const APPLICATION = `<!doctype html><title>Things</title><main></main><script>
  fetch("/api/settings").then((answer) => answer.json());
  fetch("/api/things?page=1", { headers: { "x-api-key": "k-4711-very-secret-k-4711" } })
    .then((answer) => answer.json())
    .then(({ data }) => {
      document.querySelector("main").innerHTML = data.map(({ name, price }) => "<p>" + name + " " + price + "</p>").join("");
    });
</script>`;

/** One that loads page after page, and shows the last one best. */
const IN_PIECES = `<!doctype html><title>Things</title><main></main><script>
  const load = async (address) => {
    const { data, next } = await (await fetch(address)).json();
    document.querySelector("main").innerHTML += data.map(({ name, price }) => "<p>" + name + " " + price + "</p>").join("");
    if (next !== null) await load(next);
  };
  load("/api/linked?page=1");
</script>`;

const openApplication = () =>
  webSite({
    "/app": APPLICATION,
    "/pieces": IN_PIECES,
    "/api/linked": (request, response) => {
      const at = Number(new URL(request.url ?? "", "http://x").searchParams.get("page"));
      response.writeHead(200, { "content-type": "application/json" });
      const next = at * 10 < THINGS.length ? `/api/linked?page=${at + 1}` : null;
      response.end(JSON.stringify({ data: THINGS.slice((at - 1) * 10, at * 10), next }));
    },
    "/api/settings": plain("application/json", '{"theme":"dark"}'),
    "/plain": "<p>no script, no call</p>",
    "/api/things": (request, response) => {
      const at = Number(new URL(request.url ?? "", "http://x").searchParams.get("page"));
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ data: THINGS.slice((at - 1) * 10, at * 10) }));
    },
  });

const har = (url: string) => {
  const entry = (path: string, body: unknown, headers: { name: string; value: string }[] = []) => ({
    request: { method: "GET", url: `${url}${path}`, headers },
    response: {
      status: 200,
      headers: [{ name: "content-type", value: "application/json" }],
      content: { text: JSON.stringify(body) },
    },
  });
  const cookie = { name: "cookie", value: "sid=4711-secret" };
  return { log: { entries: [entry("/api/flags", { a: 1 }), entry("/api/things?page=1", { data: THINGS }, [cookie])] } };
};

describe("orb capture", () => {
  test("a page that loads its list by a script becomes a job that asks for all of it [slow]", browserGate, async () => {
    await using site = await openApplication();
    await using orb = new Installation({ APP_BROWSER_PATH: chromiumPath, APP_ALLOW_PRIVATE_NETWORKS: `${SITE}/32` });
    const page = await orb.json<CapturedPage>("capture", site.url("/app"));
    const [best, other] = page.calls;
    assert.equal(best?.url, site.url("/api/things?page=1"));
    assert.deepEqual(best.items, { path: "$.data[*]", count: 10 });
    assert.ok((best.coverage ?? 0) > 0.5, `it carries what the page shows: ${best.coverage}`);
    assert.equal(best.pagination, "page");
    assert.deepEqual(best.left_out, [{ in: "headers", name: "x-api-key" }]);
    assert.equal(other?.url, site.url("/api/settings"));
    const saved = await orb.run(["capture", site.url("/app"), "--choose", "1", "--save", "--name", "things"]);
    assert.equal(saved.code, 0, saved.stderr);
    assert.match(saved.stderr, /left out: x-api-key \(headers\)/);
    const job = await orb.json<JobView>("jobs", "show", saved.stdout.trim());
    assert.deepEqual([job.name, job.strategy, job.target_url], ["things", "api_replay", site.url("/app")]);
    assert.ok(!JSON.stringify([page, saved, job]).includes("k-4711"), "no key is shown or stored");
    const run = await orb.run(["jobs", "run", job.id, "--wait"]);
    assert.equal(run.code, 0, run.stderr);
    const csv = await orb.run(["runs", "results", run.stdout.slice(0, 36), "--format", "csv"]);
    assert.equal(csv.stdout.trim().split("\r\n").length, 1 + THINGS.length, "all pages of the list");
  });

  test(
    "a list that the page loads in three pieces is one call, and all of it is in the job [slow]",
    browserGate,
    async () => {
      await using site = await openApplication();
      await using orb = new Installation({ APP_BROWSER_PATH: chromiumPath, APP_ALLOW_PRIVATE_NETWORKS: `${SITE}/32` });
      const page = await orb.json<CapturedPage>("capture", site.url("/pieces"));
      const [call, ...others] = page.calls;
      assert.deepEqual([call?.url, call?.pages, others.length], [site.url("/api/linked?page=1"), 3, 0]);
      assert.deepEqual(call?.items, { path: "$.data[*]", count: THINGS.length });
      const saved = await orb.run(["capture", site.url("/pieces"), "--choose", "1", "--save"]);
      assert.match(saved.stderr, /25 × \$\.data\[\*\] +link \(3 seen\)/);
      const run = await orb.run(["jobs", "run", saved.stdout.trim(), "--wait"]);
      assert.equal(run.code, 0, run.stderr);
      const csv = await orb.run(["runs", "results", run.stdout.slice(0, 36), "--format", "csv"]);
      assert.equal(csv.stdout.trim().split("\r\n").length, 1 + THINGS.length, "nothing is missing");
    },
  );

  test("a page without calls, and one that is not there, are said", browserGate, async () => {
    await using site = await openApplication();
    await using orb = Installation.prepared({
      APP_BROWSER_PATH: chromiumPath,
      APP_ALLOW_PRIVATE_NETWORKS: `${SITE}/32`,
    });
    const none = await orb.run(["capture", site.url("/plain")]);
    assert.deepEqual([none.code, none.stdout], [1, ""]);
    assert.match(none.stderr, /made no call with a JSON response/);
    const forbidden = await orb.run(["capture", "http://127.0.0.9/"]);
    assert.equal(forbidden.code, 1);
    assert.match(forbidden.stderr, /private_address.*\n.*APP_ALLOW_PRIVATE_NETWORKS/);
  });

  test("a HAR file becomes a job without a browser, and without the secrets in it [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    orb.file("page.har", JSON.stringify(har(shop.url(""))));
    const unasked = await orb.run(["capture", "--har", "page.har", "--out", "job.json"]);
    assert.equal(unasked.code, 2, "nobody has chosen");
    assert.match(unasked.stderr, /GET http[^]*error: choose a call with --choose 1 … 2\n/);
    assert.ok(!existsSync(join(orb.dir, "job.json")));
    const written = await orb.run(["capture", "--har", "page.har", "--choose", "1", "--out", "job.json"]);
    assert.equal(written.code, 0, written.stderr);
    assert.match(written.stderr, /^1 +– +25 × \$\.data\[\*\] +page +GET http/m);
    const text = readFileSync(join(orb.dir, "job.json"), "utf8");
    assert.ok(!text.includes("4711-secret"));
    assert.equal(shop.hits.length, 0, "reading a file asks nobody");
    const job = await orb.json<JobView>("jobs", "create", "job.json");
    const run = await orb.run(["jobs", "run", job.id, "--wait"]);
    assert.equal(run.code, 0, run.stderr);
    assert.equal(shop.count("/api/things?page=3"), 1, "page after page");
  });

  test("words that are wrong are named", async () => {
    await using orb = Installation.prepared();
    orb.file("bad.har", JSON.stringify({ log: { entries: [{ request: {}, response: {} }] } }));
    orb.file("good.har", JSON.stringify(har("http://shop.test")));
    const cases: [string[], RegExp][] = [
      [[], /the page is missing/],
      [["--har", "bad.har"], /log\.entries\[0\]\.request\.method: is required/],
      [["--har", "nowhere.har"], /cannot read nowhere\.har: there is no such file/],
      [["--har", "good.har", "--choose", "9"], /--choose: there is no call 9: expected 1 to 2/],
    ];
    for (const [args, what] of cases) {
      const { code, stderr } = await orb.run(["capture", ...args]);
      assert.equal(code, 2, `${args.join(" ")}: ${stderr}`);
      assert.match(stderr, what);
    }
  });
});
