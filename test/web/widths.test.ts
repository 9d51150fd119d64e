import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { browserGate, html, type TestSite, webSite } from "../support/browser-kit.ts";
import { queueWords } from "../../web/src/logic/overview.ts";
import { lookOf } from "../../web/src/logic/states.ts";
import { assertAccessible, Dashboard } from "./kit.ts";

/** Phones, small and usual laptops, large screens; 640 with two pixels each is 1280 at a zoom of 200 %. */
const SCREENS = [
  { width: 390, scale: 1 },
  { width: 640, scale: 2 },
  { width: 1024, scale: 1 },
  { width: 1280, scale: 1 },
  { width: 1440, scale: 1 },
  { width: 1920, scale: 1 },
];
/** Names a folder in which a picture of every page at every width is left. */
const PICTURES = process.env["ORB_TEST_PICTURES"] ?? "";

const LONG_NAME =
  "Prices and stock of every office chair, desk and lamp of the northern warehouses, compared each morning";
const LONG_WORD = "donaudampfschifffahrtsgesellschaftskapitaenskajuetenschluesselloch";
const LONG_HOST = `images-of-the-northern-warehouses.${"eu-central-content-delivery.".repeat(2)}some-shop-with-a-long-name.example`;
/** Said while nothing that waits may begin, which lasts for a moment only. */
const [LONGEST_QUEUE_WORDS] = queueWords({ queued: 2, oldest_queued_at: null, retrying: 0 }, 0);
const STEPS = ["read the list of all categories", "fetch each product page", `export ${LONG_WORD}`, "tell the team"];

describe("every page of the dashboard, on screens of every width", browserGate, () => {
  let dashboard: Dashboard;
  let site: TestSite;
  let other: TestSite;
  const release = Promise.withResolvers<void>();
  const ids = { crawl: "", held: "", page: "", flow: "" };

  before(async () => {
    [site, other] = [await webSite(), await webSite({}, "127.0.0.1")];
    dashboard = await Dashboard.open({ APP_ALERT_WEBHOOK_URL: site.url("/no-such-receiver/of-alerts") });
    await fill();
  });
  after(async () => {
    release.resolve();
    await dashboard[Symbol.asyncDispose]();
    await Promise.all([site, other].map((one) => one[Symbol.asyncDispose]()));
  });

  const pathOf = (number: number) =>
    `/catalogue/office-furniture/${LONG_WORD}/chairs-with-arms-and-wheels-in-all-colours/item.html?sort=price-ascending&variant=${number}`;

  async function fill(): Promise<void> {
    const { server } = dashboard;
    const { api } = server;
    const send = async (method: "POST" | "PUT" | "PATCH", path: string, body: unknown = {}) => {
      const answer = await api.call(method, path, body as never);
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
      return answer.json<{ id: string; task_id: string }>();
    };
    const words = "These words are many enough to be taken for what the page has to say to its readers. ".repeat(3);
    for (let number = 0; number < 30; number += 1)
      site.on(
        pathOf(number),
        number % 4 === 3
          ? html("<p>The machine that answers for this shelf is out of order.</p>", 500)
          : html(
              `<title>${LONG_NAME}, number ${number}</title><h1>${LONG_NAME}, number ${number}</h1><p class="price">€ ${number},99</p><p class="more">${LONG_WORD.repeat(3)}</p><p>${words}</p>`,
            ),
      );
    other.on("/", html(`<title>Another site</title><p>${words}</p>`));
    const links = Array.from({ length: 30 }, (_, number) => `<a href="${pathOf(number)}">${number}</a>`).join("");
    site.on("/", html(`<p>${words}</p>${links}<a href="${other.url("/")}">other</a>`));
    site.on("/held", (request, response) => void release.promise.then(() => html(words)(request, response)));
    const fields = {
      title: "h1",
      price: ".price",
      description: ".more",
      [`${LONG_WORD}_of_the_product`]: "p",
      availability_in_the_warehouse: "h1",
    };
    ids.crawl = (
      await send("POST", "/scraping/async-scrape", {
        url: site.url("/"),
        max_depth: 1,
        same_site: false,
        retry_attempts: 0,
        strategy: "http",
        fields,
      })
    ).task_id;
    await server.ended(ids.crawl);
    ids.page = (
      await server.run({ target_url: site.url(pathOf(1)), name: LONG_NAME, strategy: "http", fields } as never)
    ).id;
    ids.held = (
      await server.begin({ target_url: site.url("/held"), name: `${LONG_NAME}, held`, strategy: "http" } as never)
    ).id;
    await site.hit("/held");

    await send("PATCH", `/sites/${LONG_HOST}`, {
      group: `warehouses-of-${LONG_WORD}`.slice(0, 60),
      max_concurrency: 64,
      requests_per_second: 12.5,
      min_delay_ms: 12_000,
    });
    await send("POST", `/sites/${LONG_HOST}/pause`);
    await send("POST", "/proxies", {
      proxies: [
        `http://customer-4711:a-password@gateway-of-the-northern-proxies.${LONG_WORD}.example:18080`,
        "socks5://south.proxies.example:1080",
      ],
    });
    await send("POST", "/queue/items", {
      items: Array.from({ length: 8 }, (_, number) => ({
        artifact_id: `report-of-${LONG_WORD}-${2000 + number}`,
        url: site.url(number === 0 ? "/held" : `/none${pathOf(number)}`),
        concurrency_key: "reports-of-the-northern-warehouses",
      })),
    });
    await send("PUT", "/queue/concurrency-keys/reports-of-the-northern-warehouses", { limit: 3 });
    for (const [number, cron] of ["0 9 * * 1-5", "*/15 6-22 1,15 * *", null].entries())
      await server.job({
        name: `${LONG_NAME}, edition ${number}`,
        target_url: site.url(pathOf(number)),
        ...(cron === null ? {} : { schedule: { cron, timezone: "America/Argentina/Buenos_Aires" } }),
      } as never);
    await server.session({
      name: `Log-in of ${LONG_NAME}`,
      origin: site.origin,
      cookies: [{ name: "a", value: "b" }],
    } as never);
    const step = (index: number, more: object = {}) => ({
      name: STEPS[index],
      task_type: "webhook",
      params: { url: site.url(index === 2 ? `/none${pathOf(2)}` : "/") },
      max_retries: 0,
      ...(index === 0 ? {} : { dependencies: [STEPS[index - 1]] }),
      ...more,
    });
    const definition = {
      name: LONG_NAME,
      description: `${LONG_NAME}. ${words}`,
      params: {
        type: "object",
        properties: {
          [`address_of_the_${LONG_WORD}`]: {
            type: "string",
            format: "uri",
            default: site.url(pathOf(1)),
            description: words,
          },
          pages: { type: "integer", default: 5, description: "How many." },
        },
      },
      steps: [step(0), step(1, { for_each: ["", ""] }), step(2), step(3)],
    };
    await send("PUT", "/workflows/templates/compare-prices-of-the-northern-warehouses-each-morning", { definition });
    await send("PUT", "/workflows/templates/compare-prices-of-the-northern-warehouses-each-morning", {
      definition: { ...definition, steps: definition.steps.slice(0, 3) },
    });
    ids.flow = (await send("POST", "/workflows", { definition })).id;
    await server.ended(ids.flow);
    await send("POST", "/alerts/test");
  }

  /** A page's name, its address, and what to do before it is looked at. */
  function pages(): { path: string; prepare?: (page: Page) => Promise<unknown> }[] {
    const tabs = (path: string, names: readonly string[]) => names.map((name) => ({ path: `${path}?tab=${name}` }));
    const template = "/workflows/templates/compare-prices-of-the-northern-warehouses-each-morning";
    const drawer = (page: Page) => page.locator("dialog[open] .dialog-body").waitFor();
    // The longest state of a site, which none of these has.
    const showCircuitOpen = async (page: Page) => {
      await page.locator(".table-body .badge").first().waitFor();
      const text = JSON.stringify(lookOf("blocked").word);
      await page.evaluate(`document.querySelector(".table-body .badge").lastChild.textContent = ${text}`);
    };
    return [
      { path: "/", prepare: (page) => page.getByRole("table", { name: "Active runs" }).waitFor() },
      {
        path: "/?queue=paused",
        prepare: async (page) => {
          await page.locator(".figure-words").first().waitFor();
          await page.evaluate(
            `document.querySelector(".figure-words").textContent = ${JSON.stringify(LONGEST_QUEUE_WORDS)}`,
          );
        },
      },
      { path: "/runs" },
      ...tabs(`/runs/${ids.crawl}`, ["results", "pages", "errors", "events", "sites", "configuration"]),
      {
        path: `/runs/${ids.crawl}?tab=pages&status=failed`,
        prepare: async (page) => {
          await page.getByRole("row").nth(1).click();
          await drawer(page);
        },
      },
      { path: `/runs/${ids.crawl}?tab=results&as=records` },
      { path: `/runs/${ids.page}` },
      { path: `/runs/${ids.held}` },
      ...tabs("/workflows", ["runs", "templates"]),
      ...tabs(`/workflows/${ids.flow}`, ["steps", "timeline", "events", "results", "definition"]),
      { path: `/workflows/${ids.flow}?view=list` },
      { path: `/workflows/${ids.flow}?step=${encodeURIComponent(STEPS[1]!)}` },
      { path: `/workflows/${ids.flow}?view=list&step=${encodeURIComponent(STEPS[2]!)}` },
      ...tabs(template, ["structure", "json", "versions", "edit"]),
      { path: "/sites", prepare: showCircuitOpen },
      { path: `/sites/${encodeURIComponent(new URL(site.origin).host)}` },
      { path: `/sites/${LONG_HOST}` },
      { path: "/proxies" },
      { path: "/workers" },
      { path: "/queue?tab=lanes", prepare: showCircuitOpen },
      ...tabs("/queue", ["items", "concurrency-keys"]),
      {
        path: "/schedules",
        prepare: async (page) => {
          await page.getByRole("row").nth(1).click();
          await drawer(page);
        },
      },
      { path: "/schedules?" },
      { path: "/jobs" },
      ...tabs("/settings", ["health", "configuration", "alerts", "sessions", "keys", "audit", "browser"]),
      ...["crawl", "scrape", "workflow"].map((kind) => ({
        path: `/new?kind=${kind}&url=${encodeURIComponent(site.url(pathOf(1)))}`,
        prepare: async (page: Page) => {
          if (kind !== "workflow") await page.getByRole("button", { name: "More options" }).click();
        },
      })),
      { path: `/new?kind=scrape&tab=playground&url=${encodeURIComponent(site.url(pathOf(1)))}` },
    ];
  }

  it("stays within its screen, and all that it shows within its card", async () => {
    await using opened = await dashboard.show("/");
    const { page } = opened;
    const screen = await page.context().newCDPSession(page);
    if (PICTURES !== "") mkdirSync(PICTURES, { recursive: true });
    const found: string[] = [];
    for (const [number, { path, prepare }] of pages().entries()) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(dashboard.url + path);
      await page.locator("main h1").waitFor();
      await page.locator("main .skeleton").first().waitFor({ state: "hidden" });
      await prepare?.(page);
      for (const { width, scale } of SCREENS) {
        await page.setViewportSize({ width, height: 900 });
        await screen.send("Emulation.setDeviceMetricsOverride", {
          width,
          height: 900,
          deviceScaleFactor: scale,
          mobile: false,
        });
        // What is measured is drawn anew in the next frame, and what follows from that in the one after it.
        await page.evaluate(
          "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))",
        );
        const wide = (await page.evaluate(TOO_WIDE)) as string[];
        found.push(...wide.map((what) => `${path} at ${width}: ${what}`));
        if (PICTURES !== "")
          await page.screenshot({
            path: join(PICTURES, `${String(number).padStart(2, "0")}-${width}.png`),
            fullPage: (prepare ?? null) === null || !path.startsWith("/schedules"),
          });
      }
    }
    assert.deepEqual(found, []);
  });

  it("cuts addresses and titles in the middle, so that rows are told apart by their ends", async () => {
    await using opened = await dashboard.show(`/runs/${ids.crawl}?tab=results`);
    const { page } = opened;
    for (const [tab, width] of [
      ["results", 1280],
      ["results", 390],
      ["pages", 1280],
      ["pages", 390],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${dashboard.url}/runs/${ids.crawl}?tab=${tab}`);
      await page.getByRole("row").nth(5).waitFor();
      const ends = (await page.evaluate(`[...document.querySelectorAll(".table-body .table-row")].flatMap((row) => {
        const text = row.querySelector(".cut-text");
        const tail = text.querySelector(".cut-text-tail");
        if (tail === null) return [];
        const isSeen = tail.getBoundingClientRect().right <= text.parentElement.getBoundingClientRect().right + 1;
        return [isSeen && text.scrollWidth <= text.clientWidth + 1 ? tail.textContent : "cut off"];
      })`)) as string[];
      assert.ok(ends.length > 10, `${tab} at ${width}: ${ends.join()}`);
      assert.equal(new Set(ends).size, ends.length, `${tab} at ${width}: ${ends.join()}`);
      assert.ok(!ends.includes("cut off"));
    }
    const first = page.locator(".cut-text", { hasText: "variant=1" }).first();
    assert.equal(await first.getAttribute("title"), site.url(pathOf(1)));
  });

  it("shows columns that have no room below their row, where they work as in the table", async () => {
    await using opened = await dashboard.show("/sites");
    const { page } = opened;
    await page.setViewportSize({ width: 1280, height: 900 });
    const delay = page.getByRole("textbox", { name: `Delay of ${LONG_HOST}` });
    await page.getByRole("button", { name: "Show details" }).nth(2).click();
    await delay.fill("1500");
    await delay.press("Enter");
    await page.getByText(`Delay of ${LONG_HOST}: 1.5 s`).waitFor();
    await assertAccessible(page);
    assert.equal(new URL(page.url()).pathname, "/sites", "the row was not opened");
    await page.getByRole("button", { name: "Hide details" }).click();
    await delay.waitFor({ state: "detached" });
    await page.setViewportSize({ width: 1440, height: 900 });
    await delay.waitFor();
    assert.equal(await page.getByRole("button", { name: "Show details" }).count(), 0);
  });
});

/**
 * What is wider than it may be. A box may clip text (which has dots then), and code may scroll in its own; nothing that is
 * pressed, and no badge, may be cut off, and no table and no drawing of a few steps may scroll sideways.
 */
const TOO_WIDE = `(() => {
  const found = new Set();
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) found.add("the page is " + root.scrollWidth + " px wide");
  const nameOf = (element) =>
    element.tagName.toLowerCase() + (element.className.length > 0 ? "." + String(element.className).trim().replace(/\\s+/g, ".") : "") +
    " “" + (element.getAttribute("aria-label") ?? element.textContent ?? "").trim().slice(0, 30) + "”";
  const clips = (element) => getComputedStyle(element).overflowX !== "visible";
  const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
  for (const table of document.querySelectorAll(".table, .card, .dialog-body, .graph-box"))
    if (table.scrollWidth > table.clientWidth + 1) found.add(nameOf(table) + " holds " + table.scrollWidth + " px in " + table.clientWidth);
  for (const element of document.querySelectorAll("main *, dialog[open] *")) {
    if (element.closest("svg") !== null && element.tagName !== "svg") continue;
    if (element.tagName === "DIALOG" || element.closest(".spoken, .uplot, .table-cards .table-head") !== null || !element.checkVisibility()) continue;
    const rect = element.getBoundingClientRect();
    if (rect.width === 0 || rect.height === 0 || (rect.width <= 1 && rect.height <= 1)) continue;
    const isWhole = element.matches("button, input, select, textarea, .badge, [role=progressbar]");
    for (let box = element.parentElement; box !== null && box.tagName !== "DIALOG"; box = box.parentElement) {
      // What scrolls by itself is reached; what is cut off there is cut off on purpose.
      if (scrolls(box) && !box.matches(".table, .dialog-body")) break;
      const isClip = clips(box);
      if (!isClip && !box.matches(".card, .dialog-box, main")) continue;
      const { left, right } = box.getBoundingClientRect();
      const isOut = rect.right > right + 1 || rect.left < left - 1;
      if (isOut && (!isClip || isWhole)) found.add(nameOf(element) + " leaves " + nameOf(box) + " by " + Math.round(Math.max(rect.right - right, left - rect.left)) + " px");
      if (isOut || isClip) break;
    }
  }
  return [...found].slice(0, 6);
})()`;
