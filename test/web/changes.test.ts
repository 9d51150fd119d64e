import assert from "node:assert/strict";
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
    const { place } = dashboard;
    const job = await place.job({
      kind: "crawl",
      target_url: site.url("/"),
      name: "Shop",
      crawl: { only_changed: true, fields: { words: "p" } },
    });
    const first = await place.run(job.id);
    site.on("/", text("Shop", "/a", "/b", "/c", "/d"));
    site.on("/b", text("B is cheaper"));
    site.on("/c", status(404));
    site.on("/d", text("D"));
    const second = await place.run(job.id);
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
    await page.getByRole("link", { name: "the run before" }).click();
    await page.waitForURL(`**/runs/${first.id}`);
  });
});
