import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { WorkflowDetail } from "../../src/orchestrator/workflows/view.ts";
import { Crawler } from "../jobs/crawler.ts";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, status } from "../support/misbehaviours.ts";
import { assertAccessible, assertFits, Dashboard } from "./kit.ts";

describe("why something waits, on its page", browserGate, () => {
  let dashboard: Dashboard;
  let site: MisbehavingSite;
  before(async () => {
    dashboard = await Dashboard.open({ APP_RETRY_BASE_SECONDS: "400", APP_RETRY_MAX_SECONDS: "900" });
    site = await MisbehavingSite.start({
      "/": html('<a href="/broken">x</a> <a href="/gone">x</a>'),
      "/broken": status(500),
      "/gone": status(404),
    });
  });
  after(async () => {
    await dashboard[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  it("a crawl names the error, and its errors have what is tried again apart from what failed [slow]", async () => {
    const crawler = new Crawler(dashboard.server);
    const id = await crawler.submit({ url: site.url("/"), strategy: "http", retry_attempts: 3 });
    await using opened = await dashboard.show(`/runs/${id}?tab=errors`);
    const { page } = opened;
    await page.getByText(/Retrying: the server answered 500 \(server error\)\. Attempt 2 of 4/).waitFor();
    const retrying = page.getByRole("region", { name: "Retrying" });
    await retrying.getByText("HTTP server error").waitFor();
    await retrying.getByText(/next attempt/).waitFor();
    await page.getByRole("heading", { name: "Failed" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Retry these" }).count(), 0, "it would be gone again");
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole("tab", { name: "Events", exact: true }).click();
    await page.getByText(/^Retry scheduled: attempt 2 of 4 in/).waitFor();
    await page.goto(new URL(`/sites/${encodeURIComponent(site.name)}`, page.url()).href);
    await page.getByText("Last failure").waitFor();
    await dashboard.server.api.post(`/jobs/runs/${id}/cancel`);
  });

  it("a workflow names what the run of its step fails with [slow]", async () => {
    const steps = [{ name: "fetch", task_type: "download", params: { urls: [site.url("/broken")] } }];
    const definition = { name: "gallery", steps };
    const { id } = (await dashboard.server.api.post("/workflows", { definition })).json<WorkflowDetail>();
    await using opened = await dashboard.show(`/workflows/${id}?step=fetch`);
    const { page } = opened;
    await page.getByText(/^Step fetch: .*the server answered 500/).waitFor();
    await page
      .getByText(/^Downloading: 0 of 1\. .*the server answered 500/)
      .first()
      .waitFor();
    await dashboard.server.api.post(`/workflows/${id}/cancel`);
  });
});
