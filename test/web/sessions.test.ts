import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import type { SessionView } from "../../src/orchestrator/sessions.ts";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import { browserGate } from "../support/browser-kit.ts";
import { assertAccessible, assertFits, dashboardAndSite } from "./kit.ts";

const COOKIE = "cookie-Qp90-must-not-leak";
const PASSWORD = "password-Lm21-must-not-leak";
const TEXT = "Members read what others do not, in words that are long enough to be taken for an article.";

/** Only who has the cookie sees the page. */
const forMembers = (body: string) => (request: IncomingMessage, response: ServerResponse) => {
  if (request.headers.cookie?.includes(`sid=${COOKIE}`) !== true)
    return void response.writeHead(302, { location: `/login?next=${request.url ?? ""}` }).end();
  return void response.writeHead(200, { "content-type": "text/html" }).end(body);
};

const shownIn = (page: Page) => page.evaluate("document.documentElement.outerHTML") as Promise<string>;

describe("sessions and sign-ins in the dashboard", browserGate, () => {
  const links = [1, 2, 3, 4].map((n) => `<a href="/members/${n}">Page ${n}</a>`).join(" ");
  const here = dashboardAndSite({
    "/login": `<title>Sign in</title><form><label>Password <input type="password"></label></form>`,
    "/members": forMembers(`<title>Members</title><p>${TEXT}</p>${links}`),
    ...Object.fromEntries(
      [1, 2, 3, 4].map((n) => [`/members/${n}`, forMembers(`<title>Member page ${n}</title><p>${TEXT} ${n}</p>`)]),
    ),
  });

  it("a login page that came instead of the page is told: on the run, and in the playground with its status", async () => {
    const { server } = here.dashboard;
    const { id } = await server.begin({ target_url: here.site.url("/members"), strategy: "http" });
    await server.ended(id);
    await using opened = await here.dashboard.show(`/runs/${id}`);
    const { page } = opened;
    await page.getByText("The site redirected to /login, which asks for a password").waitFor();
    await page.getByText("redirected to http").waitFor();
    assert.ok((await page.locator(".run-stats").innerText()).includes("200"));
    await assertAccessible(page);
    await page.goto(`${here.dashboard.url}/new?kind=scrape&tab=playground`);
    await page.getByLabel("Sample page").fill(here.site.url("/members"));
    await page.getByRole("button", { name: "Fetch page" }).click();
    await page.getByText("HTTP 200").waitFor();
    await page.getByRole("alert").filter({ hasText: "which asks for a password" }).waitFor();
    await assertAccessible(page);
    await assertFits(page);
  });

  it("a session is added by pasting cookies, chosen for a crawl, and opens five pages behind the sign-in", async () => {
    const { server } = here.dashboard;
    await using opened = await here.dashboard.show("/settings?tab=sessions", { expected: /422/ });
    const { page } = opened;
    await page.getByText("No sessions yet").waitFor();
    await page.getByRole("button", { name: "Add session" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("members");
    await dialog.getByLabel("Site").fill(here.site.url("/members"));
    await dialog.getByLabel("Cookies").fill(COOKIE);
    await dialog.getByRole("button", { name: "Store session" }).click();
    await dialog.getByText("Expected cookies as JSON").waitFor();
    assert.equal(await dialog.getByLabel("Cookies").inputValue(), COOKIE, "what was typed is still there");
    await dialog.getByLabel("Cookies").fill(`sid=${COOKIE}; theme=dark`);
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "Store session" }).click();
    await page.getByText("The session members is stored").waitFor();
    await page.getByText("never used").waitFor();
    await page.getByText("Not used by any job").waitFor();
    assert.ok(!(await shownIn(page)).includes(COOKIE), "it is not shown again");

    await page.goto(`${here.dashboard.url}/new`);
    await page.getByLabel("URL", { exact: true }).fill(here.site.url("/members"));
    await page.getByRole("button", { name: "More options" }).click();
    const choice = page.getByLabel("Session", { exact: true });
    await choice.locator("option", { hasText: "members" }).waitFor({ state: "attached" });
    await choice.selectOption({ label: "members" });
    await page.getByRole("button", { name: "Start crawl", exact: true }).click();
    await page.waitForURL(/\/runs\/[\w-]{36}$/);
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    const run = await server.ended(id);
    assert.deepEqual([run.status, run.warnings], ["completed", []]);
    const titles = (await server.results(id)).map(({ data }) => data["title"]);
    assert.deepEqual(titles.toSorted(), [1, 2, 3, 4].map((n) => `Member page ${n}` as unknown).concat("Members"));

    const [session] = (await server.api.get("/sessions")).json<SessionView[]>();
    const without = await server.begin({ target_url: here.site.url("/members"), strategy: "http" });
    await server.ended(without.id);
    await page.goto(`${here.dashboard.url}/runs/${without.id}`);
    await page.getByRole("link", { name: "Run again with session members" }).click();
    const again = page.getByLabel("Session", { exact: true });
    await again.locator("option", { hasText: "members" }).waitFor({ state: "attached" });
    assert.equal(await again.inputValue(), session?.id);
    await page.goto(`${here.dashboard.url}/settings?tab=sessions&session=${session?.id}`);
    await page.locator("li[aria-current=true]", { hasText: "members" }).waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0, "nothing is added");
    await assertAccessible(page);

    await server.job({
      kind: "crawl",
      name: "All members",
      target_url: here.site.url("/members"),
      crawl: { session_id: "members" },
    });
    await page.goto(`${here.dashboard.url}/settings?tab=sessions`);
    await page.getByRole("link", { name: "All members" }).waitFor();
    await page.getByText("last used").waitFor();
    await using phone = await here.dashboard.show("/settings?tab=sessions", { phone: true, theme: "dark" });
    await phone.page.getByRole("link", { name: "All members" }).waitFor();
    await assertFits(phone.page);
    await page.getByRole("button", { name: "Delete session members" }).click();
    await page.getByText("All members.").waitFor();
    await page.getByRole("button", { name: "Delete session", exact: true }).click();
    await page.getByText("No sessions yet").waitFor();
    assert.equal((await server.api.get(`/sessions/${session?.id}`)).status, 404);
  });

  it("a password that a browser types is sealed: it stands neither in the job, nor in its run, nor in a form", async () => {
    const { server } = here.dashboard;
    await using opened = await here.dashboard.show("/new?kind=scrape");
    const { page } = opened;
    await page.getByLabel("URL", { exact: true }).fill(here.site.url("/login"));
    await page.getByRole("button", { name: "More options" }).click();
    await page.getByRole("button", { name: "Add an action" }).click();
    await page.getByLabel("Selector of action 1").fill("input");
    await page.getByRole("button", { name: "Add an action" }).click();
    await page.getByLabel("Kind of action 2").selectOption("write");
    await page.getByLabel("Secret").check();
    await page.getByLabel("Text of action 2").fill(PASSWORD);
    assert.equal(await page.getByLabel("Text of action 2").getAttribute("type"), "password");
    await page.getByRole("button", { name: "Save as job" }).click();
    await page.getByRole("button", { name: "Save job", exact: true }).click();
    await page.waitForURL(/\/jobs$/);
    const [job] = (await server.api.get("/jobs?limit=1")).json<JobView[]>();
    assert.deepEqual(job?.browser?.actions, [
      { type: "click", selector: "input" },
      { type: "write", text: "***", secret: true },
    ]);
    const { id } = await server.begin(job!.id);
    assert.equal((await server.ended(id)).status, "completed");
    await page.goto(`${here.dashboard.url}/runs/${id}?tab=configuration`);
    await page.getByText('"secret": true').waitFor();
    await page.getByText("Local user").waitFor();
    assert.ok(!(await shownIn(page)).includes(PASSWORD));
    await page.goto(`${here.dashboard.url}/new?job=${job!.id}`);
    await page.getByRole("button", { name: "More options" }).click();
    await page.getByPlaceholder("kept; type to replace it").waitFor();
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.waitForURL(/\/jobs$/);
    assert.equal((await server.run(job!.id)).status, "completed", "it was kept");
    assert.ok(!server.api.answered.some((text) => text.includes(PASSWORD)));
    assert.deepEqual(
      server.stored().filter(({ bytes }) => bytes.includes(PASSWORD)),
      [],
    );
  });

  it("two who change one job do not overwrite each other, and neither loses what was typed", async () => {
    const { server } = here.dashboard;
    const { id } = await server.job({ kind: "crawl", name: "Both", target_url: here.site.url("/members") });
    await using opened = await here.dashboard.show(`/new?job=${id}`, { expected: /409/ });
    const { page } = opened;
    await page.getByLabel("Depth").fill("3");
    const other = await server.api.call("PATCH", `/jobs/${id}`, { crawl: { max_pages: 50 } });
    assert.equal(other.status, 200, other.text);
    await page.getByRole("button", { name: "Save changes" }).click();
    const told = page.getByRole("alert").filter({ hasText: "This job was changed by someone else" });
    await told.waitFor();
    assert.match(await told.innerText(), /Pages: empty → 50/);
    assert.equal(await page.getByLabel("Depth").inputValue(), "3", "what was typed is still there");
    await assertAccessible(page);
    await page.getByRole("button", { name: "Keep both changes" }).click();
    assert.equal(await page.getByLabel("Maximum pages").inputValue(), "50");
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.waitForURL(/\/jobs$/);
    const job = (await server.api.get(`/jobs/${id}`)).json<JobView>();
    assert.deepEqual([job.crawl?.max_depth, job.crawl?.max_pages], [3, 50]);
  });

  it("two who change one site's settings do not, either", async () => {
    const { server } = here.dashboard;
    const site = encodeURIComponent(new URL(here.site.url("/")).host);
    await using opened = await here.dashboard.show(`/sites/${site}`, { expected: /409/ });
    const { page } = opened;
    await page.getByLabel("Concurrency").fill("2");
    await server.api.call("PATCH", `/sites/${site}`, { max_concurrency: 5 });
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("These settings were changed by someone else").waitFor();
    assert.equal(await page.getByLabel("Concurrency").inputValue(), "2");
    await page.getByRole("button", { name: "Apply my changes on top" }).click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(/^Saved. Applies to/).waitFor();
    const { max_concurrency: now } = (await server.api.get(`/sites/${site}`)).json<{ max_concurrency: number }>();
    assert.equal(now, 2);
  });
});
