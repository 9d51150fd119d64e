import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { ensureWeb } from "../../scripts/web.mjs";
import { type RunningServer, startServer } from "../../src/app/server.ts";
import { silentLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import { CALLBACK_PATH } from "../../src/domain/access/identity-provider.ts";
import { browserGate } from "../support/browser-kit.ts";
import { CLIENT_ID, CLIENT_SECRET, OidcServer } from "../support/oidc-server.ts";
import { somePort } from "../support/services.ts";
import { tempDir } from "../support/temp-dir.ts";
import { assertAccessible, assertFits, launchBrowser, openPage, PHONE } from "./kit.ts";

describe("the dashboard of a server with an identity provider", browserGate, () => {
  const folder = tempDir();
  let idp: OidcServer;
  let server: RunningServer;
  let browser: Browser;
  let start: () => Promise<void>;
  before(async () => {
    await ensureWeb();
    const port = await somePort();
    const url = `http://127.0.0.1:${port}`;
    idp = await OidcServer.start({ callback: `${url}${CALLBACK_PATH}`, host: "localhost" });
    const env = {
      APP_PORT: String(port),
      APP_PUBLIC_URL: url,
      APP_API_TOKEN: "a-token-of-good-length-4711",
      APP_AUTH_ROLES: '{"staff":"viewer"}',
      APP_OIDC_ISSUER: idp.url,
      APP_OIDC_CLIENT_ID: CLIENT_ID,
      APP_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      APP_OIDC_NAME: "Testers' Gate",
      APP_OIDC_SCOPES: "openid profile email groups",
    };
    const { config } = loadConfig({ env, cwd: folder.path });
    start = async () => void (server = await startServer(config, silentLog, { version: "0.0.0-test", worker: false }));
    await start();
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    await server.stop();
    await idp[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  it("lets a person in through it as a viewer, across a restart, until they sign out", async () => {
    idp.accounts.set("ann", { groups: [], email: "ann@example.com" });
    await using opened = await openPage(browser, server.url, "/runs", { expected: /40[13]|net::ERR_/ });
    const { page } = opened;
    const button = page.getByRole("link", { name: "Sign in with Testers' Gate" });
    await button.waitFor();
    await assertAccessible(page);
    // Somebody without a role is told, and the provider is another site: no cookie may get lost on the way.
    await button.click();
    await page.getByLabel("User").fill("ann");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("alert").waitFor();
    const told = "None of the groups of ann@example.com has a role here. Ask an admin of this server.";
    assert.equal(await page.getByRole("alert").textContent(), told);
    assert.equal(new URL(page.url()).pathname, "/login");
    await assertAccessible(page);
    await page.setViewportSize(PHONE);
    await assertFits(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${server.url}/runs`);
    await button.waitFor();
    assert.equal(await page.getByRole("alert").count(), 0, "it is told once");

    idp.accounts.set("ann", { groups: ["staff"], email: "ann@example.com" });
    await button.click();
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    assert.equal(new URL(page.url()).pathname, "/runs", "back where they wanted to go");
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText("ann@example.com").waitFor();
    await page.getByText("Viewer", { exact: true }).waitFor();
    assert.equal(await page.getByRole("link", { name: "New", exact: true }).count(), 0);
    await assertAccessible(page);
    const seen = (await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")) as string;
    assert.ok(!seen.includes("orb_s"), seen);
    // What is not hidden is disabled, with the reason.
    await page.goto(`${server.url}/new?kind=scrape`);
    const scrape = page.getByRole("button", { name: "Scrape page" });
    await scrape.waitFor();
    assert.equal(await scrape.isDisabled(), true);
    assert.match((await scrape.getAttribute("title")) ?? "", /^Only for the role operator or admin/);

    // The session ends while the page is open: another tab signs in, and this one goes on.
    await page.goto(`${server.url}/runs`);
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    await page.context().clearCookies({ name: "orb_session" });
    // The dialog may be there already, over the link: whichever request of the page came first asks for it.
    await page
      .locator("nav")
      .getByRole("link", { name: "Sites", exact: true, includeHidden: true })
      .dispatchEvent("click");
    const again = page.getByRole("dialog", { name: "Log in again" });
    await again.waitFor();
    await assertAccessible(page);
    const opening = page.context().waitForEvent("page");
    await again.getByRole("link", { name: "Sign in with Testers' Gate" }).click();
    const tab = await opening;
    await tab.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await tab.close();
    await page.evaluate("window.dispatchEvent(new Event('focus'))");
    await again.waitFor({ state: "hidden" });
    await page.getByRole("heading", { level: 1, name: "Sites" }).waitFor();

    await server.stop();
    await start();
    await page.goto(`${server.url}/settings`);
    await page.getByRole("tab", { name: "This browser" }).click();
    await page.getByText("This browser is logged in as ann@example.com, with the role viewer.").waitFor();

    await page.getByRole("navigation").getByRole("link", { name: "Overview", exact: true }).click();
    await page.getByRole("button", { name: "Log out" }).click();
    await button.waitFor();
    await page.reload();
    await button.waitFor();
    const session = await page.request.get(`${server.url}/session`);
    assert.equal(((await session.json()) as { logged_in: boolean }).logged_in, false);
  });
});
