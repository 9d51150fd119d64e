import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../chaos/orb.ts";
import { browserGate, html } from "../support/browser-kit.ts";
import { assertAccessible, assertFits, dashboardAndSite } from "./kit.ts";

const page = (price: string) =>
  `<title>Kettle</title><h1>Kettle</h1><p>Price: ${price}</p><p>&lt;b&gt;Boils&lt;/b&gt; water.</p>`;

describe("changes of a monitored job", browserGate, () => {
  const here = dashboardAndSite();

  it("are listed with their difference, inline and side by side, also on a phone [slow]", async () => {
    const { server } = here.dashboard;
    here.site.on("/", html(page("€ 20")));
    const job = await server.job({ name: "Kettle", target_url: here.site.url("/") } as never);
    await using opened = await here.dashboard.show(`/jobs/${job.id}/changes`);
    const shown = opened.page;
    await shown.getByRole("heading", { name: "Not monitored" }).waitFor();
    await shown.getByLabel("Compare").selectOption({ label: "The text of the page" });
    await shown.getByRole("heading", { name: "No changes yet" }).waitFor();
    await assertAccessible(shown);

    const run = async () => {
      const { id } = await server.run(job.id);
      await until(async () => (await server.show(id)).monitor !== null, "its pages are compared");
      return id;
    };
    await run();
    here.site.on("/", html(page("€ 18")));
    const changed = await run();

    await using ofRun = await here.dashboard.show(`/runs/${changed}`);
    await ofRun.page.getByRole("link", { name: "1 changed page" }).click();
    await ofRun.page.getByRole("heading", { level: 1, name: "Changes" }).waitFor();
    await ofRun.page.getByText("20 → 18").waitFor();
    const lines = ofRun.page.getByRole("table", { name: "Lines from 1 on" });
    await lines.waitFor();
    assert.match(await lines.innerText(), /Price: € 20[\s\S]*Price: € 18[\s\S]*<b>Boils<\/b> water/);
    await assertAccessible(ofRun.page);
    await assertFits(ofRun.page);
    await ofRun.page.getByText("Side by side").click();
    await lines.getByRole("columnheader", { name: "Before" }).waitFor();

    await using phone = await here.dashboard.show("/jobs", { phone: true });
    await phone.page.getByRole("button", { name: "More for Kettle" }).click();
    await phone.page.getByRole("menuitem", { name: "Changes" }).click();
    await phone.page.getByText("20 → 18").waitFor();
    await assertFits(phone.page);
  });
});
