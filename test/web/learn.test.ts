import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import { browserGate } from "../support/browser-kit.ts";
import { assertAccessible, assertFits, dashboardAndSite } from "./kit.ts";

const BOOKS = [
  { title: "Webs of the world", price: "€ 10.50", tags: ["silk", "history"] },
  { title: "Silk & knots", price: "€ 24.00", tags: ["silk", "craft", "how-to"] },
  { title: "The garden spider", price: "€ 7.90", tags: ["nature", "garden"] },
];

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function book({ title, price, tags }: (typeof BOOKS)[number]): string {
  return `<!doctype html><title>${escaped(title)}</title><style>h1 { text-transform: uppercase }</style>
<main><h1>${escaped(title)}</h1><p class="offer">Our price: <b class="amount">${price}</b></p>
<ul class="tags">${tags.map((tag) => `<li>${tag}</li>`).join("")}</ul></main>
${HOSTILE}`;
}

/** Says that something was clicked, as the frame would say it. */
const LIE = `for (const page of [1, 2, 3]) parent.postMessage({type: 'picked', page, position: 1, text: 'evil', chain: [{tag: 'b', id: '', classes: ['evil'], attributes: {}, nth: 1, ofType: 1, only: false, alike: 1}]}, '*')`;
const HOSTILE = `<script>${LIE}</script><img src="x:" onerror="${LIE}"><svg onload="${LIE}"></svg>`;

const FRONT = `<!doctype html><title>Shop</title><main><ol>${BOOKS.map(
  ({ title, price }, n) =>
    `<li class="card"><h3><a href="/book/${n + 1}">${escaped(title)}</a></h3><span class="amount">${price}</span></li>`,
).join("")}</ol></main>`;

const inFrame = (page: Page) => page.frameLocator("iframe[title='Page preview, without scripts']");
const runIdIn = (page: Page) => new URL(page.url()).pathname.split("/").at(-1) ?? "";

async function save(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Save as job" }).click();
  const dialog = page.getByRole("dialog", { name: "Save as job" });
  await dialog.getByLabel("Name", { exact: true }).fill(name);
  await dialog.getByRole("button", { name: "Save and run now" }).click();
  await page.waitForURL(/\/runs\/[\w-]{36}$/);
}

describe("rules from examples in the playground", browserGate, () => {
  const here = dashboardAndSite({
    "/": FRONT,
    ...Object.fromEntries(BOOKS.map((one, n) => [`/book/${n + 1}`, book(one)])),
  });

  it("are learned from values clicked on two pages, and read a third one in the saved job [slow]", async () => {
    const url = encodeURIComponent(here.site.url("/"));
    await using opened = await here.dashboard.show(`/new?tab=playground&mode=examples&url=${url}`);
    const { page } = opened;
    const address = page.getByLabel("Page with example values");
    await address.fill(here.site.url("/book/1"));
    await page.getByRole("button", { name: "Fetch page" }).click();
    const frame = inFrame(page);
    await frame.getByText(BOOKS[0]!.title).click();
    await page.getByText(`title: ${BOOKS[0]!.title}`).waitFor();
    await frame.getByText(BOOKS[0]!.price).click();
    await page.getByLabel("Name of field 2").fill("price");
    assert.equal(await page.getByText("evil").count(), 0, "what the page says is ignored");
    await frame.getByText(BOOKS[0]!.price).click();
    assert.equal(await page.getByLabel("Name of field 3").count(), 0, "the same element is no other field");
    // Several values of one field are a list.
    await page.getByRole("button", { name: "Add field" }).click();
    await page.getByLabel("Name of field 3").fill("tags");
    await frame.getByText(BOOKS[0]!.tags[1]!, { exact: true }).click();
    await page.getByLabel("Value of field 3 on this page").fill(BOOKS[0]!.tags[0]!);
    await page.getByLabel("Value of field 3 on this page").press("Enter");
    const tags = page.getByRole("list", { name: "Values of tags" });
    await tags.getByRole("listitem").nth(1).waitFor();
    assert.deepEqual(await tags.locator("code").allInnerTexts(), BOOKS[0]!.tags, "as the page has them");
    await page.getByLabel("Value of field 3 on this page").fill(BOOKS[0]!.tags[1]!);
    await page.getByLabel("Value of field 3 on this page").press("Enter");
    await page.getByText("tags has this value already.").waitFor();
    await tags.getByRole("button", { name: `Remove the value ${BOOKS[0]!.tags[0]!}` }).click();
    await page.getByRole("button", { name: "Pick values" }).nth(2).click();
    await frame.getByText(BOOKS[0]!.tags[0]!, { exact: true }).click();
    await page.getByRole("button", { name: "Click values…" }).click();

    await address.fill(here.site.url("/book/2"));
    await page.getByRole("button", { name: "Add page" }).click();
    await frame.getByText(BOOKS[1]!.title).click();
    await frame.getByText(BOOKS[1]!.price).click();
    assert.equal(await page.getByText("evil").count(), 0);
    await page.getByRole("list", { name: "Values of price" }).getByText(BOOKS[1]!.price).waitFor();
    // Nobody saves a job without the rules of the examples by mistake.
    assert.equal(await page.getByRole("button", { name: "Save as job" }).count(), 0);
    await page.getByRole("tab", { name: "Set up" }).click();
    await page.getByText("The examples in the playground are not used").waitFor();
    await page.getByRole("tab", { name: "Playground" }).click();
    await page.getByRole("button", { name: "Learn rules" }).click();
    const prices = page.getByRole("group", { name: "Rules of price" });
    await prices.getByText("score").first().waitFor();
    await page.getByText("Rules for 3 of 3 fields; they find 2 records on these 2 pages.").waitFor();
    assert.ok((await prices.getByRole("radio").count()) > 1, "there are alternatives");
    assert.equal(await prices.getByRole("radio").first().isChecked(), true);
    const first = prices.locator(".learned-rule").first();
    assert.deepEqual(await first.locator(".rule-value").allInnerTexts(), [BOOKS[0]!.price, BOOKS[1]!.price]);
    await assertAccessible(page);
    await assertFits(page);
    await prices.getByRole("radio").nth(1).check();
    await frame.locator("[data-orb-found]").or(prices.getByText("xpath").first()).first().waitFor();
    await prices.getByRole("radio").first().check();
    await page.getByRole("button", { name: "Use these rules" }).click();
    await page.getByLabel("Selector of field 3").waitFor();
    await page.getByRole("button", { name: "Save as job" }).waitFor();
    assert.equal(await page.getByLabel("Name of field 2").inputValue(), "price");
    await page.getByRole("tab", { name: "Set up" }).click();
    await page.getByRole("button", { name: "More options" }).click();
    await page.getByLabel("Include").fill("/book/**");
    await save(page, "Books");
    const run = await here.dashboard.server.ended(runIdIn(page));
    assert.equal(run.status, "completed");
    type Row = { data: { url: string; fields: unknown } };
    const rows = (await here.dashboard.server.api.get(`/jobs/runs/${run.id}/results`)).json<Row[]>();
    const found = rows
      .map(({ data }) => data)
      .filter(({ url }) => url.includes("/book/"))
      .toSorted((a, b) => a.url.localeCompare(b.url));
    assert.deepEqual(
      found.map(({ fields }) => fields),
      BOOKS,
    );
  });

  it("are learned on a phone by typing alone, as a list of records [slow]", async () => {
    await using opened = await here.dashboard.show("/new?kind=scrape&tab=playground", { phone: true, theme: "dark" });
    const { page } = opened;
    await page.getByText("Learn from examples").click();
    await page.getByLabel("Page with example values").fill(here.site.url("/"));
    await page.getByLabel("Page with example values").press("Enter");
    await inFrame(page).getByText(BOOKS[0]!.title).waitFor();
    await assertFits(page);
    await assertAccessible(page);
    await page.getByText("List of records").click();
    await page.getByRole("tab", { name: "Examples" }).click();
    await page.getByRole("button", { name: "Learn rules" }).click();
    await page.getByRole("alert").getByText("No examples yet.").waitFor();
    for (const [n, field] of (["title", "price"] as const).entries()) {
      await page.getByRole("button", { name: "Add field" }).click();
      await page.getByLabel(`Name of field ${n + 1}`).fill(field);
      // The second record is typed first: the page decides about the order.
      for (const one of BOOKS.slice(0, 2).toReversed()) {
        await page.getByLabel(`Value of field ${n + 1} on this page`).fill(one[field]);
        await page.getByLabel(`Value of field ${n + 1} on this page`).press("Enter");
        await page
          .getByRole("list", { name: `Values of ${field}` })
          .getByText(one[field])
          .waitFor();
      }
      const values = page.getByRole("list", { name: `Values of ${field}` }).locator("code");
      assert.deepEqual(
        await values.allInnerTexts(),
        BOOKS.slice(0, 2).map((one) => one[field]),
      );
    }
    await page.getByLabel("Value of field 1 on this page").fill("Not on this page");
    await page.getByLabel("Value of field 1 on this page").press("Enter");
    await page.getByRole("button", { name: "Learn rules" }).click();
    await page.getByText("3 of each field on a page, here 2").waitFor();
    await page.getByLabel("Value of field 2 on this page").fill(BOOKS[2]!.price);
    await page.getByLabel("Value of field 2 on this page").press("Enter");
    await page.getByRole("button", { name: "Learn rules" }).click();
    await page.getByText(/page 1: the page does not contain "Not on this page"/).waitFor();
    await page.getByRole("button", { name: "Remove the value Not on this page" }).click();
    await page.getByRole("button", { name: `Remove the value ${BOOKS[2]!.price}` }).click();
    await page.getByRole("button", { name: "Learn rules" }).click();
    await page.getByText("Records are read from").waitFor();
    await page.getByText("they find 3 records on this page").waitFor();
    await assertFits(page);
    await assertAccessible(page);
    await page.getByRole("button", { name: "Use these rules" }).click();
    await page.getByRole("tab", { name: "Records" }).click();
    await page.getByRole("cell", { name: BOOKS[2]!.title }).waitFor();
    await save(page, "Shop front");
    const run = await here.dashboard.server.ended(runIdIn(page));
    const rows = (await here.dashboard.server.api.get(`/jobs/runs/${run.id}/results`)).json<{ data: unknown }[]>();
    assert.deepEqual(
      rows.map(({ data }) => data),
      BOOKS.map(({ title, price }) => ({ title, price })),
    );
    const job = (await here.dashboard.server.api.get(`/jobs/${run.job_id}`)).json<JobView>();
    assert.notEqual(job.items, null);
  });

  it("pages that arrive while others are fetched are all there, and never more than five [slow]", async () => {
    const url = encodeURIComponent(here.site.url("/"));
    await using opened = await here.dashboard.show(`/new?tab=playground&url=${url}`);
    const { page } = opened;
    await page.getByRole("button", { name: "Fetch page" }).click();
    await inFrame(page).getByText(BOOKS[0]!.title).waitFor();
    // The answers wait until the page of the other mode has been added.
    const go = Promise.withResolvers<void>();
    await page.route("**/extract/preview", async (route) => {
      await go.promise;
      await route.continue();
    });
    await page.getByText("Learn from examples").click();
    await page.getByRole("group", { name: "Shown page" }).or(page.getByText("Page 1")).first().waitFor();
    await page.getByRole("button", { name: "Remove page 1" }).click();
    const paths = ["/book/1", "/book/2", "/book/3", "/book/1", "/book/2"];
    await page.getByLabel("Page with example values").fill(paths.map((path) => here.site.url(path)).join(" "));
    await page.getByRole("button", { name: "Fetch page" }).click();
    await page.getByText("Select elements").click();
    await page.getByText("Learn from examples").click();
    assert.equal(await page.getByText("Page 2").count(), 0);
    go.resolve();
    await page.getByText("5 pages").waitFor();
    assert.equal(await page.getByText("Page 6").count(), 0);
    // The page of the other mode came first.
    await page.getByText("Page 1", { exact: true }).click();
    await inFrame(page).getByText(BOOKS[2]!.title).waitFor();
    await page.getByText("Page 5", { exact: true }).click();
    await inFrame(page).getByRole("heading", { name: BOOKS[0]!.title }).waitFor();
  });
});
