import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, status } from "../support/misbehaviours.ts";
import { assertAccessible, assertFits, Dashboard } from "./kit.ts";

const text = (title: string, ...links: string[]) =>
  html(`<title>${title}</title><p>Words of ${title}.</p>${links.map((link) => `<a href="${link}">x</a>`).join("")}`);

describe("the runs of a saved crawl", browserGate, () => {
  let dashboard: Dashboard;
  let site: MisbehavingSite;
  before(async () => {
    dashboard = await Dashboard.open();
    site = await MisbehavingSite.start({
      "/": text("Shop", "/a", "/b", "/c"),
      "/a": text("A"),
      "/b": text("B"),
      "/c": text("C"),
    });
  });
  after(async () => {
    await dashboard[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  it("say what is new, changed and gone since the run before, and lead to it", async () => {
    const { server } = dashboard;
    const job = await server.job({
      kind: "crawl",
      target_url: site.url("/"),
      name: "Shop",
      crawl: { only_changed: true, fields: { words: "p" } },
    });
    const first = await server.run(job.id);
    site.on("/", text("Shop", "/a", "/b", "/c", "/d"));
    site.on("/b", text("B is cheaper"));
    site.on("/c", status(404));
    site.on("/d", text("D"));
    const second = await server.run(job.id);
    {
      await using opened = await dashboard.show(`/runs/${first.id}`);
      await opened.page.getByRole("tab", { name: "Results" }).waitFor();
      assert.equal(await opened.page.getByRole("tab", { name: "Changes" }).count(), 0, "nothing to compare with");
    }
    await using opened = await dashboard.show(`/runs/${second.id}?tab=changes`);
    const { page } = opened;
    const rows = page.getByRole("table", { name: "Pages that changed" }).getByRole("row");
    await rows.filter({ hasText: "/d" }).filter({ hasText: "New" }).waitFor();
    await rows.filter({ hasText: "/b" }).filter({ hasText: "Changed" }).waitFor();
    await rows.filter({ hasText: "/c" }).filter({ hasText: "Gone" }).waitFor();
    await assertAccessible(page);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await assertFits(page);
      const folder = process.env["ORB_TEST_PICTURES"];
      if (folder !== undefined) await page.screenshot({ path: join(folder, `changes-${width}.png`) });
    }
    await page.getByRole("link", { name: "the previous run" }).click();
    await page.waitForURL(`**/runs/${first.id}`);
  });

  it("export what is new or changed alone, where somebody ticks that", async () => {
    const { server } = dashboard;
    const job = await server.job({ kind: "crawl", target_url: site.url("/"), crawl: { fields: { words: "p" } } });
    await server.run(job.id);
    site.on("/a", text("A is dearer"));
    const second = await server.run(job.id);
    await using opened = await dashboard.show(`/runs/${second.id}?tab=results`);
    const { page } = opened;
    await page.getByLabel("Only new or changed").check();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export as JSON Lines" }).click();
    const lines = await readFile(await (await download).path(), "utf8");
    assert.deepEqual(
      lines
        .trim()
        .split("\n")
        .map((line) => new URL((JSON.parse(line) as { url: string }).url).pathname),
      ["/a"],
    );
  });

  it("that cut off a list say so, and lead to the same crawl with the fix", async () => {
    await using list = await MisbehavingSite.start({
      "/": html('<a href="/2026/a">A</a> <a rel="next" href="/page/2">Next</a>'),
      "/2026/a": text("A"),
    });
    const answer = await dashboard.server.api.post("/scraping/async-scrape", {
      url: [list.url("/"), list.url("/?other")],
      name: "News",
      include: ["/2026/**"],
      strategy: "http",
    });
    const { crawl_id: id } = answer.json<{ crawl_id: string }>();
    await dashboard.server.ended(id);
    await using opened = await dashboard.show(`/runs/${id}`);
    const { page } = opened;
    await page.getByText(/Pagination cut off: include "\/2026\/\*\*" excludes/).waitFor();
    await page.getByText("Found but not fetched: 1 not matched by any pattern.").waitFor();
    for (const start of ["/", "/?other"])
      await page.getByRole("link", { name: list.url(start), exact: true }).waitFor();
    await assertAccessible(page);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await assertFits(page);
    }
    await page.getByRole("link", { name: "Run again with this pattern" }).click();
    assert.equal(await page.getByLabel("Follow", { exact: true }).inputValue(), "/page/*");
    assert.equal(await page.getByLabel("Include", { exact: true }).inputValue(), "/2026/**");
  });
});
