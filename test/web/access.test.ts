import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { startServer } from "../../src/app/server.ts";
import { silentLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import { ensureWeb } from "../../scripts/web.mjs";
import { browserGate } from "../support/browser-kit.ts";
import { tempDir } from "../support/temp-dir.ts";
import { assertAccessible, assertFits, launchBrowser, openPage } from "./kit.ts";

const TOKEN = "a-token-of-good-length-4711";

describe("access keys and the audit log in the dashboard", browserGate, () => {
  const folder = tempDir();
  let server: Awaited<ReturnType<typeof startServer>>;
  let browser: Browser;

  before(async () => {
    await ensureWeb();
    const { config } = loadConfig({ env: { APP_PORT: "0", APP_API_TOKEN: TOKEN }, cwd: folder.path });
    server = await startServer(config, silentLog, { version: "0.0.0-test", worker: false });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  async function call<T>(method: string, path: string, body?: unknown, key = TOKEN): Promise<T> {
    const response = await fetch(server.url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return (text === "" ? null : JSON.parse(text)) as T;
  }

  const keyFor = (body: object) => call<{ id: string; key: string }>("POST", "/keys", body);

  /** A page of the dashboard, signed in. */
  async function signedIn(secret: string, path: string, { expected = /401/, phone = false } = {}) {
    const opened = await openPage(browser, server.url, path, { expected, phone });
    await opened.page.getByLabel("Token").fill(secret);
    await opened.page.getByRole("button", { name: "Log in" }).click();
    return opened;
  }

  const rowOf = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

  it("creates a key with limits, shows it once, and revokes it", async () => {
    const page1 = { name: "Shop prices", target_url: "https://shop.example/", fields: { title: "h1" } };
    const job = await call<{ id: string }>("POST", "/jobs", page1);
    await using opened = await signedIn(TOKEN, "/settings?tab=keys", { expected: /401|422/ });
    const { page } = opened;
    await page.getByRole("heading", { name: "No access keys yet" }).waitFor();
    await page.getByText("Server token").waitFor();
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.getByText("Enter a name.").waitFor();
    await dialog.getByLabel("Name").fill("ci");
    await dialog.getByLabel("Role").selectOption("admin");
    await dialog.getByText("An admin cannot be limited").waitFor();
    await dialog.getByLabel("Role").selectOption("operator");
    await dialog.getByLabel("Search jobs").fill("shop");
    await dialog.getByLabel("Shop prices").check();
    await dialog.getByText("(1 job chosen)").waitFor();
    await dialog.getByLabel("Only these sites").fill("shop.example, other.example");
    await dialog.getByLabel("Only jobs with one of these tags").fill("big shop");
    await dialog.getByLabel("Requests per minute").fill("0");
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.locator(".field-error").waitFor();
    await dialog.getByLabel("Requests per minute").fill("120");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.getByText("Copy the key now.").waitFor();
    const secret = (await dialog.getByRole("region", { name: "Text to copy" }).innerText()).trim();
    assert.match(secret, /^orb_[\w-]{43}$/);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await dialog.getByRole("button", { name: "Copy the key" }).click();
    await dialog.getByText("Copied", { exact: true }).waitFor();
    assert.equal(await page.evaluate("navigator.clipboard.readText()"), secret);
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "I have copied it" }).click();
    await dialog.waitFor({ state: "hidden" });
    const row = rowOf(page, "ci");
    const words = await row.innerText();
    for (const word of ["Operator", "Shop prices", "shop.example, other.example", "big shop", "120 requests", "Never"])
      assert.ok(words.includes(word), `${word}: ${words}`);
    assert.ok(!((await page.evaluate("document.documentElement.outerHTML")) as string).includes(secret));
    await assertAccessible(page);
    await assertFits(page);

    const me = await call<{ jobs: string[]; tags: string[] }>("GET", "/keys/me", undefined, secret);
    assert.deepEqual([me.jobs, me.tags], [[job.id], ["big shop"]]);
    await row.getByRole("button", { name: "Revoke ci" }).click();
    await page.getByRole("dialog", { name: "Revoke ci?" }).getByRole("button", { name: "Revoke key" }).click();
    await page.getByText("The key ci is revoked").waitFor();
    await page.getByRole("heading", { name: "No access keys yet" }).waitFor();
    await page.getByText("Revoked", { exact: true }).click();
    await rowOf(page, "ci").waitFor();
    const refused = await fetch(`${server.url}/keys/me`, { headers: { authorization: `Bearer ${secret}` } });
    assert.equal(refused.status, 401);
  });

  it("changes a key: only what was changed, and the key itself stays", async () => {
    const { id, key } = await keyFor({
      name: "bot",
      role: "operator",
      tags: ["shop"],
      sites: ["shop.example"],
      requests_per_minute: 60,
      expires_at: "2090-01-31T12:00:00Z",
    });
    await using opened = await signedIn(TOKEN, "/settings?tab=keys");
    const { page } = opened;
    await rowOf(page, "bot").getByRole("button", { name: "Change bot" }).click();
    const dialog = page.getByRole("dialog", { name: "Change bot" });
    assert.equal(await dialog.getByLabel("Only these sites").inputValue(), "shop.example");
    assert.match(await dialog.getByLabel("Expires").innerText(), /^Unchanged: .*2090/);
    await assertAccessible(page);
    // Meanwhile somebody else changes another part of it.
    await call("PATCH", `/keys/${id}`, { tags: ["books"] });
    await dialog.getByLabel("Name").fill("bot 2");
    await dialog.getByLabel("Role").selectOption("viewer");
    await dialog.getByLabel("Only these sites").fill("");
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await page.getByText("The key bot 2 is changed").waitFor();
    await dialog.waitFor({ state: "hidden" });
    const words = await rowOf(page, "bot 2").innerText();
    for (const word of ["Viewer", "tags: books", "60 requests per minute"]) assert.ok(words.includes(word), words);
    const changed = await call<Record<string, unknown>>("GET", `/keys/${id}`);
    assert.deepEqual([changed["sites"], changed["expires_at"]], [null, "2090-01-31T12:00:00.000Z"]);
    assert.equal((await call<{ name: string }>("GET", "/keys/me", undefined, key)).name, "bot 2");
    // An admin has no limits: they end with the change.
    await rowOf(page, "bot 2").getByRole("button", { name: "Change bot 2" }).click();
    const again = page.getByRole("dialog", { name: "Change bot 2" });
    await again.getByLabel("Role").selectOption("admin");
    await again.getByLabel("Expires").selectOption("");
    await again.getByRole("button", { name: "Save changes" }).click();
    await again.waitFor({ state: "hidden" });
    const admin = await call<Record<string, unknown>>("GET", `/keys/${id}`);
    assert.deepEqual([admin["role"], admin["tags"], admin["expires_at"]], ["admin", null, null]);
    await assertFits(page);
    await call("DELETE", `/keys/${id}`);
  });

  it("shows who changed what, before and after, filtered, page by page, and as a file", async () => {
    const { key, id: keyId } = await keyFor({ name: "<b>eve</b>", role: "operator" });
    const body = {
      name: "Before",
      target_url: "https://a.example/",
      fields: { title: "h1" },
      headers: { "x-key": "s3cret" },
    };
    const { id } = await call<{ id: string }>("POST", "/jobs", body, key);
    await call("PATCH", `/jobs/${id}`, { name: "After", headers: { "x-key": "s3cret2" } }, key);
    for (let n = 0; n < 110; n += 1) await call("PATCH", `/jobs/${id}`, { tags: [`t${n}`] }, key);
    await using opened = await signedIn(TOKEN, "/settings?tab=audit");
    const { page } = opened;
    await rowOf(page, "Job updated").first().waitFor();
    await page.getByText("100 entries loaded, scroll for more").waitFor();
    await page.mouse.wheel(0, 100_000);
    await page.getByText(/^1\d\d entries$/).waitFor();
    await page.getByLabel("Who").fill("<b>eve</b>");
    await page.getByLabel("Object", { exact: true }).fill(id);
    await page.getByLabel("Action").fill("job.created");
    await page.getByText("1 entry").waitFor();
    await page.getByLabel("Action").fill("job");
    await page.waitForURL(/action=job(&|$)/);
    await page.reload();
    assert.equal(await page.getByLabel("Who").inputValue(), "<b>eve</b>");
    await page.getByText("100 entries loaded").waitFor();
    await page.getByLabel("Action").fill("job.created");
    await page.getByText("1 entry").waitFor();
    await page.getByLabel("Action").fill("job.updated");
    await page.getByText("100 entries loaded").waitFor();
    const exported = page.getByRole("link", { name: "Export as JSON lines" });
    const [download] = await Promise.all([page.waitForEvent("download"), exported.click()]);
    const lines = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\n");
    assert.equal(lines.length, 111, "all that match, not only what is shown");
    assert.equal(download.suggestedFilename(), "audit-log.jsonl");
    assert.ok(lines.every((line) => (JSON.parse(line) as { action: string }).action === "job.updated"));

    await page.goto(`${server.url}/settings?tab=audit&object_id=${id}&action=job.updated`);
    await page.getByText("100 entries loaded").waitFor();
    await page.mouse.wheel(0, 100_000);
    await page.getByText("111 entries").waitFor();
    await page.mouse.wheel(0, 100_000);
    await rowOf(page, "recipe.sealed").click();
    const drawer = page.getByRole("dialog", { name: "Job updated" });
    const change = drawer.getByRole("row").filter({ hasText: "name" });
    assert.match((await change.innerText()).replaceAll(/\s+/g, " "), /name Before After/);
    const shown = await drawer.innerText();
    assert.ok(shown.includes("<b>eve</b> (key)") && shown.includes(keyId) && shown.includes("127.0.0.1"), shown);
    assert.ok(shown.includes("***") && !shown.includes("s3cret"));
    await assertAccessible(page);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByLabel("Kind of caller").selectOption("schedule");
    await page.getByRole("heading", { name: "No matching entries" }).waitFor();
    await assertAccessible(page);
  });

  it("offers a viewer nothing that a viewer may not do, and says why", async () => {
    const job = { name: "Watched", target_url: "https://a.example/", fields: { title: "h1" } };
    const { id } = await call<{ id: string }>("POST", "/jobs", job);
    const run = await call<{ id: string }>("POST", `/jobs/${id}/runs`);
    const { key, id: keyId } = await keyFor({ name: "guest", role: "viewer" });
    await using opened = await signedIn(key, "/jobs", { expected: /40[13]/ });
    const { page } = opened;
    await page.getByText("Watched").first().waitFor();
    const me = page.locator(".signed-in");
    assert.match((await me.innerText()).replaceAll(/\s+/g, " "), /Signed in as guest Viewer/);
    const start = rowOf(page, "Watched").getByRole("button", { name: "Run now" });
    assert.equal(await start.isDisabled(), true);
    assert.equal(await start.getAttribute("title"), "Only for the role operator or admin. Your role is viewer.");
    await rowOf(page, "Watched").getByRole("button", { name: "More for Watched" }).click();
    assert.equal(await page.getByRole("menuitem", { name: "Delete" }).isDisabled(), true);
    assert.equal(await page.getByRole("menuitem", { name: "Versions" }).isDisabled(), false);
    await assertAccessible(page);
    await page.keyboard.press("Escape");
    const nav = page.getByRole("navigation", { name: "Main" });
    assert.equal(await nav.getByRole("link", { name: "Notifications" }).count(), 0);
    for (const path of [`/runs/${run.id}`, "/sites/a.example", "/settings?tab=sessions", "/queue?tab=items", "/new"]) {
      await page.goto(server.url + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await me.waitFor();
      for (const name of ["Pause", "Cancel", "Save", "Add session", "Add items", "Start crawl"])
        for (const button of await page.getByRole("button", { name, exact: true }).all())
          assert.equal(await button.isDisabled(), true, `${name} on ${path}`);
    }
    await page.goto(`${server.url}/settings?tab=keys`);
    await page.getByRole("tab", { name: "Health" }).waitFor();
    for (const name of ["Access keys", "Audit log"]) assert.equal(await page.getByRole("tab", { name }).count(), 0);
    // Who types the address is told in a sentence.
    await page.goto(`${server.url}/notifications`);
    await page.getByRole("heading", { name: "You may not see this page" }).waitFor();
    await page.getByText("Only for the role admin. Your role is viewer.").waitFor();
    assert.equal(await page.getByRole("button", { name: "Add channel" }).count(), 0);
    await assertAccessible(page);
    // Its rights change while it looks on.
    await call("PATCH", `/keys/${keyId}`, { role: "operator" });
    await page.goto(`${server.url}/jobs`);
    await page.locator(".signed-in").getByText("Operator").waitFor();
    assert.equal(await start.isDisabled(), false);
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("heading", { name: "Log in to Orbweaver" }).waitFor();
  });

  it("shows a limited key its runs and jobs, and leads nowhere else", async () => {
    const { key } = await keyFor({ name: "shop agent", role: "operator", tags: ["shop"] });
    await using opened = await signedIn(key, "/", { expected: /40[13]/ });
    const { page } = opened;
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    await page.getByText("Operator, limited").waitFor();
    await page.getByText("Reloads every 15 s").waitFor();
    const links = await page.getByRole("navigation", { name: "Main" }).getByRole("link").allInnerTexts();
    assert.deepEqual(links, ["Runs", "Workflows", "Jobs", "Schedules", "Settings"]);
    await page.goto(`${server.url}/sites`);
    await page.getByText("Not available: your key is limited to some jobs, sites or tags.").waitFor();
    await assertAccessible(page);
    await page.goto(`${server.url}/settings?tab=health`);
    await page.getByRole("tabpanel").getByText("Not available: your key is limited").waitFor();
    assert.equal(await page.getByText("A dependency of the server is not available.").count(), 0);
    await assertAccessible(page);
  });

  it("fits phones", async () => {
    await keyFor({ name: "phone", role: "viewer", sites: ["a-very-long-host-name.example-of-a-shop.test"] });
    for (const [tab, text] of [
      ["keys", "phone"],
      ["audit", "Key created"],
    ] as const) {
      await using opened = await signedIn(TOKEN, `/settings?tab=${tab}`, { phone: true });
      const { page } = opened;
      await page.getByRole("tabpanel").getByText(text).first().waitFor();
      await assertFits(page);
      await assertAccessible(page);
    }
  });
});
