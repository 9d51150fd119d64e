import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import type { SiteView } from "../../src/orchestrator/sites/site-view.ts";
import { Orb, until } from "../chaos/orb.ts";
import { browserGate, chromiumPath, html, SITE, webSite } from "../support/browser-kit.ts";
import { read } from "../support/source.ts";

const SHELL = `<!doctype html><title>App</title><div id="app"></div><script>
  document.getElementById("app").innerHTML = "<h1>Put together</h1><p>by a script, as so many pages are these days</p>";
</script>`;
const CAPTCHA = read("test/fixtures/pages/captcha/recaptcha-wall.html");

const openOrb = () =>
  new Orb({
    APP_BROWSER_PATH: chromiumPath,
    APP_BROWSER_NAV_TIMEOUT_MS: "120000",
    APP_ALLOW_PRIVATE_NETWORKS: `${SITE}/32`,
  });

/** Browsers keep their profiles in the installation's folder for temporary files, and name it when they are started. */
function browsersOf(orb: Orb): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`user-data-dir=${orb.dir}`);
    } catch {
      return false;
    }
  });
}

describe("pages that need a browser or a person, at the command line", browserGate, () => {
  test("an empty shell is opened in a browser; the site is known for it until that is forgotten [slow]", async () => {
    await using site = await webSite({ "/app": SHELL });
    await using orb = openOrb();
    const scraped = await orb.json<{ strategy: string; records: { h: string }[] }>(
      ...["scrape", site.url("/app"), "--field", "h=h1", "--save"],
    );
    assert.deepEqual([scraped.strategy, scraped.records], ["browser", [{ h: "Put together" }]]);
    const name = `${SITE}:${site.port}`;
    const shown = await orb.run(["sites", "show", name]);
    assert.match(shown.stdout, /browser for 1 page$/m);
    const forgotten = await orb.json<SiteView>("sites", "forget-learned", name);
    assert.equal(forgotten.learned_strategy, null);
  });

  test("a picture of the page is taken after what is done on it, and written to a file [slow]", async () => {
    const words = "words enough to be what a page is about, for everybody who reads";
    await using site = await webSite({ "/": `<p>${words}</p><button onclick="document.title = 'clicked'">b</button>` });
    await using orb = openOrb();
    const options = [
      "--mobile",
      "--wait",
      "0.05",
      "--action",
      "click=button",
      "--action",
      "wait=p",
      "--field",
      "t=title",
    ];
    const scraped = await orb.json<{ strategy: string; records: { t: string }[] }>(
      ...["scrape", site.url("/"), ...options, "--screenshot", "page.png", "--full-page"],
    );
    assert.deepEqual([scraped.strategy, scraped.records[0]?.t], ["browser", "clicked"]);
    const picture = readFileSync(`${orb.dir}/page.png`);
    assert.deepEqual([picture.toString("latin1", 1, 4), picture.readUInt32BE(16) >= 412], ["PNG", true]);
    const unnamed = await orb.run(["scrape", site.url("/"), "--screenshot", "page.png"]);
    assert.equal(unnamed.code, 0);
    assert.doesNotMatch(unnamed.stderr, /matched nothing/, "nobody named a field");
  });

  test("a captcha ends a scrape, and lets a job wait for a person [slow]", async () => {
    await using site = await webSite({ "/wall": html(CAPTCHA, 403) });
    await using orb = openOrb();
    const scraped = await orb.run(["scrape", site.url("/wall")]);
    assert.equal(scraped.code, 1);
    assert.match(scraped.stderr, /failed: blocked \(captcha_page\)[\s\S]*what to do +The site shows a CAPTCHA/);
    const job = await orb.json<JobView>("jobs", "create", "--target-url", site.url("/wall"));
    const waiting = await orb.run(["jobs", "run", job.id, "--wait"]);
    assert.equal(waiting.code, 3, "it is not at its end");
    const runId = waiting.stdout.slice(0, 36);
    assert.equal(waiting.stdout, `${runId} waiting_for_human\n`);
    assert.ok(waiting.stderr.includes(`orb runs resolve ${runId} --session ID, or --skip`));
    assert.ok(!waiting.stderr.includes("AbortError"), "that it does not wait any longer is no mishap");
    const unsaid = await orb.run(["runs", "resolve", runId]);
    assert.equal(unsaid.code, 2);
    const skipped = await orb.json<RunView>("runs", "resolve", runId, "--skip");
    assert.deepEqual([skipped.status, skipped.failure_reason], ["failed", "human_skipped"]);
  });

  test("Ctrl-C takes the browser along [slow]", { skip: process.platform !== "linux" }, async () => {
    await using site = await webSite({ "/never": () => {} });
    await using orb = openOrb();
    const scrape = orb.start(["scrape", site.url("/never"), "--strategy", "browser"]);
    await site.hit("/never");
    assert.notDeepEqual(browsersOf(orb), []);
    scrape.kill("SIGINT");
    assert.equal((await scrape.end()).code, 130);
    await until(() => browsersOf(orb).length === 0, "no browser is left");
  });
});
