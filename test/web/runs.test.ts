import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../chaos/orb.ts";
import { Crawler } from "../jobs/crawler.ts";
import { plainUrl } from "../../web/src/logic/format.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { captchaWall, held, html, page as plain, status } from "../support/misbehaviours.ts";
import { assertAccessible, assertFits, Dashboard, holds } from "./kit.ts";

/** As a title, an address and a field it has to stay text. */
const HOSTILE = `<img src=x onerror="window.hurt=1">`;
/** Of so many of the newest runs the stream tells. */
const TOLD = 20;
const LONG = 10_000;

const linked = (title: string, links: readonly string[]): Route =>
  html(
    `<!doctype html><title>${title}</title><h1>${title}</h1>${links.map((path) => `<a href="${path}">${path}</a> `).join("")}`,
  );

describe("the pages of runs", browserGate, () => {
  let dashboard: Dashboard;
  let site: MisbehavingSite;
  let crawler: Crawler;
  let release = () => {};
  before(async () => {
    dashboard = await Dashboard.open();
    crawler = new Crawler(dashboard.server);
    const released = new Promise<void>((resolve) => (release = resolve));
    const escaped = HOSTILE.replaceAll("<", "&lt;");
    site = await MisbehavingSite.start({
      "/": linked("Start", ["/one", "/two", "/broken", "/late"]),
      "/one": linked(escaped, []),
      "/two": linked("Two", []),
      "/late": held(released, linked("Late", [])),
      "/broken": status(500),
      "/wall": captchaWall({ name: "solved", value: "yes" }, plain("Behind the wall")),
      "/quiet": plain("Quiet"),
    });
  });
  after(async () => {
    release();
    await dashboard[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const tab = (page: Page, name: string) => page.getByRole("tab", { name, exact: true }).click();

  it("shows a crawl from its beginning to its files, without a reload", async () => {
    await using opened = await dashboard.show("/runs");
    const { page } = opened;
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
    await assertAccessible(page);
    const id = await crawler.submit({ url: site.url("/"), max_depth: 2, retry_attempts: 0, strategy: "http" });
    const row = page.getByRole("row").filter({ hasText: "Running" });
    await row.waitFor();
    await row.getByRole("link").click();
    await page.waitForURL(`**/runs/${id}`);
    const isShown = (one: Page, name: string) => one.getByRole("tab", { name, exact: true, selected: true }).waitFor();
    await isShown(page, "Pages");
    await page.getByText(/4 of 5 known pages/).waitFor();
    await page.getByRole("button", { name: "Cancel", exact: true }).waitFor();
    release();
    await page.getByRole("main").getByText("Partial", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Cancel", exact: true }).waitFor({ state: "hidden" });
    // Nobody is taken away from what they read.
    await isShown(page, "Pages");
    await tab(page, "Events");
    await page.waitForURL(`**/runs/${id}?tab=events`);
    await page
      .getByText(/^Run partial|^Run ended|^Run completed/)
      .first()
      .waitFor();

    await page.getByRole("searchbox", { name: "Search events" }).fill("created");
    await page.getByRole("row").filter({ hasText: "Run created" }).click();
    await page.getByRole("dialog", { name: "Event" }).waitFor();
    await page.keyboard.press("Escape");

    await tab(page, "Pages");
    const tasks = await dashboard.server.api.get(`/jobs/runs/${id}/tasks`);
    const all = tasks.json<{ url: string; duration_ms: number }[]>();
    const slowest = all.toSorted((a, b) => b.duration_ms - a.duration_ms).map(({ url }) => url);
    await page.getByLabel("Order", { exact: true }).selectOption("slowest");
    await page
      .getByRole("row")
      .nth(1)
      .filter({ hasText: plainUrl(slowest[0]!) })
      .waitFor();
    await page
      .getByRole("row")
      .nth(all.length)
      .filter({ hasText: plainUrl(slowest.at(-1)!) })
      .waitFor();
    await page.getByRole("row").filter({ hasText: "/broken" }).click();
    const panel = page.getByRole("dialog", { name: "Page", exact: true });
    await panel.getByText(/^http server error$/i).waitFor();
    await assertAccessible(page);
    await page.keyboard.press("Escape");

    await tab(page, "Results");
    await page.getByRole("cell", { name: HOSTILE, exact: true }).waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Choose columns" }).click();
    await page.getByRole("menuitemcheckbox", { name: "title" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("columnheader", { name: "title" }).waitFor({ state: "hidden" });
    await page.getByText("Records", { exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get("as") === "records");
    await page.getByText(HOSTILE, { exact: true }).first().waitFor();
    assert.equal(await page.getByRole("button", { name: "Export as WARC" }).isDisabled(), true, "it has kept none");
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export as JSON", exact: true }).click(),
    ]);
    const records = JSON.parse(readFileSync(await file.path(), "utf8")) as { data: { title: string } }[];
    assert.deepEqual(records.map(({ data }) => data.title).toSorted(), [HOSTILE, "Late", "Start", "Two"]);
    assert.equal(await page.evaluate("window.hurt"), undefined);

    await tab(page, "Errors");
    await page.getByRole("heading", { name: /http server error/i }).waitFor();
    await assertAccessible(page);
    // A page that failed is shown with its attempts, also to whoever opens that address.
    await page.getByRole("link", { name: plainUrl(site.url("/broken")), exact: true }).click();
    await panel.getByText(/^http server error$/i).waitFor();
    await page.reload();
    await panel.getByText(/^http server error$/i).waitFor();
    const broken = new URL(page.url()).searchParams.get("task") ?? "";
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => !url.searchParams.has("task"));
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy link" }).click();
    assert.match(page.url(), /[?&]tab=/);
    const copied = () => page.evaluate("navigator.clipboard.readText()");
    await until(async () => (await copied()) === page.url(), "the link leads to what is seen");
    // It is none of those that are listed.
    await using shared = await dashboard.show(`/runs/${id}?tab=pages&status=completed&task=${broken}`, {
      expected: /404/,
    });
    await shared.page
      .getByRole("dialog", { name: "Page", exact: true })
      .getByText(/^http server error$/i)
      .waitFor();
    await shared.page.goto(`${dashboard.url}/runs/${id}?task=${id}`);
    await shared.page
      .getByRole("alert")
      .filter({ hasText: /has no task with the id/ })
      .waitFor();
    await isShown(shared.page, "Pages");
    site.on("/broken", linked("Mended", []));
    await page.getByRole("button", { name: "Retry these" }).click();
    await page.getByRole("main").getByText("Completed", { exact: true }).first().waitFor();
    await page.getByRole("heading", { name: "Nothing failed" }).waitFor();

    await using phone = await dashboard.show(`/runs/${id}`, { phone: true, theme: "dark" });
    await isShown(phone.page, "Results");
    for (const name of ["Results", "Pages", "Errors", "Events"]) {
      await tab(phone.page, name);
      await phone.page
        .getByRole("row")
        .or(phone.page.getByRole("heading", { name: "Nothing failed" }))
        .first()
        .waitFor();
      await assertFits(phone.page);
      await assertAccessible(phone.page);
      if (name !== "Results") continue;
      await phone.page.getByRole("button", { name: "Export", exact: true }).click();
      const [table] = await Promise.all([
        phone.page.waitForEvent("download"),
        phone.page.getByRole("menuitem", { name: "CSV", exact: true }).click(),
      ]);
      const lines = readFileSync(await table.path(), "utf8")
        .trim()
        .split("\r\n");
      assert.match(lines[0] ?? "", /^url,.*title/);
      assert.equal(lines.filter((line) => line.startsWith(site.url("/"))).length, 5);
    }
  });

  it("shows a page as a whole in a line and form by form, and nested values as lists and tables", async () => {
    const { server } = dashboard;
    const goods = ["Tea", "Honey"].map((name, n) => `<li class=row><b>${name}</b><i>${n + 4}</i></li>`);
    const escaped = HOSTILE.replaceAll("<", "&lt;");
    site.on(
      "/whole",
      html(
        `<!doctype html><title>${escaped}</title><main><h1>A shop</h1><p>${"Something to read. ".repeat(40)}</p>` +
          `<a href="/one">One</a><a href="javascript:alert(1)">odd</a><ul>${goods.join("")}</ul>` +
          `<img src="/x.png" onerror="parent.hurt=1"><script>parent.hurt = 1</script></main>`,
      ),
    );
    const run = await server.run({
      target_url: site.url("/whole"),
      strategy: "browser",
      fields: { names: { css: "b", all: true }, heading: { css: "h1" } },
      document: { formats: ["markdown", "html", "raw_html", "links", "images", "screenshot"] },
    });
    assert.equal(run.status, "completed", run.error_message ?? "");
    await using opened = await dashboard.show(`/runs/${run.id}?tab=results`);
    const { page } = opened;
    const cell = page.getByRole("cell").filter({ hasText: " · Markdown, HTML, Raw HTML, links, images, screenshot" });
    await cell.getByText(HOSTILE, { exact: true }).waitFor();
    await page.getByRole("cell", { name: "Tea, Honey", exact: true }).click();
    const panel = page.getByRole("dialog", { name: "Record" });
    const open = (name: string) => panel.getByRole("tab", { name, exact: true }).click();
    await panel.getByRole("listitem").filter({ hasText: "Honey" }).first().waitFor();
    await panel
      .getByRole("region", { name: "Markdown" })
      .getByText(/^# A shop/)
      .waitFor();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      panel.getByRole("button", { name: "Download" }).click(),
    ]);
    assert.match(file.suggestedFilename(), /whole\.md$/);
    assert.match(readFileSync(await file.path(), "utf8"), /^# A shop\n\nSomething to read\./);
    await assertAccessible(page);
    await open("HTML");
    await page.frameLocator("iframe.html-frame").getByRole("heading", { name: "A shop" }).waitFor();
    await open("Raw HTML");
    await page.frameLocator("iframe.html-frame").getByText("Honey").waitFor();
    await panel.getByText("Source", { exact: true }).click();
    await panel
      .getByRole("region", { name: "Raw HTML, source" })
      .getByText(/parent\.hurt = 1/)
      .waitFor();
    await open("Links");
    const link = panel.getByRole("link", { name: site.url("/one"), exact: true });
    assert.equal(await link.getAttribute("rel"), "noreferrer noopener");
    assert.equal(await panel.locator("a[href^='javascript']").count(), 0);
    await open("Images");
    await panel.getByText(site.url("/x.png"), { exact: true }).waitFor();
    await open("Screenshot");
    await holds(page, "document.querySelector('.document-picture img')?.naturalWidth > 100");
    await open("Metadata");
    await panel.getByText("status_code", { exact: true }).waitFor();
    await assertAccessible(page);
    assert.equal(await page.evaluate("window.hurt"), undefined);
    await using phone = await dashboard.show(`/runs/${run.id}?tab=results`, { phone: true, theme: "dark" });
    await phone.page.getByText("Records", { exact: true }).click();
    await phone.page.getByRole("region", { name: "Markdown" }).waitFor();
    await assertFits(phone.page);
    await assertAccessible(phone.page);
  });

  it("goes back from an open drawer to its tab, from there to the tab before, and only then to another page", async () => {
    const id = await crawler.submit({ url: site.url("/two"), max_depth: 0, strategy: "http" });
    await dashboard.server.ended(id);
    await using opened = await dashboard.show("/runs");
    const { page } = opened;
    await page.locator(`a[href="/runs/${id}"]`).click();
    const isTab = (name: string) => page.getByRole("tab", { name, exact: true, selected: true }).waitFor();
    const drawer = page.getByRole("dialog", { name: /^(?:Record|Page|Event)$/ });
    const openFirst = async () => {
      await page.getByRole("row").nth(1).click();
      await drawer.waitFor();
    };
    await isTab("Results");
    await openFirst();
    await page.goBack();
    await drawer.waitFor({ state: "hidden" });
    await isTab("Results");
    await tab(page, "Events");
    await openFirst();
    await page.goBack();
    await drawer.waitFor({ state: "hidden" });
    await isTab("Events");
    await page.goBack();
    await isTab("Results");
    await tab(page, "Pages");
    await openFirst();
    await page.goBack();
    await drawer.waitFor({ state: "hidden" });
    await isTab("Pages");
    // Closed by other means, it is not a step that Back would open again.
    await openFirst();
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "hidden" });
    await page.waitForURL(`**/runs/${id}?tab=pages`);
    await page.goBack();
    await isTab("Results");
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    // An address with an open drawer is closed where it is.
    await page.goForward();
    await openFirst();
    await page.reload();
    await drawer.waitFor();
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "hidden" });
    assert.equal(new URL(page.url()).pathname, `/runs/${id}`);
  });

  it("says why a crawl waits, and leads to the site that can be resumed", async () => {
    const name = new URL(site.url("/")).host;
    const pause = (verb: string) => dashboard.server.api.post(`/sites/${encodeURIComponent(name)}/${verb}`);
    assert.equal((await pause("pause")).status, 200);
    const id = await crawler.submit({ url: site.url("/quiet"), max_depth: 0, strategy: "http" });
    await using opened = await dashboard.show(`/runs/${id}`);
    const { page } = opened;
    const why = page.getByRole("status").filter({ hasText: "Site paused: resume it to continue." });
    await why.waitFor();
    await assertAccessible(page);
    // Who asks without the stream is told the same.
    const { waiting_for: waits } = (await dashboard.server.api.get(`/jobs/runs/${id}`)).json<RunView>();
    assert.deepEqual([waits?.reason, waits?.message.startsWith(`${name}: Site paused`)], ["site_paused", true]);
    await why.getByRole("link", { name }).click();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.goBack();
    await page.getByRole("main").getByText("Completed", { exact: true }).first().waitFor();
    await why.waitFor({ state: "hidden" });
  });

  it("shows how far a crawl was that is cancelled, and not that all of it is done", async () => {
    const name = encodeURIComponent(new URL(site.url("/")).host);
    assert.equal((await dashboard.server.api.post(`/sites/${name}/pause`)).status, 200);
    const id = await crawler.submit({ url: site.url("/quiet"), max_depth: 0, strategy: "http" });
    await using opened = await dashboard.show(`/runs/${id}`);
    const { page } = opened;
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: "Cancel run" }).click();
    await page.getByRole("main").getByText("Cancelled", { exact: true }).first().waitFor();
    await page.getByText("0 of 1 known pages", { exact: true }).waitFor();
    assert.equal(
      await page.getByRole("progressbar", { name: "Progress of this run" }).getAttribute("aria-valuenow"),
      "0",
    );
    assert.equal((await dashboard.server.api.post(`/sites/${name}/resume`)).status, 200);
  });

  it("shows a failure with its picture and its copy, and lets a person answer", async () => {
    const { id } = await dashboard.server.begin({ target_url: site.url("/wall"), strategy: "browser", name: HOSTILE });
    await dashboard.server.said(id, /^Waiting for a person/);
    const session = await dashboard.server.session({
      name: "A person's",
      origin: new URL(site.url("/")).origin,
      cookies: [{ name: "solved", value: "yes" }],
    } as never);
    for (const phone of [false, true]) {
      await using opened = await dashboard.show(`/runs/${id}`, { phone, theme: phone ? "dark" : "light" });
      const { page } = opened;
      await page.getByRole("heading", { level: 1, name: HOSTILE }).waitFor();
      await page.getByRole("heading", { name: "Waiting for you" }).waitFor();
      const picture = page.getByRole("img", { name: "Screenshot of the page" });
      await picture.scrollIntoViewIfNeeded();
      await holds(page, "document.querySelector('.evidence-picture img')?.naturalWidth > 100");
      await assertFits(page);
      await assertAccessible(page);
      if (phone) continue;
      await page.getByRole("button", { name: "Show saved HTML" }).click();
      await page
        .frameLocator("iframe.html-frame")
        .getByText(/not a robot/)
        .first()
        .waitFor();
      await page.keyboard.press("Escape");
      await page.getByLabel("Continue with session").selectOption(session.id);
      await page.getByRole("button", { name: "Continue", exact: true }).waitFor();
    }
    await using opened = await dashboard.show(`/runs/${id}`);
    const { page } = opened;
    await page.getByLabel("Continue with session").selectOption(session.id);
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    await page.getByRole("main").getByText("Completed", { exact: true }).first().waitFor();
    await page.getByRole("heading", { name: "Waiting for you" }).waitFor({ state: "hidden" });
  });

  it("shows what a browser saw of a crawl's pages that failed, also on a phone", async () => {
    site.on("/broken", status(500));
    const { id } = await crawler.crawl({ url: site.url("/"), max_depth: 1, retry_attempts: 0, strategy: "browser" });
    for (const phone of [false, true]) {
      await using opened = await dashboard.show(`/runs/${id}?tab=errors`, { phone, theme: phone ? "dark" : "light" });
      const { page } = opened;
      await page.getByRole("heading", { name: /http server error/i }).waitFor();
      await page.getByRole("img", { name: "Screenshot of the page" }).scrollIntoViewIfNeeded();
      await holds(page, "document.querySelector('.evidence-picture img')?.naturalWidth > 100");
      await assertFits(page);
      await assertAccessible(page);
      await page.getByRole("button", { name: "Show saved HTML" }).click();
      await page.frameLocator("iframe.html-frame").getByText("This is 500.").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Screenshot of the page" }).click();
      await page.getByRole("dialog", { name: "Screenshot of the page" }).getByRole("img").waitFor();
    }
  });

  it("shows all of a run's end, also when newer runs keep the stream from telling of it, and answers are slow", async () => {
    const { server } = dashboard;
    const elsewhere = "127.0.0.2:9";
    const gate = Promise.withResolvers<void>();
    site.on("/hub", linked("Hub", ["/one", "/two", "/kept"]));
    site.on("/kept", held(gate.promise, linked("Kept", [])));
    const id = await crawler.submit({ url: site.url("/hub"), max_depth: 1, retry_attempts: 10, strategy: "http" });
    await using pages = await dashboard.show(`/runs/${id}?tab=pages`);
    await pages.page.getByText(/^3 (?:pages done|of 4 known)/).waitFor();
    await pages.page.getByRole("row").filter({ hasText: "/kept" }).waitFor();
    const context = pages.page.context();
    await using results = await dashboard.show(`/runs/${id}?tab=results`, { context });
    await results.page.getByText("3 records", { exact: true }).waitFor();
    // What waits here for its turn is newer, and at work as far as the stream is concerned.
    await server.api.post(`/sites/${encodeURIComponent(elsewhere)}/pause`);
    const job = await server.job({ target_url: `http://${elsewhere}/`, name: "Newer" });
    await Promise.all(Array.from({ length: TOLD + 1 }, () => server.api.post(`/jobs/${job.id}/runs`)));
    const answered = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    await using events = await dashboard.show("/", { context });
    await events.page.route(`**/jobs/runs/${id}/events?**`, async (route) => {
      const response = await route.fetch();
      answered.resolve();
      await released.promise;
      await route.fulfill({ response });
    });
    await events.page.goto(`${dashboard.url}/runs/${id}?tab=events`);
    await answered.promise;
    gate.resolve();
    for (const { page } of [results, pages, events]) await page.getByText("4 pages", { exact: true }).first().waitFor();
    await results.page.getByText("4 records", { exact: true }).waitFor();
    await pages.page.getByRole("row").filter({ hasText: "/kept" }).filter({ hasText: "Completed" }).waitFor();
    released.resolve();
    await events.page.getByRole("row").filter({ hasText: "Run completed" }).waitFor();
    assert.equal((await server.api.post("/runs/bulk", { action: "cancel", filter: { q: "Newer" } })).status, 200);
  });

  it("draws few rows of a table of ten thousand, and asks once for what cannot be loaded", async () => {
    const { server } = dashboard;
    const items = Array.from({ length: LONG }, (_, number) => `<li><b>Thing ${number}</b></li>`);
    site.on("/list", html(`<h1>List</h1><ul>${items.join("")}</ul>`));
    const run = await server.run({
      target_url: site.url("/list"),
      strategy: "http",
      items: "li",
      fields: { name: "b" },
    });
    assert.equal(run.status, "completed");
    await using opened = await dashboard.show(`/runs/${run.id}?tab=pages`, { expected: /404/ });
    const { page } = opened;
    let refused = 0;
    await page.route(/results\?.*cursor=/, (route) => {
      refused += 1;
      return route.fulfill({ status: 404, json: { detail: "There is no such place." } });
    });
    await tab(page, "Results");
    const table = page.getByRole("table", { name: "Results" });
    await table.getByRole("cell", { name: "Thing 0", exact: true }).waitFor();
    const failed = page.getByRole("alert").filter({ hasText: "There is no such place." });
    await failed.waitFor();
    await page.waitForTimeout(300);
    assert.equal(refused, 1, "it is not asked again by itself");
    await assertAccessible(page);
    await page.unroute(/results\?.*cursor=/);
    await failed.getByRole("button", { name: "Try again" }).click();
    await failed.waitFor({ state: "hidden" });
    await page.keyboard.press("j");
    let most = 0;
    // Whoever jumps to the end of what is there gets more of it. While more comes, a jump may lead nowhere.
    const last = table.getByRole("cell", { name: `Thing ${LONG - 1}`, exact: true });
    while (!(await last.isVisible())) {
      await page.keyboard.press("End");
      most = Math.max(most, await table.getByRole("row").count());
      await page.waitForTimeout(50);
    }
    assert.equal(Number(await table.getAttribute("aria-rowcount")), LONG + 1);
    await page.keyboard.press("Home");
    await table.getByRole("cell", { name: "Thing 0", exact: true }).waitFor();
    most = Math.max(most, await table.getByRole("row").count());
    assert.ok(most < 100, `${most} rows are drawn`);
  });
});
