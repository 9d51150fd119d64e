import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { browserGate, html } from "../support/browser-kit.ts";
import { assertAccessible, assertFits, dashboardAndSite } from "./kit.ts";

const PAGE = `<title>Shop</title>${[1, 2, 3].map((n) => `<div class="book"><b>Book ${n}</b><i>€ ${n}</i><u>x</u></div>`).join("")}`;

describe("a changed rule of a job", browserGate, () => {
  const here = dashboardAndSite();

  it("is tested on saved pages before it is saved [slow]", async () => {
    const { server } = here.dashboard;
    let visits = 0;
    here.site.on("/", (request, response) => {
      visits += 1;
      html(PAGE)(request, response);
    });
    const rules = { items: ".book", fields: { title: "b", price: "i" } };
    const job = await server.job({ name: "Books", target_url: here.site.url("/"), ...rules } as never);

    await using early = await here.dashboard.show(`/new?job=${job.id}`, { expected: /409/ });
    await early.page.getByRole("button", { name: "Test on saved pages" }).click();
    await early.page.getByRole("dialog").getByText("The job has no saved pages to test its rules on").waitFor();

    await server.ended((await server.run(job.id)).id);
    await using opened = await here.dashboard.show(`/new?job=${job.id}&tab=playground`);
    const { page } = opened;
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Test on saved pages" }).click();
    await dialog.getByText("As before", { exact: true }).waitFor();
    await dialog.getByText("1 page: 2 fields with the same values").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();

    await page.getByRole("button", { name: "Fetch page" }).click();
    await page.getByLabel("Selector of field 2").fill("s");
    const before = visits;
    await page.getByRole("button", { name: "Test on saved pages" }).click();
    await dialog.getByText("Not as before", { exact: true }).waitFor();
    await dialog.getByRole("row", { name: /price.*Lost in 3.*€ 1.*–/ }).waitFor();
    await assertAccessible(page);
    await assertFits(page);
    assert.equal(visits, before, "nothing was fetched");
    const saved = (await server.api.get(`/jobs/${job.id}`)).json<{ fields: unknown }>();
    assert.deepEqual(saved.fields, rules.fields, "nothing was saved");
  });
});
