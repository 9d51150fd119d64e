import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Locator, Page } from "playwright-core";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { LiveViewer, SQUARES, walledSite } from "../jobs/live-viewer.ts";
import { browserGate, type TestSite } from "../support/browser-kit.ts";
import { assertAccessible, assertFits, Dashboard } from "./kit.ts";

const SECRET = "hunter2-must-not-leak";

const FORM = `<!doctype html><title>Sign in</title><style>body { margin: 0 } input, button { position: absolute; left: 440px; width: 400px; height: 80px; font-size: 30px }</style>
  <form><input id="name" style="top:100px"><input type="password" id="password" style="top:260px"><button id="go" style="top:420px">Sign in</button></form>
  <script>document.querySelector("form").onsubmit = (event) => {
    event.preventDefault();
    const [name, password] = ["name", "password"].map((id) => document.getElementById(id).value);
    document.cookie = "sid=1; path=/";
    fetch("/in?" + encodeURIComponent(name) + "&" + password.length);
  }</script>`;

/** Where a point of the page is on the picture, as a position within it. */
async function onPicture(picture: Locator, { x, y }: { x: number; y: number }, page = { width: 1280, height: 720 }) {
  const box = await picture.boundingBox();
  assert.ok(box !== null);
  return { x: (x / page.width) * box.width, y: (y / page.height) * box.height };
}

describe("the live view in the dashboard", browserGate, () => {
  let dashboard: Dashboard;
  let site: TestSite;
  before(async () => {
    site = await walledSite({ "/login": FORM });
    dashboard = await Dashboard.open({ APP_BROWSER_MAX_PAGES: "4" });
  });
  after(async () => {
    await dashboard[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const pictureOf = async (page: Page, title: string) => {
    await page.getByRole("img", { name: `Picture of the page: ${title}` }).waitFor();
    await page.locator("canvas[data-frame]").waitFor();
    return page.locator("canvas");
  };

  it("a challenge is solved by hand with three clicks, the run goes on and completes, and its session is reused", async () => {
    const { server } = dashboard;
    const { id } = await server.begin({ target_url: site.url("/"), strategy: "browser" });
    await server.said(id, /^Waiting for a person/);
    await using opened = await dashboard.show(`/runs/${id}`);
    const { page } = opened;
    await page.getByRole("button", { name: "Open live view" }).click();
    const picture = await pictureOf(page, "Verify you are human");
    await page.getByText("You control the page").waitFor();
    await assertAccessible(page);
    await assertFits(page);
    for (const square of SQUARES) {
      await picture.click({ position: await onPicture(picture, square) });
      await site.hit(`/clicked/${square.name}`);
    }
    await site.hit("/seen");
    const frames = await page.locator("iframe, img[src^='http']").count();
    assert.equal(frames, 0, "the page is a picture, and nothing else");
    await page.getByLabel("Name of the session").fill("by hand");
    await page.getByRole("button", { name: "Done: continue the run" }).click();
    await page.getByText("The run continues with the new session").waitFor();
    const run = await server.ended(id);
    assert.deepEqual([run.status, run.stats["title"]], ["completed", "Behind the wall"]);
    const again: RunView = await server.run({ target_url: site.url("/"), strategy: "http", session_id: "by hand" });
    assert.deepEqual([again.status, again.stats["title"]], ["completed", "Behind the wall"]);
    assert.deepEqual((await server.api.get("/live-views")).json(), []);
  });

  it("the demo's challenge page lets a person in after three clicks, and no crawl is led there [slow]", async () => {
    const { server } = dashboard;
    const demo = (await server.api.post("/demo-site")).json<{ url: string }>();
    const corners = await (await fetch(new URL("/corners", demo.url))).text();
    assert.match(corners, /<a href="\/back-room" rel="nofollow">/);
    const { id } = await server.begin({ target_url: new URL("/back-room", demo.url).href });
    await server.said(id, /^Waiting for a person/);
    await using opened = await dashboard.show(`/runs/${id}`);
    const { page } = opened;
    await page.getByRole("button", { name: "Open live view" }).click();
    const picture = await pictureOf(page, "Verify you are human");
    await page.getByText("You control the page").waitFor();
    for (const x of [70, 190, 310]) await picture.click({ position: await onPicture(picture, { x, y: 310 }) });
    await pictureOf(page, "The back room");
    await page.getByRole("button", { name: "Done: continue the run" }).click();
    await page.getByText("The run continues with the new session").waitFor();
    const run = await server.ended(id);
    assert.deepEqual([run.status, run.stats["title"]], ["completed", "The back room · Thread & Page"]);
  });

  it("on a phone taps hit what they touch, two see the same page, and control is taken", async () => {
    const { server } = dashboard;
    const { id } = await server.begin({ target_url: site.url("/"), strategy: "browser" });
    await server.said(id, /^Waiting for a person/);
    const answer = await server.api.post("/live-views", { run_id: id });
    const view = answer.json<{ id: string }>();
    await using other = await LiveViewer.connect(server.api.url, view.id);
    await other.until(() => other.state?.controls === true, "the other controls it");
    await using opened = await dashboard.show(`/live-views/${view.id}`, { phone: true });
    const { page } = opened;
    const picture = await pictureOf(page, "Verify you are human");
    await page.getByText("You watch.").waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole("button", { name: /^Take control/ }).tap();
    await page.getByText("You control the page").waitFor();
    await other.until(() => other.state?.controls === false, "the other watches");
    const before = site.log.length;
    for (const square of SQUARES) {
      const count = () => site.log.slice(before).filter(({ path }) => path === `/clicked/${square.name}`).length;
      const seen = other.frames.length;
      await picture.tap({ position: await onPicture(picture, square) });
      // The button is disabled on the picture once it was hit.
      await other.until(() => other.frames.length > seen && count() === 1, `square ${square.name}`);
    }
    await page.getByRole("button", { name: "Close without saving" }).tap();
    await page.waitForURL(`**/runs/${id}`);
    await other.untilClosed();
    assert.equal(other.end, "closed");
    await server.api.post(`/jobs/runs/${id}/resolve`, { skip: true });
    await server.ended(id);
  });

  it("a person signs in by hand, with keys and pasted text, and what they did is shown without the password", async () => {
    const { server } = dashboard;
    await using opened = await dashboard.show("/settings?tab=sessions");
    const { page } = opened;
    await page.getByRole("button", { name: "Sign in by hand" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Sign-in page").fill(site.url("/login"));
    await dialog.getByLabel("Record what I do as browser actions").check();
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "Open live view" }).click();
    await page.waitForURL("**/live-views/*");
    const picture = await pictureOf(page, "Sign in");
    await page.getByText("You control the page").waitFor();
    await picture.click({ position: await onPicture(picture, { x: 500, y: 140 }) });
    await page.keyboard.type("ada");
    await page.keyboard.press("Shift+Home");
    await page.keyboard.press("Delete");
    // What a clipboard does.
    await page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", "ada@example.com");
      document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }`);
    await picture.click({ position: await onPicture(picture, { x: 500, y: 300 }) });
    await page.keyboard.type(SECRET);
    await picture.click({ position: await onPicture(picture, { x: 500, y: 460 }) });
    await site.hit(`/in?${encodeURIComponent("ada@example.com")}&${SECRET.length}`);
    await page.getByText("Recorded actions (4)").waitFor();
    await page.keyboard.press("Shift+Escape");
    await page.getByLabel("Name of the session").fill("ada");
    await page.getByRole("button", { name: "Save session" }).click();
    await page.getByRole("heading", { name: "Recorded actions" }).waitFor();
    await page.getByText("#password").first().waitFor();
    await assertAccessible(page);
    const shown = (await page.evaluate("document.documentElement.outerHTML")) as string;
    assert.ok(shown.includes("ada@example.com") && !shown.includes(SECRET));
    const [session] = (await server.api.get("/sessions")).json<{ name: string; holds: string[] }[]>();
    assert.deepEqual([session?.name, session?.holds], ["ada", ["cookies"]]);
    assert.ok(!server.api.answered.some((text) => text.includes(SECRET)));
    assert.deepEqual(
      server.stored().filter(({ bytes }) => bytes.includes(SECRET)),
      [],
    );
  });

  it("a dialog of the page is answered, a lost view says so, and reconnecting goes by itself", async () => {
    const { server } = dashboard;
    site.on(
      "/ask",
      `<title>Ask</title><body style="height:100vh;margin:0" onclick="fetch('/said?' + confirm('Delete all?'))">`,
    );
    const view = (await server.api.post("/live-views", { url: site.url("/ask") })).json<{ id: string }>();
    await using opened = await dashboard.show(`/live-views/${view.id}`, { expected: /WebSocket|404/ });
    const { page } = opened;
    const picture = await pictureOf(page, "Ask");
    await page.getByText("You control the page").waitFor();
    await picture.click({ position: await onPicture(picture, { x: 100, y: 100 }) });
    const asked = page.getByRole("alertdialog", { name: "The page asks" });
    await asked.getByText("Delete all?").waitFor();
    await assertAccessible(page);
    await asked.getByRole("button", { name: "Cancel" }).click();
    await site.hit("/said?false");
    await asked.waitFor({ state: "detached" });
    await server.api.call("DELETE", `/live-views/${view.id}`);
    await page.getByText("The live view was closed").waitFor();
    await page.goto(`${dashboard.url}/live-views/${view.id}`);
    await page.getByText("no open live view").waitFor();
  });
});
