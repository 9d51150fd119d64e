/** The dashboard as people meet it: a real server with its built pages, and a real browser. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { after, before } from "node:test";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { TestServer } from "../jobs/kit.ts";
import { type TestSite, webSite } from "../support/browser-kit.ts";
import { MESSAGE_MS } from "../../web/src/ui/logic/message-time.ts";
import { ensureWeb } from "../../scripts/web.mjs";
import { PATIENCE_MS } from "../support/patience.ts";

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

/**
 * What is said in passing goes away after some seconds. A test on a machine that stands still for as long would miss it:
 * here it stays ten times as long.
 */
const KEEP_MESSAGES = `{
  const later = window.setTimeout;
  window.setTimeout = (work, ms, ...more) =>
    later(work, ms === ${MESSAGE_MS} || ms === ${2 * MESSAGE_MS} ? 10 * ms : ms, ...more);
}`;

export interface OpenOptions {
  phone?: boolean;
  theme?: "light" | "dark";
  /** Shown and remembered as already logged in by other means: the value of a Cookie header. */
  context?: BrowserContext;
  /** Messages on the console that belong to what the test does, such as calls that are meant to fail. */
  expected?: RegExp;
}

export interface OpenPage extends AsyncDisposable {
  page: Page;
  /** What the browser complained about so far. */
  complaints: string[];
}

/** One server and one browser for all tests of a file. */
export class Dashboard implements AsyncDisposable {
  readonly server: TestServer;
  readonly browser: Browser;
  readonly url: string;

  private constructor(server: TestServer, browser: Browser) {
    this.server = server;
    this.browser = browser;
    this.url = server.api.url;
  }

  static async open(env: Record<string, string> = {}): Promise<Dashboard> {
    await ensureWeb();
    // Requests are held until a page has been looked at, which may take long on a busy machine.
    const server = await TestServer.open({ APP_HTTP_TIMEOUT_SECONDS: "600", ...env });
    try {
      return new Dashboard(server, await launchBrowser());
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A page at an address of the dashboard, in a browser profile of its own. Its end asserts that nothing was complained about. */
  async show(path: string, options: OpenOptions = {}): Promise<OpenPage> {
    return openPage(this.browser, this.url, path, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
    await this.server[Symbol.asyncDispose]();
  }
}

/** A dashboard and a site to work on, for all tests of a `describe`. */
export function dashboardAndSite(
  pages: Parameters<typeof webSite>[0] = {},
  envOf: (site: TestSite) => Record<string, string> = () => ({}),
): { readonly dashboard: Dashboard; readonly site: TestSite } {
  const opened: { dashboard?: Dashboard; site?: TestSite } = {};
  before(async () => {
    opened.site = await webSite(pages);
    opened.dashboard = await Dashboard.open(envOf(opened.site));
  });
  after(async () => {
    await opened.dashboard?.[Symbol.asyncDispose]();
    await opened.site?.[Symbol.asyncDispose]();
  });
  return opened as { dashboard: Dashboard; site: TestSite };
}

/** Runs as root in containers, where Chromium has no sandbox; it opens nothing but our own pages. */
export function launchBrowser(): Promise<Browser> {
  const executablePath = process.env["ORB_TEST_CHROMIUM"] ?? "";
  return chromium.launch({ executablePath, chromiumSandbox: false, args: ["--disable-gpu"], timeout: PATIENCE_MS });
}

export async function openPage(
  browser: Browser,
  origin: string,
  path: string,
  { phone = false, theme = "light", expected, context: given }: OpenOptions = {},
): Promise<OpenPage> {
  const context =
    given ??
    (await browser.newContext({
      viewport: phone ? PHONE : DESKTOP,
      colorScheme: theme,
      reducedMotion: "reduce",
      locale: "en-GB",
      ...(phone ? { hasTouch: true, isMobile: true, deviceScaleFactor: 2 } : {}),
    }));
  context.setDefaultTimeout(PATIENCE_MS);
  await context.addInitScript(KEEP_MESSAGES);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      complaints.push(`${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(origin + path);
  return {
    page,
    complaints,
    async [Symbol.asyncDispose]() {
      if (given === undefined) await context.close();
      else await page.close();
      assert.deepEqual(
        complaints.filter((text) => expected?.test(text) !== true),
        [],
        "the browser complained of nothing",
      );
    },
  };
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  impact: string;
  help: string;
  nodes: { target: string[]; failureSummary: string }[];
}

/** Asserts that axe-core finds nothing that keeps people out. */
export async function assertAccessible(page: Page): Promise<void> {
  // Frames show pages of strangers, who answer for themselves.
  // Evaluated, not added to the page: the page's own content policy allows no such script.
  await page.evaluate(axe);
  const found = (await page.evaluate(
    "axe.run(document, { iframes: false }).then(({ violations }) => violations)",
  )) as Violation[];
  const serious = found.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(
    serious.map(
      ({ id, help, nodes }) =>
        `${id}: ${help}: ${nodes.map(({ target, failureSummary }) => `${target.join(" ")} (${failureSummary})`).join("; ")}`,
    ),
    [],
  );
}

/** Waits until this is true in the page. A function, because a page that allows no `eval` is asked only once by a text. */
export async function holds(page: Page, expression: string): Promise<void> {
  await page.waitForFunction(new Function(`return (${expression})`) as () => unknown);
}

/** Asserts that the page does not scroll sideways, once what is drawn by its width has been drawn anew. */
export async function assertFits(page: Page): Promise<void> {
  const look = `(() => {
    const { scrollWidth: wide, clientWidth: seen } = document.documentElement;
    const out = [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > seen + 1);
    const names = out.slice(0, 12).map((one) => one.tagName.toLowerCase() + "." + one.className + " " + Math.round(one.getBoundingClientRect().right));
    return { wide, seen, names };
  })()`;
  type Look = { wide: number; seen: number; names: string[] };
  let found = (await page.evaluate(look)) as Look;
  // A size is observed after a frame and drawn in the next: more than that is not waited for.
  for (let frame = 0; frame < 4 && found.wide > found.seen; frame += 1) {
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))");
    found = (await page.evaluate(look)) as Look;
  }
  const { wide, seen, names } = found;
  assert.ok(wide <= seen, `the page is ${wide} px wide on a screen of ${seen} px: ${names.join(", ")}`);
}
