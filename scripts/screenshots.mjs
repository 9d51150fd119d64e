// npm run screenshots [-- part of a name …]: takes the screenshots of the dashboard that the docs show.
// screenshots/pages.mjs lists the pages; screenshots/work.mjs creates their data. With ORB_SCREENSHOTS_DIR all pages go
// there, in all variants: desktop, laptop, wide and phone, light and dark.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isNewEnough } from "../bin/handover.mjs";
import { ensureInstalled, node24, root, run, script } from "./bootstrap.mjs";
import { ensureChromium } from "./chromium.mjs";
import { ensureWeb } from "./web.mjs";

const SCREENS = {
  desktop: { viewport: { width: 1440, height: 900 } },
  laptop: { viewport: { width: 1280, height: 800 } },
  wide: { viewport: { width: 1920, height: 1080 } },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
};

const MOST_HEIGHT = 4000;

const DOCS = ["README.md", ...readdirSync(join(root, "docs")).map((name) => join("docs", name))]
  .filter((path) => path.endsWith(".md"))
  .map((path) => readFileSync(join(root, path), "utf8"))
  .join("\n");

await script(async (args) => {
  await ensureInstalled();
  // Importing the server needs a Node that runs TypeScript.
  if (!isNewEnough(process.versions.node)) return run(node24(), process.argv.slice(1));
  await ensureWeb();
  const executablePath = process.env.ORB_TEST_CHROMIUM ?? (await ensureChromium());
  if (executablePath === null) throw new Error("no Chromium here: APP_BROWSER_PATH may name one");
  // Some of the shown data is fetched with a browser, too.
  process.env.ORB_TEST_CHROMIUM ??= executablePath;
  const { chromium } = await import("playwright-core");
  const { PAGES } = await import("./screenshots/pages.mjs");
  const { startWork } = await import("./screenshots/work.mjs");
  const elsewhere = process.env.ORB_SCREENSHOTS_DIR;
  const folder = elsewhere ?? join(root, "docs", "screenshots");
  mkdirSync(folder, { recursive: true });
  const wanted = PAGES.filter(({ name }) => args.length === 0 || args.some((arg) => name.includes(arg)));
  const browser = await chromium.launch({ executablePath, chromiumSandbox: false, args: ["--disable-gpu"] });
  try {
    for (const kind of ["empty", "degraded", "changed", "walled", "busy"]) {
      const pages = wanted.filter((page) => (page.work ?? "busy") === kind);
      if (pages.length > 0)
        await takeAll(browser, await startWork(kind), pages, { folder, all: elsewhere !== undefined });
    }
  } finally {
    await browser.close();
  }
  return 0;
});

async function takeAll(browser, work, pages, { folder, all }) {
  try {
    for (const [screen, options] of Object.entries(SCREENS))
      for (const theme of ["light", "dark"]) {
        const kind = `${screen}-${theme}`;
        const kept = pages.filter(({ name }) => all || DOCS.includes(`screenshots/${name}-${kind}.png`));
        if (kept.length === 0) continue;
        const context = await browser.newContext({
          ...options,
          colorScheme: theme,
          reducedMotion: "reduce",
          locale: "en-GB",
          timezoneId: "UTC",
        });
        // Sites, server and browser share this machine, which may be busy.
        context.setDefaultTimeout(120_000);
        for (const page of kept) await take(context, work, page, { screen, theme, folder });
        await context.close();
      }
  } finally {
    await work.stop();
  }
}

async function take(context, work, { name, path, ready, prepare, whole = true }, { screen, theme, folder }) {
  const page = await context.newPage();
  await page.goto(work.url + (typeof path === "function" ? await path(work) : path));
  await page.getByRole("heading", { level: 1, ...(ready === undefined ? {} : { name: ready }) }).waitFor();
  await prepare?.(page, work, { screen, theme });
  await page.evaluate(() => document.fonts.ready);
  await page.waitForTimeout(700);
  if (whole) await showAll(page);
  const picture = await page.screenshot();
  // Few colours, and stored in the repository forever.
  const { default: sharp } = await import("sharp");
  await sharp(picture)
    .png({ palette: true, quality: 100, dither: 0, effort: 10, compressionLevel: 9 })
    .toFile(join(folder, `${name}-${screen}-${theme}.png`));
  await page.close();
}

/** A viewport as high as the page, so that elements at its edges are captured, too. */
async function showAll(page) {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  const { width, height: before } = page.viewportSize();
  await page.setViewportSize({ width, height: Math.max(before, Math.min(height, MOST_HEIGHT)) });
  await page.waitForTimeout(300);
}
