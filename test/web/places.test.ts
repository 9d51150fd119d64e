import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Schedule, Site } from "../../web/src/api/types.ts";
import { zonedTime } from "../../web/src/pages/schedules/schedules.ts";
import { browserGate, html } from "../support/browser-kit.ts";
import { assertAccessible, assertFits, dashboardAndSite, holds } from "./kit.ts";

const PAGE = "<p>This sentence is long enough to be taken for the content of a page.</p>";
const HOSTILE = "<img src=x onerror=alert(1)>";
const SECRETS = ["a-secret-of-the-webhook-0815", "a-key-that-nobody-may-see-4711"] as const;

describe("sites, schedules, the queue and settings", browserGate, () => {
  const here = dashboardAndSite({}, ({ origin }) => ({
    APP_ALERT_WEBHOOK_URL: `${origin}/hook/${SECRETS[0]}`,
    APP_SECRET_KEY: SECRETS[1],
  }));
  let name = "";
  before(() => {
    name = new URL(here.site.origin).host;
  });
  const siteNow = async () => (await here.dashboard.server.api.get(`/sites/${encodeURIComponent(name)}`)).json<Site>();

  it("changes a site's limit in the table: it holds at once, on the wire, too, and is taken back; then the site is paused", async () => {
    const links = [1, 2, 3, 4, 5, 6].map((number) => `/held/${number}`);
    here.site.on("/", html(PAGE + links.map((link) => `<a href="${link}">${link}</a>`).join("")));
    const release = Promise.withResolvers<void>();
    const three = Promise.withResolvers<void>();
    let atOnce = 0;
    for (const link of links)
      here.site.on(link, (request, response) => {
        atOnce += 1;
        if (atOnce === 3) three.resolve();
        void release.promise.then(() => html(PAGE)(request, response));
      });
    await here.dashboard.server.api.call("PUT", `/sites/${encodeURIComponent(name)}`, { max_concurrency: 1 });
    await here.dashboard.server.api.post("/scraping/async-scrape", { url: here.site.url("/"), max_depth: 1 });
    await here.site.hit(links[0]!);

    await using opened = await here.dashboard.show("/sites");
    const { page } = opened;
    const field = page.getByRole("textbox", { name: `Concurrency of ${name}` });
    await field.waitFor();
    await page
      .getByRole("row", { name: new RegExp(name) })
      .getByText("Active")
      .waitFor();
    assert.equal(await field.inputValue(), "1");
    assert.equal(atOnce, 1);
    await assertAccessible(page);
    await field.fill("many");
    await field.press("Enter");
    await page.getByRole("alert").getByText("Enter a number", { exact: true }).waitFor();
    await assertAccessible(page);
    await field.press("Escape");
    await page.getByText("Enter a number", { exact: true }).waitFor({ state: "detached" });
    assert.equal(await field.inputValue(), "1");
    assert.equal((await siteNow()).max_concurrency, 1);
    // Left before the answer is there: it is saved once.
    const saves: string[] = [];
    page.on("request", (request) => {
      if (request.method() !== "GET") saves.push(request.url());
    });
    await field.fill("3");
    await field.evaluate((input: { blur: () => void; dispatchEvent: (event: Event) => void }) => {
      input.dispatchEvent(Object.assign(new Event("keydown", { bubbles: true, cancelable: true }), { key: "Enter" }));
      input.blur();
    });
    await three.promise;
    assert.equal(saves.length, 1, saves.join(", "));
    assert.equal((await siteNow()).max_concurrency, 3);
    await page.getByText(`Concurrency of ${name}: 3`).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await holds(
      page,
      `document.querySelector('[aria-label=${JSON.stringify(`Concurrency of ${name}`)}]').value === "1"`,
    );
    assert.equal((await siteNow()).max_concurrency, 1);

    await page.getByRole("button", { name: `Actions for ${name}` }).click();
    await page.getByRole("menuitem", { name: "Pause" }).click();
    await page
      .getByRole("row", { name: new RegExp(name) })
      .getByText("Paused", { exact: true })
      .waitFor();
    assert.equal((await siteNow()).paused, true);
    await page.getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    assert.equal((await siteNow()).paused, false);
    release.resolve();
  });

  it("shows all about a site on a phone, and saves its settings", async () => {
    here.site.on("/robots.txt", "User-agent: *\nDisallow: /private\n");
    await using opened = await here.dashboard.show(`/sites/${encodeURIComponent(name)}`, {
      phone: true,
      theme: "dark",
      expected: /422/,
    });
    const { page } = opened;
    await page.getByRole("heading", { name: "Robots.txt" }).waitFor();
    await page.getByRole("textbox", { name: "Rate" }).fill("50");
    await page.getByRole("textbox", { name: "Waits for" }).fill(name);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(/→/).first().waitFor();
    await page.getByRole("textbox", { name: "Waits for" }).fill("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(`Saved. Applies to ${name} within a second.`).waitFor();
    assert.equal((await siteNow()).requests_per_second, 50);
    await page.getByRole("table", { name: "Runs of this site" }).waitFor();
    // Two figures that differ say what they count: requests of the last minutes, and pages in the end.
    for (const words of ["Error rate", "of requests, last 10 min, retries included", "0 failed permanently"])
      await page.getByText(words, { exact: true }).waitFor();
    await assertFits(page);
    await assertAccessible(page);
  });

  it("shows the next times of a schedule in its own time zone, pauses it, and takes a hostile name for text", async () => {
    const { api } = here.dashboard.server;
    const { id } = (
      await api.post("/jobs", {
        name: HOSTILE,
        target_url: here.site.url("/"),
        schedule: { cron: "0 9 * * 1-5", timezone: "Asia/Tokyo" },
      })
    ).json<{ id: string }>();
    const told = (await api.get(`/schedules/${id}`)).json<Schedule>();
    await using opened = await here.dashboard.show("/schedules");
    const { page } = opened;
    await page.getByText("On weekdays at 09:00").waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    await assertAccessible(page);
    await page.getByText(HOSTILE).first().click();
    const times = page.getByRole("list", { name: "Next runs" }).getByRole("listitem");
    await times.nth(4).waitFor();
    const shown = await times.allTextContents();
    assert.equal(shown.length, 5);
    for (const [index, at] of told.next_times.entries()) {
      assert.ok(shown[index]?.startsWith(zonedTime(at, "Asia/Tokyo")), `${shown[index]} is ${at}`);
      assert.match(shown[index] ?? "", /09:00/);
    }
    await assertAccessible(page);
    await page
      .getByRole("dialog")
      .getByRole("button", { name: `Pause ${HOSTILE}` })
      .click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: `Resume ${HOSTILE}` })
      .waitFor();
    assert.equal((await api.get(`/schedules/${id}`)).json<Schedule>().paused, true);
    // What is said of it can be pressed, though a dialog is open.
    await page.getByRole("button", { name: "Undo" }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: `Pause ${HOSTILE}` })
      .waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: `Run now: ${HOSTILE}` }).click();
    await page.getByRole("button", { name: "See the run" }).click();
    await page.getByRole("heading", { level: 1, name: HOSTILE }).waitFor();
    const [run] = (await api.get(`/jobs/${id}/runs`)).json<{ id: string }[]>();
    assert.equal(new URL(page.url()).pathname, `/runs/${run?.id}`);
    await using phone = await here.dashboard.show("/schedules", { phone: true });
    await phone.page.getByText("On weekdays at 09:00").waitFor();
    await assertFits(phone.page);
  });

  it("takes items and proxies that are pasted, says which lines are wrong, and tries failed items again", async () => {
    here.site.on("/gone", html(PAGE, 404));
    await using opened = await here.dashboard.show("/queue");
    const { page } = opened;
    await page.getByRole("button", { name: "Add items" }).click();
    const lines = page.getByRole("textbox", { name: "Items, one per line" });
    await lines.fill(`lost ${here.site.url("/gone")}\nno address at all`);
    await page.getByText("Line 2: expected a URL").waitFor();
    await lines.fill(`lost ${here.site.url("/gone")}`);
    // Text that is marked with the mouse may end beside the dialog; what would be lost is asked about.
    const { x, y } = (await lines.boundingBox())!;
    await page.mouse.move(x + 20, y + 12);
    await page.mouse.down();
    await page.mouse.move(4, y + 12, { steps: 3 });
    await page.mouse.up();
    assert.equal(await page.getByText("Your changes are not saved.").count(), 0);
    await page.mouse.click(4, y + 12);
    await page.getByRole("button", { name: "Keep editing" }).click();
    await page.keyboard.press("Escape");
    await page.getByText("Your changes are not saved.").waitFor();
    await page.getByRole("button", { name: "Add 1 item" }).click();
    await page.getByText("1 item added").waitFor();
    await page.getByRole("tab", { name: "Items" }).click();
    await page.getByText("HTTP not found").waitFor();
    await assertAccessible(page);
    here.site.on("/gone", html(PAGE));
    await page.getByRole("button", { name: "Retry 1 failed item" }).click();
    await page.getByText("Retrying 1 item").waitFor();

    await page.getByRole("link", { name: "Proxies", exact: true }).click();
    await page.getByRole("heading", { name: "No proxies yet" }).waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Import proxies" }).click();
    const proxies = page.getByRole("textbox", { name: "Proxies, one per line" });
    await proxies.fill("http://name:a-password-of-a-proxy@proxy.example:8080\nnonsense line");
    await page.getByRole("button", { name: "Import 2 proxies" }).click();
    await page.getByText(/^Line 1:/).waitFor();
    assert.equal(await proxies.inputValue(), "nonsense line", "what is in is not imported again");
    await page.getByRole("button", { name: "Import 1 proxy" }).waitFor();
    await page.getByRole("button", { name: "Close" }).last().click();
    await page.getByRole("table", { name: "Proxies" }).getByText("http://***@proxy.example:8080").waitFor();
    assert.ok(!(await page.content()).includes("a-password-of-a-proxy"));
    await assertAccessible(page);
  });

  it("limits a concurrency key, also where an old address calls it a resolver", async () => {
    const { api } = here.dashboard.server;
    await api.call("PUT", `/sites/${encodeURIComponent(name)}`, { paused: true });
    await api.post("/queue/items", { artifact_id: "keyed", url: here.site.url("/keyed"), resolver: "reports" });
    await using opened = await here.dashboard.show("/queue?tab=resolvers");
    const { page } = opened;
    await page.getByRole("tab", { name: "Concurrency keys", selected: true }).waitFor();
    const row = page.getByRole("table", { name: "Concurrency keys" }).getByRole("row").filter({ hasText: "reports" });
    await row.getByLabel("Limit of reports").fill("3");
    await page.keyboard.press("Enter");
    await page.getByText("reports: at most 3 at a time").waitFor();
    const { limit } = (await api.get("/queue/concurrency-keys/reports")).json<{ limit: number }>();
    assert.equal(limit, 3);
    await assertAccessible(page);
    await page.getByRole("tab", { name: "Items" }).click();
    await page.getByRole("columnheader", { name: "Concurrency key" }).waitFor();
    await page.getByRole("row").filter({ hasText: "keyed" }).getByText("reports").waitFor();
    await assertFits(page);
    await api.post(`/sites/${encodeURIComponent(name)}/resume`);
  });

  it("drains a worker and lets it work again", async () => {
    await using opened = await here.dashboard.show("/workers", { phone: true });
    const { page } = opened;
    await page.getByRole("button", { name: "Ping" }).click();
    await page.getByText(/answered in/).waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
    await page.getByRole("button", { name: "Drain" }).click();
    await page.getByText("Drained", { exact: true }).waitFor();
    await assertFits(page);
    await assertAccessible(page);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("Working", { exact: true }).last().waitFor();
  });

  it("shows the configuration and the health of every part, and no secret anywhere", async () => {
    await using opened = await here.dashboard.show("/settings");
    const { page } = opened;
    await page.getByText("Database", { exact: true }).first().waitFor();
    await page.getByText("OK", { exact: true }).first().waitFor();
    let seen = await page.content();
    for (const tab of ["Configuration", "Alerts", "Sessions", "This browser", "Health"]) {
      await page.getByRole("tab", { name: tab }).click();
      if (tab === "Configuration") {
        await page.getByRole("searchbox", { name: "Search settings" }).fill("alert webhook");
        const row = page.getByRole("row", { name: /APP_ALERT_WEBHOOK_URL/ });
        await row.getByText("Program").waitFor();
        assert.match((await row.textContent()) ?? "", /\*\*\*/);
        // The list is long: rows out of sight are not there.
        await page.getByRole("searchbox", { name: "Search settings" }).fill("secret_key");
        await page.getByText("APP_SECRET_KEY", { exact: true }).waitFor();
        await page.getByRole("searchbox", { name: "Search settings" }).fill("");
      }
      if (tab === "Alerts") {
        await page.getByRole("button", { name: "Send a test" }).click();
        await page.getByText("Test alert sent").waitFor();
        await page.getByRole("table", { name: "Alerts" }).waitFor();
      }
      await assertAccessible(page);
      seen += await page.content();
    }
    for (const secret of SECRETS) assert.ok(!seen.includes(secret), "a secret is shown");
    await using phone = await here.dashboard.show("/settings?tab=configuration", { phone: true, theme: "dark" });
    await phone.page.getByText("APP_DATA_DIR", { exact: true }).first().waitFor();
    await assertFits(phone.page);
    await assertAccessible(phone.page);
  });
});
