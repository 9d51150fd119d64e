// Opens a page, says which browser it is in, and waits to be killed; asked to end, it closes the pool first.
import { startBrowser } from "../../../support/browser-kit.ts";

const browser = startBrowser();
process.once("SIGTERM", () => void browser.pool.close().then(() => process.exit(7)));
const held = browser.pool.withPage({}, async ({ page }) => {
  await page.goto(process.argv[2]!, { waitUntil: "commit" });
  process.stdout.write(`${browser.pool.browserPid}\n`);
  await new Promise(() => setInterval(() => {}, 60_000));
});
// Closing the pool ends the page, and nobody here minds.
held.catch(() => {});
