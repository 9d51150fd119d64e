import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { TYPED_MS } from "../../web/src/logic/typed-time.ts";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { page as plain } from "../support/misbehaviours.ts";
import { assertAccessible, assertFits, Dashboard, holds } from "./kit.ts";

/** As a name it has to stay text. */
const HOSTILE = `<img src=x onerror="window.hurt=1">`;
const MANY = 250;

describe("the lists of runs and of saved jobs", browserGate, () => {
  let dashboard: Dashboard;
  let site: MisbehavingSite;
  before(async () => {
    dashboard = await Dashboard.open();
    site = await MisbehavingSite.start({ "/quiet": plain("Quiet") });
  });
  after(async () => {
    await dashboard[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  it("narrows, keeps views, scrolls through many, and changes many at once after saying how many", async () => {
    const { server } = dashboard;
    const host = new URL(site.url("/")).host;
    await server.api.post(`/sites/${encodeURIComponent(host)}/pause`);
    const job = await server.job({ target_url: site.url("/quiet"), name: "Many of these" });
    for (let begun = 0; begun < MANY; begun += 10)
      await Promise.all(Array.from({ length: 10 }, () => server.api.post(`/jobs/${job.id}/runs`)));
    await using opened = await dashboard.show(`/runs?q=many&status=queued,running`);
    const { page } = opened;
    await page.getByText(`${MANY} runs`, { exact: true }).waitFor({ state: "attached" });
    const drawn = await page.getByRole("row").count();
    assert.ok(drawn < 120, `${drawn} rows are drawn`);
    await page.keyboard.press("j");
    await page.locator("[role=row]:focus").waitFor();
    await page.keyboard.press("End");
    await page
      .getByRole("row")
      .last()
      .and(page.locator(`[data-index="${MANY - 1}"]`))
      .waitFor();

    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByLabel("Name", { exact: true }).fill("The many");
    await page.getByRole("dialog").getByRole("button", { name: "Save view" }).click();
    const views = page.getByRole("navigation", { name: "Views" });
    await views.getByRole("link", { name: "Failed" }).click();
    await page.waitForURL("**/runs?status=partial,failed");
    await page.reload();
    await views.getByRole("link", { name: "The many" }).click();
    await page.waitForURL("**/runs?status=queued,running&q=many");
    await page.getByRole("button", { name: "Remove view The many" }).click();
    await views.getByRole("link", { name: "The many" }).waitFor({ state: "hidden" });

    const boxes = page.getByRole("checkbox", { name: "Select Many of these" });
    await boxes.nth(0).click();
    await boxes.nth(2).click({ modifiers: ["Shift"] });
    await page.getByText("3 selected").waitFor();
    await page.getByRole("region", { name: "Selected runs" }).getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Cancel 3 runs" }).click();
    await page.getByText("Cancelled 3 runs.").waitFor();

    await page.getByRole("button", { name: "Bulk actions" }).click();
    await page.getByRole("menuitem", { name: "Cancel …" }).click();
    const sure = page.getByRole("button", { name: `Cancel ${MANY - 3} runs` });
    await sure.waitFor();
    await assertAccessible(page);
    const begin = async () => (await server.api.post(`/jobs/${job.id}/runs`)).json<{ id: string }>().id;
    const later = [await begin(), await begin()];
    await sure.click();
    await page.getByText(`Cancelled ${MANY - 3} runs.`).waitFor();
    const open = async () => (await server.api.get("/runs?status=queued,running&q=many")).json<{ id: string }[]>();
    assert.deepEqual(
      (await open()).map(({ id }) => id),
      later.toReversed(),
      "those that began since they were counted go on",
    );
    await page.getByText("2 runs", { exact: true }).waitFor({ state: "attached" });
    await boxes.first().click();
    await page.getByText("1 selected").waitFor();
    const words = page.getByRole("searchbox", { name: "Name, URL or id" });
    await words.fill("many of ");
    await page.waitForURL("**q=many+of");
    await page.getByText("1 selected").waitFor({ state: "hidden" });
    assert.equal(await words.inputValue(), "many of ", "what is being typed stays as it is");
    await words.blur();
    // While the narrower list is on its way there may be no row to go to.
    const first = page.locator(`[data-key="${later[1]}"]`);
    await first.waitFor();
    while ((await first.and(page.locator(":focus")).count()) === 0) {
      await page.keyboard.press("k");
      await page.waitForTimeout(200);
    }
    const newest = await begin();
    await page.locator(`[data-key="${newest}"][data-index="0"]`).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/runs/${later[1]}`);
    await server.api.post("/runs/bulk", { action: "cancel", filter: { q: "many" } });
    await using phone = await dashboard.show("/runs", { phone: true, theme: "dark" });
    await phone.page.getByRole("row").nth(3).waitFor();
    await assertFits(phone.page);
    await assertAccessible(phone.page);
  });

  it("forgets what was searched for once another view is chosen, on the slowest machine, too", async () => {
    await using opened = await dashboard.show("/runs?q=many");
    const { page } = opened;
    const words = page.getByRole("searchbox", { name: "Name, URL or id" });
    await holds(page, "document.querySelector('main input[type=search]')?.value === 'many'");
    // Where all else takes longer than the pause after typing, that pause takes no time.
    await page.evaluate(`{
      const later = window.setTimeout;
      window.setTimeout = (work, ms, ...more) => (ms === ${TYPED_MS} ? work() : later(work, ms, ...more));
    }`);
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Failed" }).click();
    await holds(page, "document.querySelector('main input[type=search]').value === ''");
    assert.equal(new URL(page.url()).search, "?status=partial,failed");
    await words.fill("m");
    await page.waitForURL("**/runs?status=partial,failed&q=m");
  });

  it("runs a saved job, gives it a schedule, says what is wrong with one, and deletes it", async () => {
    const { server } = dashboard;
    const job = await server.job({ target_url: site.url("/quiet"), name: HOSTILE });
    await using opened = await dashboard.show("/jobs", { expected: /422/ });
    const { page } = opened;
    const row = page.getByRole("row").filter({ hasText: HOSTILE }).filter({ hasText: "Never run" });
    await row.getByRole("button", { name: "More for" }).click();
    await page.getByRole("menuitem", { name: "Edit schedule" }).click();
    await page.getByLabel("Schedule", { exact: true }).selectOption("custom");
    await page.getByLabel("Cron expression").fill("61 * * * *");
    await page.getByRole("button", { name: "Save schedule" }).click();
    await page.locator(".field-error").waitFor();
    await page.getByLabel("Schedule", { exact: true }).selectOption("daily");
    await page.getByRole("list", { name: "Next runs" }).getByRole("listitem").nth(4).waitFor();
    await page.getByRole("button", { name: "Save schedule" }).click();
    await page.getByText("The schedule is saved.").waitFor();
    assert.equal(
      (await server.api.get(`/jobs/${job.id}`)).json<{ schedule: { cron: string } }>().schedule.cron,
      "0 6 * * *",
    );
    await assertAccessible(page);
    await row.getByRole("button", { name: "Run now" }).click();
    await page.waitForURL("**/runs/*-*");
    await page.getByRole("heading", { level: 1, name: HOSTILE }).waitFor();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: "Cancel run" }).click();
    await page.getByRole("main").getByText("Cancelled", { exact: true }).first().waitFor();
    await page.goto(`${dashboard.url}/jobs`);
    await page
      .getByRole("row")
      .filter({ hasText: "Cancelled" })
      .getByRole("button", { name: "More for" })
      .first()
      .click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete job" }).click();
    await page.getByText("The job is deleted.").waitFor();
    assert.equal((await server.api.get(`/jobs/${job.id}`)).status, 404);
  });
});
