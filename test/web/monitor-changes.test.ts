import assert from "node:assert/strict";
import { join } from "node:path";
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

    // What was left out is shown, too, and can be made to count.
    const hints = "Press Drag Sort Click Type Search Open Close Print Share Save Send Copy Cut Paste Undo Redo".split(
      " ",
    );
    let price = 18;
    let visits = 0;
    here.site.on("/", (request, response) => {
      visits += 1;
      const hint = `<aside class="hint"><p>${hints[visits % hints.length]!} and ${hints[(visits * 5 + 3) % hints.length]!}</p></aside>`;
      return html(`${page(`€ ${price}`)}<p>${visits}00 views</p>${hint}`)(request, response);
    });
    await run();
    await ofRun.page.goto(`${here.dashboard.url}/jobs/${job.id}/changes`);
    await ofRun.page.getByRole("heading", { name: "Left out as noise" }).waitFor();
    await ofRun.page.getByText(`1 place of ${here.site.url("/")}`).click();
    await ofRun.page.getByRole("button", { name: "Count it: changes of aside.hint > p" }).waitFor();
    await assertAccessible(ofRun.page);
    for (const width of [1440, 1280, 390]) {
      await ofRun.page.setViewportSize({ width, height: 900 });
      await assertFits(ofRun.page);
      const folder = process.env["ORB_TEST_PICTURES"];
      if (folder !== undefined)
        await ofRun.page.screenshot({ path: join(folder, `left-out-${width}.png`), fullPage: true });
    }
    await run();
    price = 16;
    await run();
    await ofRun.page.goto(`${here.dashboard.url}/jobs/${job.id}/changes`);
    const ignored = ofRun.page.getByText("2 places ignored as noise");
    await ignored.click();
    await ofRun.page
      .getByText(new RegExp(`^(${hints.join("|")}) and `))
      .first()
      .waitFor();
    await assertAccessible(ofRun.page);
    for (const width of [1440, 1280, 390]) {
      await ofRun.page.setViewportSize({ width, height: 900 });
      await assertFits(ofRun.page);
      const folder = process.env["ORB_TEST_PICTURES"];
      if (folder !== undefined)
        await ofRun.page.screenshot({ path: join(folder, `noise-${width}.png`), fullPage: true });
    }
    await ofRun.page.getByRole("button", { name: "Count it: changes of aside.hint > p" }).click();
    await ofRun.page.getByText("Counts from the next run on").first().waitFor();
    assert.deepEqual((await server.client.jobs.get(job.id)).monitor?.watch, ["aside.hint > p"]);
    await ofRun.page.getByRole("button", { name: "Ignore again: changes of aside.hint > p" }).click();
    await ofRun.page.getByRole("button", { name: "Count it: changes of aside.hint > p" }).waitFor();

    await using phone = await here.dashboard.show("/jobs", { phone: true });
    await phone.page.getByRole("button", { name: "More for Kettle" }).click();
    await phone.page.getByRole("menuitem", { name: "Changes" }).click();
    await phone.page.getByText("20 → 18").waitFor();
    await assertFits(phone.page);
  });
});
