import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { browserGate } from "../support/browser-kit.ts";
import { assertAccessible, assertFits, Dashboard, holds } from "./kit.ts";

describe("the demo site on the dashboard", browserGate, () => {
  let dashboard: Dashboard;
  before(async () => {
    // As a new installation has it: nothing of the private network is open.
    dashboard = await Dashboard.open({ APP_ALLOW_PRIVATE_NETWORKS: "false", APP_BROWSER_PATH: "/nowhere/chromium" });
  });
  after(() => dashboard[Symbol.asyncDispose]());

  it("fits a phone, and says that it is local", async () => {
    await using opened = await dashboard.show("/", { phone: true, theme: "dark" });
    const { page } = opened;
    await page.getByRole("button", { name: "Try it on the demo site" }).waitFor();
    await page.getByText("A small bookshop on this server").waitFor();
    await assertFits(page);
    await assertAccessible(page);
  });

  it("fills in an empty form", async () => {
    await using opened = await dashboard.show("/new");
    const { page } = opened;
    await page.getByRole("button", { name: "Fill in the demo site" }).click();
    const url = page.getByRole("textbox", { name: "URL" });
    await holds(page, "document.querySelector('.new-url').value.startsWith('http://127.0.0.1:')");
    assert.match(await url.inputValue(), /^http:\/\/127\.0\.0\.1:\d+\/$/);
    await page.getByRole("button", { name: "Fill in the demo site" }).waitFor({ state: "hidden" });
    await assertAccessible(page);
  });

  it("is one click away on a new installation: the first crawl of it runs, and gives books", async () => {
    await using opened = await dashboard.show("/");
    const { page } = opened;
    await page.getByRole("button", { name: "Try it on the demo site" }).click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    const run = await dashboard.server.ended(id);
    assert.equal(run.status, "partial", "the broken corner fails, all else is got");
    await page.goto(`${dashboard.url}/`);
    await page.getByRole("heading", { name: "Recent failures" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Try it on the demo site" }).count(), 0);
  });
});
