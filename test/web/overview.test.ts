import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { browserGate, html } from "../support/browser-kit.ts";
import { somePort } from "../support/services.ts";
import { assertAccessible, assertFits, dashboardAndSite, holds } from "./kit.ts";

const PAGE = "<p>This sentence is long enough to be taken for the content of a page.</p>";

// Its server goes and comes back where it was.
const port = String(await somePort());

describe("the overview", browserGate, () => {
  const here = dashboardAndSite({}, () => ({ APP_PORT: port }));

  it("teaches a new installation, and starts its first crawl, which is then watched without a reload", async () => {
    const held = Promise.withResolvers<void>();
    here.site.on("/", html(`${PAGE}<a href="/held">next</a><a href="/broken">other</a>`));
    here.site.on("/broken", html("<h1>Out of order</h1>", 404));
    here.site.on("/held", (request, response) => void held.promise.then(() => html(PAGE)(request, response)));
    await using opened = await here.dashboard.show("/");
    const { page } = opened;
    await page.getByRole("heading", { name: "Start your first crawl" }).waitFor();
    await assertAccessible(page);
    await page.getByRole("textbox", { name: "URL" }).fill("not an address");
    await page.getByRole("button", { name: "Start crawl" }).click();
    await page.getByText("Enter a URL such as").waitFor();
    await page.getByRole("textbox", { name: "URL" }).fill(here.site.url("/"));
    await page.getByRole("button", { name: "Start crawl" }).click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    await here.site.hit("/held");
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    const row = page.getByRole("table", { name: "Active runs" }).getByRole("row").nth(1);
    await row.getByText("Running").waitFor();
    assert.equal(await row.getByRole("link").getAttribute("href"), `/runs/${id}`);
    await page.getByRole("link", { name: "HTTP not found" }).waitFor();
    await page.locator(".uplot canvas").first().waitFor();
    await assertAccessible(page);
    await page.keyboard.press("j");
    await holds(page, "document.activeElement.getAttribute('role') === 'row'");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/runs/${id}`);
    await page.goBack();
    await row.getByText("Running").waitFor();
    held.resolve();
    await page.getByText("Nothing is running").waitFor();
    await page.getByText("Idle: all runs have ended.").waitFor();
  });

  it("fits a phone, and shows what sites and pages are called as text", async () => {
    here.site.on("/%3Cb%3E", html(PAGE, 500));
    await here.dashboard.server.api.post("/scraping/async-scrape", {
      url: `${here.site.origin}/<img src=x onerror=alert(1)>`,
      retry_attempts: 0,
    });
    await using opened = await here.dashboard.show("/", { phone: true, theme: "dark" });
    const { page } = opened;
    await page.getByRole("heading", { name: "Recent failures" }).waitFor();
    await page.getByRole("link", { name: "HTTP not found" }).waitFor();
    await page.locator(".uplot canvas").first().waitFor();
    await assertFits(page);
    await assertAccessible(page);
    assert.equal(await page.locator("img").count(), 0);
  });

  it("says that the connection is lost, and goes on by itself once the server is back", async () => {
    await using opened = await here.dashboard.show("/", { expected: /net::ERR_|503|does not answer/ });
    const { page } = opened;
    await page.getByText("Live", { exact: true }).waitFor();
    // All of the page is there before the server goes.
    await page.locator(".uplot canvas").nth(2).waitFor();
    await here.dashboard.server.stop();
    await page.getByText("Connection lost, reconnecting").waitFor();
    // A page that was not looked at yet cannot be loaded now: it is as soon as the server is back.
    await page.getByRole("link", { name: "Sites", exact: true }).click();
    await page.getByText("This page could not be shown.").waitFor();
    await here.dashboard.server.start();
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("heading", { level: 1, name: "Sites" }).waitFor();
    await page.getByText("Connection lost, reconnecting").waitFor({ state: "hidden" });
  });
});
