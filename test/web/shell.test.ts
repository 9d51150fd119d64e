import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { browserGate } from "../support/browser-kit.ts";
import { root } from "../support/source.ts";
import { assertAccessible, assertFits, Dashboard, holds } from "./kit.ts";

const TOKEN = "a-token-of-good-length-4711";
/** A browser opens six connections to a server. */
const TABS = 8;
const NAV = ["Overview", "Runs", "Workflows", "Jobs", "Sites", "Proxies", "Workers", "Queue", "Schedules", "Settings"];

describe("the dashboard's shell", browserGate, () => {
  let dashboard: Dashboard;
  before(async () => {
    dashboard = await Dashboard.open();
  });
  after(() => dashboard[Symbol.asyncDispose]());

  it("leads to every page by its navigation, and each has a heading, a title and an address of its own", async () => {
    await using opened = await dashboard.show("/");
    const { page } = opened;
    for (const name of NAV) {
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
      await holds(page, `document.title === ${JSON.stringify(`${name} · Orbweaver`)}`);
      assert.equal(await page.getByRole("link", { name, exact: true }).getAttribute("aria-current"), "page");
      if (name !== NAV[0]) await holds(page, "document.activeElement.id === 'main'");
    }
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Schedules" }).waitFor();
  });

  it("is worked with by keys alone", async () => {
    await using opened = await dashboard.show("/");
    const { page } = opened;
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    // A machine that stands still between the two keys makes them two single ones.
    for (let isThere = false; !isThere;) {
      await page.keyboard.press("g");
      await page.keyboard.press("s");
      const sites = page.getByRole("heading", { level: 1, name: "Sites" });
      isThere = await sites.waitFor({ timeout: 5000 }).then(
        () => true,
        () => false,
      );
    }
    await page.keyboard.press("n");
    await page.getByRole("heading", { level: 1, name: "New" }).waitFor();
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await help.waitFor();
    await assertAccessible(page);
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });
    await page.keyboard.press("/");
    await page.keyboard.type("gr example");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/runs?q=gr%20example");
    assert.equal(await page.getByRole("searchbox", { name: "Search runs" }).inputValue(), "gr example");
  });

  it("stays live in more tabs than a browser has connections, over one stream for all of them", async () => {
    await using first = await dashboard.show("/");
    const context = first.page.context();
    const tabs = [first.page];
    while (tabs.length < TABS) {
      const page = await context.newPage();
      await page.goto(`${dashboard.url}/workers`);
      tabs.push(page);
    }
    for (const page of tabs) await page.getByText("Live", { exact: true }).waitFor();
    // Those of the tests before may still be on their way out.
    while (!/^orb_http_open_streams 1$/m.test((await dashboard.server.api.get("/metrics")).text))
      await first.page.waitForTimeout(50);
    // Whoever closes some of them takes the stream from nobody.
    await Promise.all(tabs.splice(1, TABS - 3).map((page) => page.close()));
    for (const page of tabs) {
      await page.getByRole("navigation").getByRole("link", { name: "Runs", exact: true }).click();
      await page.getByRole("heading", { name: "No runs yet" }).waitFor();
      await page.getByText("Live", { exact: true }).waitFor();
    }
  });

  it("says that there is nothing at an address that is none", async () => {
    await using opened = await dashboard.show("/no/such/page", { expected: /404/ });
    await opened.page.getByRole("heading", { level: 1, name: "Page not found" }).waitFor();
    await assertAccessible(opened.page);
  });

  it("has a drawer on phones, fits their width, and nobody is kept out in either theme", async () => {
    await using opened = await dashboard.show("/", { phone: true, theme: "dark" });
    const { page } = opened;
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await assertFits(page);
    await assertAccessible(page);
    const runs = page.getByRole("navigation").getByRole("link", { name: "Runs", exact: true });
    assert.equal(await runs.isVisible(), false);
    await page.getByRole("button", { name: "Open navigation" }).click();
    await runs.waitFor();
    await assertAccessible(page);
    await runs.click();
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    await runs.waitFor({ state: "hidden" });
    await using desktop = await dashboard.show("/", { theme: "light" });
    await desktop.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await assertAccessible(desktop.page);
  });

  it("remembers the theme that was chosen", async () => {
    await using opened = await dashboard.show("/");
    const { page } = opened;
    const ground = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    await page.getByRole("button", { name: "Theme: system" }).click();
    const light = await ground();
    await page.getByRole("button", { name: "Theme: light" }).click();
    const dark = await ground();
    assert.notEqual(light, dark);
    await page.reload();
    await page.getByRole("button", { name: "Theme: dark" }).waitFor();
    assert.equal(await ground(), dark);
  });

  it("loads itself anew once when the server has other files now, and tries again when it is asked to", async () => {
    await using opened = await dashboard.show("/", { expected: /404|preload|imported module/ });
    const { page } = opened;
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.evaluate("window.sameDocument = true");
    await page.route("**/assets/Queue*", (route) => route.fulfill({ status: 404, body: "" }));
    await page.getByRole("link", { name: "Queue", exact: true }).click();
    await page.getByText("This page could not be shown.").waitFor();
    assert.equal(await page.evaluate("window.sameDocument"), undefined, "it was loaded anew");
    await page.unroute("**/assets/Queue*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { level: 1, name: "Queue" }).waitFor();
  });

  it("loads less than 250 KB before its first page is there", () => {
    const folder = join(root, "dist", "web");
    const page = readFileSync(join(folder, "index.html"), "utf8");
    const first = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((match) => match[1] ?? "");
    const overview = readdirSync(join(folder, "assets")).filter((name) => /^(Overview|Chart)/.test(name));
    const files = new Set([
      ...first,
      ...overview.filter((name) => !name.endsWith(".gz")).map((name) => `assets/${name}`),
    ]);
    assert.ok(first.length >= 2, page);
    const sizes = [...files].map((name) => {
      const zipped = readdirSync(join(folder, "assets")).includes(`${name.slice(7)}.gz`);
      return readFileSync(join(folder, zipped ? `${name}.gz` : name)).length;
    });
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(total < 250_000, `${total} bytes`);
  });
});

describe("the dashboard of a server with a token", browserGate, () => {
  it("asks for it, says when it is wrong, and lets people in and out", async () => {
    const { startServer } = await import("../../src/app/server.ts");
    const { silentLog } = await import("../../src/base/log.ts");
    const { loadConfig } = await import("../../src/config/load.ts");
    const { tempDir } = await import("../support/temp-dir.ts");
    const { launchBrowser, openPage } = await import("./kit.ts");
    using folder = tempDir();
    const { config } = loadConfig({ env: { APP_PORT: "0", APP_API_TOKEN: TOKEN }, cwd: folder.path });
    await using server = await startServer(config, silentLog, { version: "0.0.0-test", worker: false });
    const browser = await launchBrowser();
    try {
      await using opened = await openPage(browser, server.url, "/runs", { expected: /401/ });
      const { page } = opened;
      await page.getByRole("heading", { name: "Log in to Orbweaver" }).waitFor();
      await assertAccessible(page);
      await page.getByLabel("Token").fill("not the token");
      await page.getByRole("button", { name: "Log in" }).click();
      await page.getByText("Wrong token.").waitFor();
      await page.getByLabel("Token").fill(TOKEN);
      await page.getByRole("button", { name: "Log in" }).click();
      await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
      assert.equal(new URL(page.url()).pathname, "/runs");
      const stored = (await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")) as string;
      assert.ok(!stored.includes(TOKEN) && !stored.includes("orb_session"), stored);
      // The cookie ends while a form is filled in: the token is asked for over it, and what was begun goes on.
      await page.goto(`${server.url}/new?kind=scrape`);
      await page.getByLabel("URL", { exact: true }).fill("http://shop.example/typed");
      // It ends with the very request that the form sends: any other that is on its way would ask first.
      await page.route(
        (url) => url.origin === new URL(server.url).origin,
        async (route) => {
          if (route.request().method() !== "POST") return await route.fallback();
          await page.context().clearCookies();
          const { cookie: _, ...headers } = await route.request().allHeaders();
          await route.continue({ headers });
          await page.unrouteAll();
        },
      );
      await page.getByRole("button", { name: "Scrape page" }).click();
      const again = page.getByRole("dialog", { name: "Log in again" });
      await again.waitFor();
      await assertAccessible(page);
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      await again.getByLabel("Token").fill(TOKEN);
      await again.getByLabel("Token").press("Enter");
      await page.waitForURL(/\/runs\/[\w-]{36}$/);
      await page.getByText("shop.example/typed").first().waitFor();
      await page.getByText("Live", { exact: true }).waitFor();
      await page.goto(`${server.url}/runs`);
      await page.getByRole("button", { name: "Log out" }).click();
      await page.getByRole("heading", { name: "Log in to Orbweaver" }).waitFor();
      await page.setViewportSize({ width: 390, height: 844 });
      await assertFits(page);
      await page.getByLabel("Token").fill(TOKEN);
      await page.getByLabel("Token").press("Enter");
      await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
      await assertFits(page);
    } finally {
      await browser.close();
    }
  });
});
