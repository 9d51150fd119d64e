import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { browserGate, html } from "../support/browser-kit.ts";
import { assertAccessible, assertFits, dashboardAndSite } from "./kit.ts";

const HOSTILE = "<img src=x onerror=alert(1)> & a name that goes on and on, as names of people who paste sometimes do";

describe("workflows", browserGate, () => {
  const here = dashboardAndSite();

  const call = (name: string, path: string, more: object = {}) => ({
    name,
    task_type: "webhook",
    params: { url: here.site.url(path) },
    max_retries: 0,
    ...more,
  });

  async function begin(name: string, steps: readonly object[], more: object = {}): Promise<string> {
    const answer = await here.dashboard.server.api.post("/workflows", { definition: { name, steps }, ...more });
    assert.equal(answer.status, 201, answer.text);
    return answer.json<{ id: string }>().id;
  }

  it("are watched while they fail, recovered from a chosen step, and watched until they complete", async () => {
    const held = Promise.withResolvers<void>();
    for (const path of ["/read", "/side", "/1", "/2", "/pack"]) here.site.on(path, html("<p>fine</p>"));
    here.site.on(
      "/check",
      (request, response) => void held.promise.then(() => html("<p>no</p>", 404)(request, response)),
    );
    const id = await begin("Nightly papers", [
      call("read", "/read"),
      call("side", "/side"),
      { ...call("each", "/${{ item }}", { dependencies: ["read"] }), for_each: [1, 2] },
      call("check", "/check", { dependencies: ["read"] }),
      call("pack", "/pack", { dependencies: ["check", "each"] }),
    ]);
    await using opened = await here.dashboard.show("/workflows");
    const { page } = opened;
    await page.getByRole("link", { name: "Nightly papers" }).click();
    await page.waitForURL(`**/workflows/${id}`);
    const drawing = page.getByRole("list", { name: "Steps" });
    await drawing.getByRole("button", { name: /^check.*Running/ }).waitFor();
    await drawing.getByRole("button", { name: /^each.*Completed.*2×/ }).waitFor();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    held.resolve();
    await drawing.getByRole("button", { name: /^check.*Failed.*404/ }).waitFor();
    await drawing.getByRole("button", { name: /^pack.*Skipped/ }).waitFor();
    await page.getByRole("button", { name: "Run again" }).waitFor();
    await assertAccessible(page);

    // By keys: the steps are buttons in the order in which they can be done.
    await drawing.getByRole("button", { name: /^read/ }).focus();
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    const panel = page.getByRole("complementary", { name: "Step check" });
    await panel.getByText("HTTP not found").first().waitFor();
    await panel.getByText("1 attempt").waitFor();
    await panel.getByRole("button", { name: "pack" }).waitFor();
    await assertAccessible(page);

    here.site.on("/check", html("<p>fine now</p>"));
    await panel.getByRole("button", { name: "Recover from here" }).click();
    const dialog = page.getByRole("dialog", { name: "Recover workflow" });
    assert.equal(await dialog.getByLabel("Repeat").inputValue(), "check");
    await dialog.getByText("2 steps will run again").waitFor();
    await dialog.getByText("check and pack").waitFor();
    await dialog.getByText("read, side and each").waitFor();
    await dialog.getByLabel("Repeat").selectOption("read");
    await dialog.getByText("4 steps will run again").waitFor();
    await dialog.getByLabel("Repeat").selectOption("check");
    await dialog.getByRole("button", { name: "Recover from check" }).click();
    await drawing.getByRole("button", { name: /^pack.*Completed/ }).waitFor();
    await page.getByRole("button", { name: "Run again" }).waitFor();
    await page.getByText("1 of 3 recoveries used").waitFor();
    // What had completed was not done again.
    const asked = (path: string) => here.site.log.filter((request) => request.path === path).length;
    assert.deepEqual([asked("/read"), asked("/check")], [1, 2]);

    await page.getByRole("tab", { name: "Timeline" }).click();
    const times = page.getByRole("list", { name: "Steps by time" });
    await times.getByRole("listitem").nth(4).waitFor();
    assert.equal(await times.getByRole("listitem").count(), 5);
    await assertAccessible(page);
    await page.getByRole("tab", { name: "Events" }).click();
    await page.getByRole("table", { name: "Events" }).getByText("Run recovering").waitFor();
    await page.getByRole("tab", { name: "Steps" }).click();
    await page.getByText("List", { exact: true }).click();
    await page.getByRole("table", { name: "Steps" }).getByRole("row").nth(5).getByText("check, each").waitFor();
    await page.getByRole("button", { name: "Run again" }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id) && url.pathname.startsWith("/workflows/"));
    await page.getByText("Rerun of").waitFor();
  });

  it("are run again under the name that they had", async () => {
    here.site.on("/again", html("<p>fine</p>"));
    const first = await begin("Definition of papers", [call("read", "/again")], { name: "Papers of today" });
    await here.dashboard.server.ended(first);
    await using opened = await here.dashboard.show(`/workflows/${first}`);
    const { page } = opened;
    await page.getByRole("heading", { level: 1, name: "Papers of today" }).waitFor();
    await page.getByRole("button", { name: "Run again" }).click();
    await page.waitForURL((url) => url.pathname.startsWith("/workflows/") && !url.pathname.endsWith(first));
    await page.getByRole("heading", { level: 1, name: "Papers of today" }).waitFor();
    await page.getByText(`Rerun of ${first.slice(0, 8)}`).waitFor();
    await page.getByRole("button", { name: /^read.*Completed/ }).waitFor();
  });

  it("fit a phone: they are started and paused there, and what they are called is text", async () => {
    const held = Promise.withResolvers<void>();
    here.site.on("/long", (request, response) => void held.promise.then(() => html("<p>fine</p>")(request, response)));
    const id = await begin(HOSTILE, [call("long", "/long"), call("end", "/end", { dependencies: ["long"] })], {
      start: false,
    });
    await using opened = await here.dashboard.show("/workflows?status=pending", { phone: true, theme: "dark" });
    const { page } = opened;
    await page.getByRole("link", { name: HOSTILE }).waitFor();
    await assertFits(page);
    await assertAccessible(page);
    await page.getByRole("link", { name: HOSTILE }).click();
    await page.waitForURL(`**/workflows/${id}`);
    await page.getByRole("button", { name: "Start" }).click();
    await here.site.hit("/long");
    await page.getByRole("button", { name: /^long.*Running/ }).click();
    await page.getByRole("dialog", { name: "long" }).getByText("Used by").waitFor();
    await assertAccessible(page);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    await assertFits(page);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Cancel workflow" }).click();
    await page.getByRole("button", { name: /^end.*Cancelled/ }).waitFor();
    held.resolve();
    assert.equal(await page.locator("img").count(), 0);
    await assertAccessible(page);
  });

  it("are recovered on a phone", async () => {
    here.site.on("/first", html("<p>fine</p>"));
    here.site.on("/second", html("<p>no</p>", 404));
    await begin("Pocket papers", [call("first", "/first"), call("second", "/second", { dependencies: ["first"] })]);
    await using opened = await here.dashboard.show("/workflows", { phone: true });
    const { page } = opened;
    await page.getByRole("link", { name: "Pocket papers" }).click();
    await page.getByRole("button", { name: /^second.*Failed/ }).waitFor();
    here.site.on("/second", html("<p>fine now</p>"));
    await page.getByRole("button", { name: "Recover", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Recover workflow" });
    await dialog.getByText("1 step will run again").waitFor();
    await assertFits(page);
    await assertAccessible(page);
    await dialog.getByRole("button", { name: /^Recover/ }).click();
    await page.getByRole("button", { name: /^second.*Completed/ }).waitFor();
    await assertFits(page);
  });

  it("have runs of their own, which lists leave out until they are asked for, and lanes with their names", async () => {
    here.site.on("/slow", html("<p>fine</p>"));
    const url = here.site.url("/slow");
    const { api } = here.dashboard.server;
    const host = encodeURIComponent(new URL(url).host);
    await api.post(`/sites/${host}/pause`);
    const id = await begin("Slow papers", [
      { name: "read it", task_type: "scrape", params: { url, strategy: "http" } },
    ]);
    await using opened = await here.dashboard.show("/runs?q=slow+papers");
    const { page } = opened;
    const rows = page.getByRole("table", { name: "Runs" }).getByRole("row");
    await rows.getByRole("link", { name: "Slow papers", exact: true }).waitFor();
    assert.equal(await rows.count(), 2);
    const cancelAll = async (sure: string) => {
      await page.getByRole("button", { name: "Bulk actions" }).click();
      await page.getByRole("menuitem", { name: "Cancel …" }).click();
      await page.getByRole("button", { name: sure }).waitFor();
      await page.keyboard.press("Escape");
    };
    await cancelAll("Cancel 1 run");
    await page.getByRole("switch", { name: "Runs of workflow steps" }).click();
    await page.waitForURL("**/runs?q=slow+papers&steps=true");
    await rows.getByRole("link", { name: /Slow papers: read it/ }).waitFor();
    await cancelAll("Cancel 2 runs");
    await assertAccessible(page);

    await page.goto(`${here.dashboard.url}/queue`);
    const lane = page.getByRole("row").filter({ hasText: "Slow papers › read it" });
    await lane.getByText("Waiting for the run it started").waitFor();
    await lane.getByText("none", { exact: true }).waitFor();
    await assertAccessible(page);
    await lane.getByRole("link").click();
    await page.waitForURL(`**/workflows/${id}?step=read%20it`);
    await api.post(`/sites/${host}/resume`);
    await page.getByRole("button", { name: /^read it.*Completed/ }).waitFor();
  });

  it("have templates, which are changed, checked, saved as versions and compared", async () => {
    await using opened = await here.dashboard.show("/workflows?tab=templates");
    const { page } = opened;
    const use = page.getByRole("link", { name: "Use price-monitor" });
    assert.equal(await use.getAttribute("href"), "/new?kind=workflow&template=price-monitor");
    await assertAccessible(page);
    await page.getByRole("link", { name: "Open price-monitor" }).click();
    await page.getByRole("table", { name: "Parameters" }).getByText("Pages to monitor").waitFor();
    await page
      .getByRole("list", { name: "Step graph" })
      .getByRole("button", { name: /^compare/ })
      .click();
    await assertAccessible(page);

    await page.getByRole("tab", { name: "Edit" }).click();
    const text = page.getByRole("textbox", { name: "Definition as JSON" });
    const save = page.getByRole("button", { name: "Save as a new version" });
    const definition = JSON.parse(await text.inputValue()) as { steps: { dependencies?: unknown[] }[] };
    await text.fill("{");
    await page.getByText("Invalid JSON").waitFor();
    const broken = structuredClone(definition);
    broken.steps[1]!.dependencies = ["nobody"];
    await text.fill(JSON.stringify(broken));
    await page.getByText("steps[1].dependencies[0]").waitFor();
    assert.equal(await save.isDisabled(), true);
    const better = { ...definition, description: "Looks at prices.", max_recovery_attempts: 5 };
    better.steps = [...definition.steps, { ...call("tell", "/tell"), dependencies: ["notify"] }];
    await text.fill(JSON.stringify(better));
    await page.getByText("The definition is valid.").waitFor();
    await page.getByText("step tell").waitFor();
    await assertAccessible(page);
    await save.click();
    await page.getByRole("table", { name: "Versions" }).getByText("Version 2").waitFor();

    await page.getByRole("tab", { name: "Versions" }).click();
    const changes = page.getByRole("list", { name: "Changes" });
    await changes.getByRole("listitem").nth(2).waitFor();
    assert.deepEqual(await changes.getByRole("listitem").allInnerTexts(), [
      "Added\nstep tell",
      "Changed\ndescription",
      "Changed\nmax recovery attempts",
    ]);
    const lines = page.getByRole("region", { name: "Lines that differ" });
    await lines.getByText('"name": "tell"').waitFor();
    await page
      .getByRole("button", { name: /unchanged lines/ })
      .first()
      .click();
    await assertAccessible(page);
    await page.getByLabel("To", { exact: true }).selectOption("1");
    await page.getByText("No differences.").waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    for (const tab of ["Structure", "JSON", "Versions", "Edit"]) {
      await page.getByRole("tab", { name: tab }).click();
      await assertFits(page);
    }
  });
});
