import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JobHealth } from "../../web/src/api/types.ts";
import { until } from "../chaos/orb.ts";
import { browserGate, html } from "../support/browser-kit.ts";
import { assertAccessible, assertFits, dashboardAndSite } from "./kit.ts";

/** A shop's list of books; the redesign has moved the prices. */
function list(priceClass: string): string {
  const books = Array.from({ length: 30 }, (_, n) => {
    return `<div class="book"><b class="title">Book ${n}</b><i class="${priceClass}">€ ${n}.90</i></div>`;
  });
  return `<title>Books</title>${books.join("")}`;
}

describe("data quality of a job", browserGate, () => {
  const here = dashboardAndSite();

  it("shows which field got worse and where, from the run and from the job, and accepts it [slow]", async () => {
    const { server } = here.dashboard;
    here.site.on("/", html(list("price")));
    const rules = { items: ".book", fields: { title: ".title", price: ".price", "<b>isbn</b>": ".isbn" } };
    const job = await server.job({ name: "Books", target_url: here.site.url("/"), ...rules } as never);
    const health = async () => (await server.api.get(`/jobs/${job.id}/health`)).json<JobHealth>();
    const run = async () => {
      const { id } = await server.run(job.id);
      await until(async () => (await health()).runs[0]?.run_id === id, "its records are compared");
      return id;
    };

    await using first = await here.dashboard.show(`/jobs/${job.id}/quality`);
    await first.page.getByRole("heading", { name: "No records yet" }).waitFor();
    await assertAccessible(first.page);
    for (let good = 0; good < 4; good += 1) await run();
    here.site.on("/", html(list("amount")));
    const broken = await run();

    await using opened = await here.dashboard.show(`/runs/${broken}`);
    const { page } = opened;
    const note = page.getByRole("alert").filter({ hasText: "Records degraded" });
    await note.getByText("price: filled in 0 % (before: 100 %)").waitFor();
    await note.getByRole("link", { name: "Data quality" }).click();
    await page.getByRole("heading", { level: 1, name: "Data quality" }).waitFor();
    const map = page.getByRole("region", { name: "Fields by run" });
    assert.equal(await map.getByRole("button").count(), 15);
    const worse = map.getByRole("button", { name: "price: 0 %, worse than before" });
    await worse.waitFor();
    assert.equal(await worse.getAttribute("aria-pressed"), "true");
    await map.getByText("never filled").waitFor();
    const good = page.getByRole("region", { name: "Good run" });
    await good.getByText("€ 0.90").waitFor();
    await page.getByRole("region", { name: "Chosen run" }).getByText("empty").waitFor();
    await assertAccessible(page);
    await assertFits(page);

    await page.getByLabel("Action").selectOption({ label: "Send an alert and fail the run" });
    await until(
      async () => (await server.api.get(`/jobs/${job.id}`)).json<{ on_degraded: string }>().on_degraded === "fail",
      "the action is saved",
    );
    await page.getByRole("button", { name: "Accept" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Accept" }).click();
    await page.getByText("The newest runs were accepted. 1 run so far. Comparison starts when there are 3.").waitFor();
    assert.equal((await health()).baseline.runs, 1);

    await using runs = await here.dashboard.show("/runs");
    await runs.page.getByRole("link", { name: "Records degraded: show the data quality" }).waitFor();

    await using phone = await here.dashboard.show("/jobs", { phone: true });
    await phone.page.getByRole("button", { name: "More for Books" }).click();
    await phone.page.getByRole("menuitem", { name: "Data quality" }).click();
    await phone.page.getByRole("region", { name: "Fields by run" }).waitFor();
    await assertFits(phone.page);
  });
});
