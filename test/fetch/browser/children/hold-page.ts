// Opens a page that never ends, says which browser it is in, and waits to be killed.
import { startBrowser } from "../../../support/browser-kit.ts";

const browser = startBrowser();
await browser.pool.withPage({}, async ({ page }) => {
  await page.goto(process.argv[2]!, { waitUntil: "commit" });
  process.stdout.write(`${browser.pool.browserPid}\n`);
  await new Promise(() => setInterval(() => {}, 60_000));
});
