import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { browserGate } from "../support/browser-kit.ts";
import { assertAccessible, assertFits, dashboardAndSite } from "./kit.ts";

const BOOKS = ["Webs of the world", "<img src=x onerror=alert(1)>", "Silk & knots"];

const SHOP = `<!doctype html><html><head><title>Books &lt;b&gt;</title></head><body>
<h1 id="top">All books</h1><nav><a href="/a">One</a><a href="/b">Two</a></nav>
<ol class="row">${BOOKS.map(
  (title, n) => `<li class="col-xs-6"><article class="product_pod css-1x2y3z">
  <h3><a href="/book/${n + 1}">${title.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</a></h3>
  <p class="price_color active">£${10 + n}.50</p></article></li>`,
).join("")}</ol><script>document.title = "changed"; parent.postMessage("evil", "*")</script></body></html>`;

const runIdIn = (page: Page) => new URL(page.url()).pathname.split("/").at(-1) ?? "";
const inFrame = (page: Page) => page.frameLocator("iframe[title='Page preview, without scripts']");

describe("the page for new runs", browserGate, () => {
  const here = dashboardAndSite({ "/": SHOP, "/a": "<h1>A</h1>", "/b": "<h1>B</h1>" });
  const recipeOf = async (id: string) =>
    (await here.dashboard.server.api.get(`/jobs/runs/${id}/recipe`)).json<{ recipe: Record<string, unknown> }>().recipe;

  it("starts a crawl, tells what is wrong where it is, and takes a run as the start of another", async () => {
    await using opened = await here.dashboard.show("/new", { expected: /422/ });
    const { page } = opened;
    const start = page.getByRole("button", { name: "Start crawl", exact: true });
    await page.getByLabel("URL", { exact: true }).fill(here.site.url("/"));
    await page.getByRole("button", { name: "More options" }).click();
    await page.getByLabel("Exclude").fill("/b\n[");
    await page.getByLabel("Depth").fill("-1");
    await assertAccessible(page);
    await start.click();
    const depth = page.getByLabel("Depth");
    await page.locator("[aria-invalid=true]").first().waitFor();
    assert.equal(await depth.getAttribute("aria-invalid"), "true");
    await depth.fill("1");
    await page.getByLabel("Exclude").fill("/b");
    assert.match(await page.getByLabel("Text to copy").innerText(), /async-scrape[^]*"max_depth": 1/);
    await start.click();
    await page.waitForURL(/\/runs\/[\w-]{36}$/);
    const id = runIdIn(page);
    const run = await here.dashboard.server.ended(id);
    assert.equal(run.status, "completed");
    await page.goto(`${here.dashboard.url}/new?from=${id}`);
    await page.getByLabel("Depth").waitFor();
    assert.equal(await page.getByLabel("URL", { exact: true }).inputValue(), here.site.url("/"));
    assert.equal(await page.getByLabel("Depth").inputValue(), "1");
    await page.getByText("1 set").or(page.getByText("More options")).first().waitFor();
  });

  it("asks for the page itself, what a browser does and headers, on every view of it, and keeps them for the next", async () => {
    const secret = "Bearer top-secret";
    await using opened = await here.dashboard.show("/new?kind=scrape", { expected: /422/ });
    const { page } = opened;
    await page.getByLabel("URL", { exact: true }).fill(here.site.url("/"));
    await page.getByLabel("Full page content").check();
    await page.getByLabel("Links", { exact: true }).check();
    await page.getByLabel("Screenshot", { exact: true }).check();
    await page.getByRole("button", { name: "More options" }).click();
    await page.getByLabel("Headers").fill(`Authorization: ${secret}`);
    await page.getByLabel("Emulate a phone").check();
    await page.getByRole("button", { name: "Add an action" }).click();
    await page.getByRole("button", { name: "Add an action" }).click();
    await page.getByLabel("Kind of action 1").selectOption("screenshot");
    const start = page.getByRole("button", { name: "Scrape page", exact: true });
    await start.click();
    await page.getByLabel("Selector of action 2").and(page.locator("[aria-invalid=true]")).waitFor();
    await page.getByLabel("Selector of action 2").fill("h1");
    await page.getByRole("button", { name: "Move action 2 up" }).click();
    await assertAccessible(page);
    const wishes = {
      document: { formats: ["markdown", "links", "screenshot"] },
      browser: { mobile: true, actions: [{ type: "click", selector: "h1" }, { type: "screenshot" }] },
    };
    const command = page.getByLabel("Text to copy");
    assert.match(await command.innerText(), /\/runs[^]*"Authorization": "Bearer top-secret"/);
    await page.getByText("orb", { exact: true }).click();
    assert.match(await command.innerText(), /orb scrape[^]*--header[^]*--rules -[^]*"mobile": true/);
    await page.getByText("JSON", { exact: true }).click();
    const { document, browser } = JSON.parse(await command.innerText()) as typeof wishes;
    assert.deepEqual({ document, browser }, wishes);
    await start.click();
    await page.waitForURL(/\/runs\/[\w-]{36}$/);
    const id = runIdIn(page);
    assert.equal((await here.dashboard.server.ended(id)).status, "completed");
    const sent = here.site.log.findLast(({ path }) => path === "/")?.headers;
    assert.equal(sent?.authorization, secret);
    assert.match(sent?.["user-agent"] ?? "", /Mobile/);
    // It stands nowhere that outlives the form.
    const kept = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])");
    assert.ok(!String(kept).includes("top-secret"));

    await page.goto(`${here.dashboard.url}/new?from=${id}`);
    await page.getByText("Not copied, because they are secret").waitFor();
    await page.getByText(/^authorization$/i).waitFor();
    assert.equal(await page.getByLabel("Links", { exact: true }).isChecked(), true);
    await page.getByText(/^\d set$/).waitFor();
    await page.getByRole("button", { name: "More options" }).click();
    assert.equal(await page.getByLabel("Selector of action 1").inputValue(), "h1");
    await page.getByText("JSON", { exact: true }).click();
    const again = JSON.parse(await command.innerText()) as Record<string, unknown>;
    assert.deepEqual(
      { document: again["document"], browser: again["browser"], headers: again["headers"] },
      { ...wishes, headers: undefined },
    );
    await using phone = await here.dashboard.show(`/new?from=${id}`, { phone: true, theme: "dark" });
    await phone.page.getByRole("button", { name: "More options" }).click();
    await phone.page.getByLabel("Selector of action 1").waitFor();
    await assertFits(phone.page);
    await assertAccessible(phone.page);
  });

  it("builds a list by clicking in the page, shows what is found, saves the job and runs it", async () => {
    await using opened = await here.dashboard.show("/new?kind=scrape&tab=playground", { expected: /422/ });
    const { page } = opened;
    await page.getByLabel("Sample page").fill(here.site.url("/"));
    await page.getByRole("button", { name: "Fetch page" }).click();
    await page.getByText("List of records").click();
    const frame = inFrame(page);
    await frame.getByText("£11.50").click();
    await page.getByLabel("Selector of field 1").waitFor();
    assert.equal(await page.getByLabel("Items").inputValue(), "article.product_pod");
    assert.equal(await page.getByLabel("Selector of field 1").inputValue(), "p.price_color");
    assert.equal(await page.getByLabel("Name of field 1").inputValue(), "price_color");
    assert.equal(await page.getByLabel("Type of field 1").inputValue(), "number");
    await page.getByLabel("Name of field 1").fill("price");
    await frame.getByText(BOOKS[1]!).click();
    await page.getByLabel("Selector of field 2").waitFor();
    await page.getByLabel("Name of field 2").fill("title");
    const records = page.getByRole("region", { name: "Records found" });
    await records.getByRole("cell", { name: BOOKS[1]!, exact: true }).waitFor();
    await records.getByRole("cell", { name: "12.5", exact: true }).waitFor();
    await page.getByText("3 records", { exact: true }).waitFor();
    await assertAccessible(page);
    // A mistake is told at its rule, and mended by typing.
    await page.getByLabel("Selector of field 2").fill("h3 :::");
    await page.locator(".rule [aria-invalid=true]").waitFor();
    await page.getByLabel("Selector of field 2").fill("h3 a");
    await page.getByText("in all 3 records").nth(1).waitFor();
    await page.getByRole("button", { name: "Save as job" }).click();
    const dialog = page.getByRole("dialog", { name: "Save as job" });
    await dialog.getByLabel("Name", { exact: true }).fill("Books");
    await dialog.getByLabel("Schedule").selectOption("custom");
    await dialog.getByLabel("Cron expression").fill("not a cron");
    await dialog.getByRole("button", { name: "Save and run now" }).click();
    await dialog.locator("[aria-invalid=true]").waitFor();
    await dialog.getByLabel("Schedule").selectOption("daily");
    assert.notEqual(await dialog.getByLabel("Time zone").inputValue(), "", "the browser's own");
    await dialog.getByLabel("Time zone").fill("Europe/Berlin");
    await dialog.getByLabel("Time", { exact: true }).fill("06:00");
    await dialog
      .getByRole("list", { name: "Next runs" })
      .getByText(/06:00 \(\+0[12]:00\)/)
      .nth(4)
      .waitFor();
    await dialog.getByRole("button", { name: "Save and run now" }).click();
    await page.waitForURL(/\/runs\/[\w-]{36}$/);
    const run = await here.dashboard.server.ended(runIdIn(page));
    assert.equal(run.status, "completed");
    const rows = (await here.dashboard.server.api.get(`/jobs/runs/${run.id}/results`)).json<{ data: unknown }[]>();
    assert.deepEqual(
      rows.map(({ data }) => data),
      BOOKS.map((title, n) => ({ price: 10.5 + n, title })),
    );
    const job = (await here.dashboard.server.api.get(`/jobs/${run.job_id}`)).json<JobView>();
    assert.deepEqual([job.name, job.schedule?.cron, job.items], ["Books", "0 6 * * *", { css: "article.product_pod" }]);
    await page.goto(`${here.dashboard.url}/new?job=${job.id}`);
    await page.getByLabel("Name", { exact: true }).fill("Books, again");
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.waitForURL("**/jobs");
    const changed = (await here.dashboard.server.api.get(`/jobs/${job.id}`)).json<JobView>();
    assert.deepEqual([changed.name, changed.fields, changed.items], ["Books, again", job.fields, job.items]);
  });

  it("begins once what is asked for many times, and saves one job though it could not be run at once", async () => {
    const { api } = here.dashboard.server;
    await using opened = await here.dashboard.show("/new?kind=scrape", { expected: /503|ERR_FAILED/ });
    const { page } = opened;
    const url = here.site.url("/a");
    const begun = async () => (await api.get(`/runs?q=${encodeURIComponent("/a")}&limit=50`)).json<RunView[]>().length;
    // The server does it, and the answer is lost on its way, once all presses were made.
    const pressed = Promise.withResolvers<void>();
    await page.route("**/runs", async (route) => {
      await route.fetch();
      await pressed.promise;
      await route.abort();
    });
    const field = page.getByLabel("URL", { exact: true });
    await field.fill(url);
    for (let press = 0; press < 3; press += 1) await field.press("Enter");
    pressed.resolve();
    await page.getByText("The server does not answer.").waitFor();
    assert.equal(await begun(), 1);
    await page.unroute("**/runs");
    await page.evaluate(`for (const press of [1, 2, 3])
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }))`);
    await page.waitForURL(/\/runs\/[\w-]{36}$/);
    assert.equal(await begun(), 1);
    await page.goBack();
    await field.fill(url);
    await page.getByRole("button", { name: "Save as job" }).click();
    const dialog = page.getByRole("dialog", { name: "Save as job" });
    await dialog.getByLabel("Name", { exact: true }).fill("Once");
    await page.route("**/jobs/*/runs", (route) =>
      route.fulfill({ status: 503, json: { detail: "Not at the moment." } }),
    );
    await dialog.getByRole("button", { name: "Save and run now" }).click();
    await dialog.getByText("Not at the moment.").waitFor();
    await page.unroute("**/jobs/*/runs");
    await dialog.getByLabel("Name", { exact: true }).fill("Once, and renamed");
    await dialog.getByRole("button", { name: "Save and run now" }).click();
    await page.waitForURL(/\/runs\/[\w-]{36}$/);
    const jobs = (await api.get("/jobs?q=Once")).json<JobView[]>();
    assert.deepEqual(
      jobs.map(({ name }) => name),
      ["Once, and renamed"],
    );
  });

  it("starts a crawl on a phone, which says why it waits, and is paused and cancelled there", async () => {
    const { api } = here.dashboard.server;
    const host = encodeURIComponent(new URL(here.site.url("/")).host);
    await api.post(`/sites/${host}/pause`);
    await using opened = await here.dashboard.show("/new", { phone: true });
    const { page } = opened;
    await page.getByLabel("URL", { exact: true }).fill(here.site.url("/"));
    await page.getByRole("button", { name: "Start crawl", exact: true }).click();
    await page.waitForURL(/\/runs\/[\w-]{36}$/);
    const id = runIdIn(page);
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Clone with changes" }).waitFor();
    await page.getByRole("menuitem", { name: "Copy link" }).waitFor();
    await assertFits(page);
    await assertAccessible(page);
    await page.keyboard.press("Escape");
    await page.goto(here.dashboard.url);
    const card = page.getByRole("table", { name: "Active runs" }).getByRole("row").nth(1);
    await card.getByText("0 done · 0 failed · waiting").waitFor();
    await card.getByText("Site paused: resume it to continue").waitFor();
    await assertFits(page);
    await card.getByRole("link").click();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Cancel run" }).click();
    await page.getByText("Cancelled", { exact: true }).first().waitFor();
    assert.equal((await here.dashboard.server.ended(id)).status, "cancelled");
    await api.post(`/sites/${host}/resume`);
  });

  it("does the same on a phone, one pane at a time", async () => {
    await using opened = await here.dashboard.show("/new?kind=scrape", { phone: true, theme: "dark", expected: /422/ });
    const { page } = opened;
    await page.getByLabel("URL", { exact: true }).fill(here.site.url("/"));
    await assertFits(page);
    await assertAccessible(page);
    await page.getByRole("tab", { name: "Playground" }).click();
    await page.getByRole("button", { name: "Fetch page" }).click();
    await inFrame(page).getByText("All books").click();
    await page.getByText("Added: #top").waitFor();
    await page.getByRole("tab", { name: "Fields" }).click();
    await page.locator(".rule-value").getByText("All books").waitFor();
    await assertFits(page);
    await assertAccessible(page);
    await page.getByRole("tab", { name: "Records" }).click();
    await page.getByRole("cell", { name: "All books" }).waitFor();
    await page.getByRole("button", { name: "Scrape page" }).click();
    await page.waitForURL(/\/runs\/[\w-]{36}$/);
    const run: RunView = await here.dashboard.server.ended(runIdIn(page));
    assert.equal(run.status, "completed");
    assert.deepEqual((await recipeOf(run.id))["fields"], { top: { css: "#top" } });
  });

  it("keeps what was typed while somebody looks elsewhere, but for secrets, until it is sent or discarded", async () => {
    await using opened = await here.dashboard.show("/new?kind=scrape");
    const { page } = opened;
    const url = page.getByLabel("URL", { exact: true });
    const restored = page.getByText(/^Draft restored\./);
    await url.fill(here.site.url("/a"));
    await page.getByRole("button", { name: "More options" }).click();
    await page.getByLabel("Headers").fill("X-Key: 4711-secret");
    await page.getByRole("link", { name: "Sites", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Sites" }).waitFor();
    await page.goBack();
    await page.getByText("Draft restored. Headers, cookies and possible passwords were not kept.").waitFor();
    assert.equal(await url.inputValue(), here.site.url("/a"));
    await page.getByRole("button", { name: "More options" }).click();
    assert.equal(await page.getByLabel("Headers").inputValue(), "");
    assert.ok(!((await page.evaluate("JSON.stringify([sessionStorage, localStorage])")) as string).includes("4711"));
    await assertAccessible(page);
    // An address that names a page is not filled in with what was typed for another one.
    await page.goto(`${here.dashboard.url}/new?kind=scrape&url=${encodeURIComponent(here.site.url("/b"))}`);
    assert.equal(await url.inputValue(), here.site.url("/b"));
    assert.equal(await restored.count(), 0);
    await page.goto(`${here.dashboard.url}/new`);
    await restored.waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    await restored.waitFor({ state: "detached" });
    assert.equal(await url.inputValue(), "");
    await page.reload();
    await url.waitFor();
    assert.equal(await restored.count(), 0);
    await url.fill(here.site.url("/a"));
    await page.reload();
    await restored.waitFor();
    await page.getByRole("button", { name: "Start crawl", exact: true }).click();
    await page.waitForURL(/\/runs\/[\w-]{36}/);
    await page.getByRole("link", { name: "New", exact: true }).click();
    await url.waitFor();
    assert.equal(await url.inputValue(), "");
    assert.equal(await restored.count(), 0);
  });

  it("opens the template that was chosen, by each one's link in the list and on its own page", async () => {
    const templates = (await here.dashboard.server.api.get("/workflows/templates")).json<{ name: string }[]>();
    assert.ok(templates.length >= 3);
    await using opened = await here.dashboard.show("/");
    const { page } = opened;
    const isChosen = async (name: string) => {
      await page.waitForURL(`**/new?kind=workflow&template=${name}`);
      assert.equal(await page.getByLabel("Template", { exact: true }).inputValue(), name);
    };
    for (const { name } of templates) {
      await page.goto(`${here.dashboard.url}/workflows?tab=templates`);
      await page.getByRole("link", { name: `Use ${name}`, exact: true }).click();
      await isChosen(name);
      await page.goto(`${here.dashboard.url}/workflows/templates/${name}`);
      await page.getByRole("link", { name: "Use", exact: true }).click();
      await isChosen(name);
      await page.reload();
      await isChosen(name);
    }
    await page.goto(`${here.dashboard.url}/new?kind=workflow&template=gone`);
    await page.getByText("There is no template “gone”. Choose another one.").waitFor();
  });

  it("fills in a template, and checks a definition while it is typed", async () => {
    await using opened = await here.dashboard.show("/new?kind=workflow", { expected: /422/ });
    const { page } = opened;
    await page.getByLabel("Template", { exact: true }).selectOption("article-dataset");
    const wrong = (name: string) => page.getByLabel(name).and(page.locator("[aria-invalid=true]"));
    await page.getByRole("button", { name: "Start workflow" }).click();
    await wrong("URL to crawl (required)").and(page.locator(":focus")).waitFor();
    await page.getByLabel("Maximum pages").fill("0");
    await page.getByRole("button", { name: "Start workflow" }).click();
    // Each mistake stands at its field, and stays there while another one is mended.
    await wrong("Maximum pages").waitFor();
    await wrong("URL to crawl (required)").waitFor();
    await page.getByLabel("Maximum pages").fill("2");
    await wrong("Maximum pages").waitFor({ state: "detached" });
    await wrong("URL to crawl (required)").waitFor();
    await page.getByLabel("URL to crawl (required)").fill(here.site.url("/"));
    await page.getByLabel("Min words").fill("0");
    await assertAccessible(page);
    await page.getByRole("button", { name: "Start workflow" }).click();
    await page.waitForURL(/\/workflows\/[\w-]{36}$/);
    const { workflow } = (await recipeOf(runIdIn(page))) as { workflow: { template: string; params: unknown } };
    assert.equal(workflow.template, "article-dataset");
    await here.dashboard.server.ended(runIdIn(page));
    await page.goto(`${here.dashboard.url}/new?kind=workflow`);
    await page.getByText("From a definition").click();
    const text = page.getByLabel("Definition", { exact: true });
    await text.fill("name: odd\nsteps:\n  - name: crawl\n    task_type: crawll\n");
    await page
      .getByText(/steps\[0\]/)
      .first()
      .waitFor();
    await text.fill(
      `name: fine\nsteps:\n  - name: crawl\n    task_type: crawl\n    params: {url: "${here.site.url("/a")}"}\n`,
    );
    await page.getByText("The definition is valid.").waitFor();
    await page.getByRole("button", { name: "Save as job" }).click();
    await page.getByLabel("Name", { exact: true }).and(page.locator(":focus")).waitFor();
    await page.keyboard.type("Fine, from YAML");
    await page.getByRole("button", { name: "Save and run now" }).click();
    await page.waitForURL(/\/workflows\/[\w-]{36}$/);
    assert.equal((await here.dashboard.server.ended(runIdIn(page))).status, "completed");
  });
});
