import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { page as plain } from "../support/misbehaviours.ts";
import { assertAccessible, assertFits, Dashboard } from "./kit.ts";

describe("what is kept, and what is deleted, in the dashboard", browserGate, () => {
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

  it("the page of a run says how long it is kept, keeps it, and deletes it", async () => {
    const { server } = dashboard;
    const begun = await server.api.post("/scraping/async-scrape", { url: site.url("/quiet"), temporary: true });
    const { task_id: id } = begun.json<{ task_id: string }>();
    await server.ended(id);
    await using opened = await dashboard.show(`/runs/${id}`);
    const { page } = opened;
    await page.getByText("Kept until", { exact: false }).first().waitFor();
    await page.getByRole("button", { name: "Keep", exact: true }).click();
    await page.getByText("Kept until you delete it", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Apply retention again" }).waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete run" }).click();
    await page.waitForURL("**/runs");
    assert.equal((await server.api.get(`/jobs/runs/${id}`)).status, 404);
  });

  it("the overview warns when what is kept comes near its budget, before anything is removed", async () => {
    await dashboard.server.run({ target_url: site.url("/quiet"), name: "Something" });
    await using opened = await dashboard.show("/runs");
    const { page } = opened;
    const storage = {
      used_bytes: 19_000_000_000,
      measured_at: "2030-01-01T00:00:00.000Z",
      budget_bytes: 20_000_000_000,
      action: "remove",
      is_near: true,
      warned_at: "2030-01-01T00:00:00.000Z",
    };
    await page.route("**/storage", (route) => route.fulfill({ json: storage }));
    await page.getByRole("link", { name: "Overview" }).click();
    const notice = page.getByRole("status").filter({ hasText: "Stored data takes" });
    await notice.getByText("the oldest runs are removed (not before 2 Jan 2030", { exact: false }).waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await dashboard.server.client.runs.deleteMany({ filter: {} });
  });

  it("a job says how many runs it keeps, and is deleted with them; many runs go by a filter", async () => {
    const { server } = dashboard;
    const job = await server.job({ target_url: site.url("/quiet"), name: "Often" });
    for (let n = 0; n < 3; n += 1) await server.run(job.id);
    await server.run({ target_url: site.url("/quiet"), name: "Alone" });
    await using opened = await dashboard.show("/jobs");
    const { page } = opened;
    const more = page.getByRole("button", { name: "More for Often" });
    await more.click();
    await page.getByRole("menuitem", { name: "Retention …" }).click();
    await page.getByLabel("Newest runs").fill("7");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    assert.equal((await server.client.jobs.get(job.id)).keep_runs, 7);

    await more.click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog");
    await dialog
      .getByText("Its runs and their results stay until you or a retention rule deletes them.", { exact: false })
      .waitFor();
    await dialog.getByLabel("Also delete its runs").check();
    await dialog.getByText("Its runs are deleted, too", { exact: false }).waitFor();
    await dialog.getByRole("button", { name: "Delete job" }).click();
    await dialog.waitFor({ state: "hidden" });
    const left = async () => (await server.client.runs.list().take()).map(({ name }) => name);
    while ((await left()).includes("Often"));
    assert.deepEqual(await left(), ["Alone"]);

    await using list = await dashboard.show("/runs?status=completed");
    await list.page.getByText("1 run", { exact: true }).waitFor({ state: "attached" });
    await list.page.getByRole("button", { name: "Bulk actions" }).click();
    await list.page.getByRole("menuitem", { name: "Delete …" }).click();
    await list.page.getByRole("dialog").getByRole("button", { name: "Delete 1 run" }).click();
    await list.page.getByRole("dialog").waitFor({ state: "hidden" });
    assert.deepEqual(await left(), []);
  });
});
