import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { ensureWeb } from "../../scripts/web.mjs";
import type { EventView } from "../../src/orchestrator/runs/view.ts";
import { Orb } from "../chaos/orb.ts";
import { Served } from "../chaos/served.ts";
import { treeOf } from "../fetch/browser/processes.ts";
import { Crawler } from "../jobs/crawler.ts";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { held, html, page as plain } from "../support/misbehaviours.ts";
import { somePort } from "../support/services.ts";
import { holds, launchBrowser, openPage } from "./kit.ts";

/** Nobody else is given it while the server is gone. */
const port = String(await somePort());
const KILLS = 2;
const TURNS = 8;

/** What the page lists, newest first, as it is told to people. */
async function listed(page: Page): Promise<string[]> {
  return (await page.evaluate(`[...document.querySelectorAll('[aria-label="Events"] .table-body [role=row]')].map((row) =>
    row.querySelector("time").dateTime + " " + row.lastElementChild.textContent)`)) as string[];
}

const lost = (page: Page) => page.getByText("Connection lost, reconnecting");
const alive = (page: Page) => page.getByText("Live", { exact: true });

describe("a dashboard whose server dies or hangs", browserGate, () => {
  let orb: Orb;
  let served: Served;
  let browser: Browser;
  before(async () => {
    await ensureWeb();
    // The page that keeps the crawl going is held for as long as the test takes.
    orb = new Orb({ APP_HTTP_TIMEOUT_SECONDS: "600" });
    served = await Served.start(orb, ["--port", port]);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    await orb[Symbol.asyncDispose]();
  });

  it("says so, comes back by itself, and has told every event of a crawl exactly once, and how it ended meanwhile", async () => {
    const gate = Promise.withResolvers<void>();
    await using site = await MisbehavingSite.start({
      "/": html(`<h1>Start</h1><a href="/held">next</a>`),
      "/held": held(gate.promise, plain("Held")),
    });
    const id = await new Crawler(served).submit({ url: site.url("/"), max_depth: 1 });
    await site.visited("/held");
    const turn = async (what: "pause" | "resume") => {
      const answer = await served.api.post(`/jobs/runs/${id}/${what}`);
      assert.ok(answer.status < 300, answer.text);
    };
    await using opened = await openPage(browser, served.api.url, `/runs/${id}?tab=events`, {
      expected: /net::ERR_|503/,
    });
    const { page } = opened;
    await alive(page).waitFor();
    await page.getByRole("row").filter({ hasText: "Run created" }).waitFor();
    await page.evaluate("window.sameDocument = true");
    for (let kill = 0; kill < KILLS; kill += 1) {
      for (let turns = 0; turns < TURNS; turns += 1) {
        await turn("pause");
        await turn("resume");
      }
      // Whatever of this is on its way to the page is lost with the process.
      await served.killed();
      await lost(page).waitFor();
      if (kill === KILLS - 1) {
        // It ends where the page does not hear of it.
        served = await Served.start(orb);
        gate.resolve();
        await new Crawler(served).ended(id);
        assert.equal((await served.terminated()).code, 0);
      }
      served = await Served.start(orb, ["--port", port]);
      await lost(page).waitFor({ state: "hidden" });
      await alive(page).waitFor();
    }
    await page.getByRole("main").getByText("Completed", { exact: true }).first().waitFor();
    await page.getByText("2 pages", { exact: true }).waitFor();
    await page
      .getByRole("row")
      .filter({ hasText: /^[^]*Run completed/ })
      .waitFor();
    const told = (await served.api.get(`/jobs/runs/${id}/events?limit=1000`)).json<EventView[]>();
    assert.ok(told.length >= 2 * TURNS * KILLS, `${told.length} events`);
    await holds(
      page,
      `document.querySelectorAll('[aria-label="Events"] .table-body [role=row]').length >= ${told.length}`,
    );
    assert.deepEqual(
      (await listed(page)).toReversed(),
      told.map(({ created_at, message }) => `${created_at} ${message}`),
    );
    assert.equal(await page.evaluate("window.sameDocument"), true, "it was never loaded anew");
  });

  it("says so of one that keeps its connections open, and says nothing", async () => {
    await using opened = await openPage(browser, served.api.url, "/runs", { expected: /net::ERR_|503/ });
    const { page } = opened;
    await alive(page).waitFor();
    const family = treeOf(served.process.pid).map(({ pid }) => pid);
    for (const pid of family) process.kill(pid, "SIGSTOP");
    try {
      await lost(page).waitFor();
    } finally {
      for (const pid of family) process.kill(pid, "SIGCONT");
    }
    await alive(page).waitFor();
    assert.equal((await served.terminated()).code, 0);
  });
});
