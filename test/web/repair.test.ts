import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JobHealth } from "../../web/src/api/types.ts";
import { until } from "../chaos/orb.ts";
import { browserGate, html } from "../support/browser-kit.ts";
import { assertAccessible, assertFits, dashboardAndSite } from "./kit.ts";

const BOOKS = 12;

/** A book of the shop; the redesign has moved its price and its author. */
function book(n: number, isNew: boolean): string {
  const title = `Letters from harbour ${n}`;
  const author = `Writer ${String.fromCodePoint(64 + n)}. Heron`;
  const price = `€ ${n + 4}.${n + 20}`;
  return isNew
    ? `<title>${title}</title><main><h1>${title}</h1><div class="offer"><strong class="cost">${price}</strong></div><em class="writer">${author}</em></main>`
    : `<title>${title}</title><main><h1>${title}</h1><span class="author">${author}</span><p class="price">${price}</p></main>`;
}

describe("rules that a site's new layout broke", browserGate, () => {
  const here = dashboardAndSite();

  function publish(isNew: boolean): void {
    const links = Array.from({ length: BOOKS }, (_, n) => `<a href="/book/${n + 1}">Book ${n + 1}</a>`);
    here.site.on("/", html(`<title>Shop</title><main>${links.join(" ")}</main>`));
    for (let n = 1; n <= BOOKS; n += 1) here.site.on(`/book/${n}`, html(book(n, isNew)));
  }

  it("are proposed with their values, used by one click, and undone on the page of versions [slow]", async () => {
    const { server } = here.dashboard;
    publish(false);
    const crawl = {
      url: here.site.url("/"),
      include: ["/book/**"],
      fields: { title: "h1", price: { css: ".price", type: "number" }, author: ".author" },
    };
    const answer = await server.api.post("/jobs", { name: "Books", kind: "crawl", crawl });
    const { id } = answer.json<{ id: string }>();
    const health = async () => (await server.api.get(`/jobs/${id}/health`)).json<JobHealth>();
    const run = async () => {
      const started = await server.run(id);
      await until(async () => (await health()).runs[0]?.run_id === started.id, "its records are compared");
    };
    for (let good = 0; good < 4; good += 1) await run();
    publish(true);
    await run();

    await using opened = await here.dashboard.show(`/jobs/${id}/quality`);
    const { page } = opened;
    const price = page.getByRole("region", { name: "Repair of price" });
    await price.getByText('.cost {"type":"number"}').waitFor();
    await price.getByRole("cell", { name: "empty" }).first().waitFor();
    await page.getByRole("region", { name: "Repair of author" }).getByText("Writer A. Heron").first().waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.getByLabel("Read the degraded run again").check();
    await page.getByRole("button", { name: "Use the new rules" }).click();
    await page.getByText(/The job has had new rules since .*, accepted by Local user/).waitFor();
    assert.equal((await health()).runs[0]?.degraded, null, "the degraded run has been read again");
    await run();
    assert.equal((await health()).runs[0]?.degraded, null, "the next run is as good as before");

    await page.getByRole("link", { name: "Versions" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Versions" }).waitFor();
    await page.getByRole("button", { name: /Version 2 Local user, repair/ }).waitFor();
    await page
      .getByRole("row", { name: /price\.css .price/ })
      .first()
      .waitFor();
    await assertAccessible(page);
    await page.getByRole("listitem").filter({ hasText: "Version 1" }).getByRole("button", { name: "Restore" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
    await page.getByRole("button", { name: /Version 3 Local user, dashboard, .* restored from version 1/ }).waitFor();
    const job = (await server.api.get(`/jobs/${id}`)).json<{ crawl: { fields: { author: unknown } } }>();
    assert.equal(job.crawl.fields.author, ".author");

    await using phone = await here.dashboard.show(`/jobs/${id}/versions`, { phone: true });
    await phone.page.getByRole("button", { name: /Version 3/ }).waitFor();
    await assertFits(phone.page);
  });
});
