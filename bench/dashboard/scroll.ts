/** How smoothly a table of 10,000 records scrolls: frame times while the wheel turns. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { chromium } from "playwright-core";
import { findChromium } from "../../src/fetch/browser/find.ts";
import { print, verdictAtMost } from "../support/measure.ts";
import { BenchServer } from "./server.ts";

const ROWS = 10_000;
const STEPS = 400;

export async function scroll(): Promise<boolean> {
  print(`\na table of ${ROWS} records is scrolled to its end and back`);
  const items = Array.from(
    { length: ROWS },
    (_, n) => `<li><b>Thing ${n}</b><i>${n}.50 €</i><u>${n % 7} left</u></li>`,
  );
  const site = createServer((request, response) => {
    response.writeHead(request.url === "/" ? 200 : 404, { "content-type": "text/html" });
    response.end(request.url === "/" ? `<h1>Things</h1><ul>${items.join("")}</ul>` : "");
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  try {
    await using server = await BenchServer.start();
    const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
    const fields = { name: "b", price: { css: "i", type: "number" }, left: "u" };
    const { id } = await server.call<{ id: string }>("POST", "/runs", {
      target_url: url,
      strategy: "http",
      items: "li",
      fields,
    });
    while ((await server.call<{ status: string }>("GET", `/jobs/runs/${id}`)).status !== "completed") await pause(200);
    const browser = await chromium.launch({
      executablePath: await findChromium({ searchPath: process.env["PATH"] ?? "", installed: [] }),
      chromiumSandbox: false,
      args: ["--disable-gpu"],
    });
    try {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
      await page.goto(`${server.url}/runs/${id}?tab=results`);
      await page.getByRole("cell").first().waitFor();
      // Load everything first: only rendering is measured.
      for (let loaded = 0; loaded < ROWS;) {
        await page.keyboard.press("End");
        await page.mouse.wheel(0, 1e6);
        await pause(50);
        loaded = Number(await page.getByRole("table").getAttribute("aria-rowcount")) - 1;
      }
      let most = 0;
      for (const direction of [-1, 1]) {
        await page.evaluate(
          "window.frames_ = []; window.last_ = performance.now(); (function next(now) { frames_.push(now - last_); last_ = now; window.loop_ = requestAnimationFrame(next) })(performance.now())",
        );
        for (let step = 0; step < STEPS; step += 1) {
          await page.mouse.wheel(0, direction * ((ROWS * 40) / STEPS));
          most = Math.max(most, (await page.evaluate("document.querySelectorAll('[role=row]').length")) as number);
        }
        const frames = ((await page.evaluate("cancelAnimationFrame(loop_), frames_")) as number[]).slice(1);
        const sorted = frames.toSorted((a, b) => a - b);
        const at = (part: number) => (sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1);
        const late = frames.filter((time) => time > 50).length;
        print(
          `  ${direction < 0 ? "up  " : "down"}: ${frames.length} frames, ms between them: median ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, longest ${at(1)}; ${late} longer than 50 ms`,
        );
      }
      return verdictAtMost("rows drawn at once", most, 100, "");
    } finally {
      await browser.close();
    }
  } finally {
    site.closeAllConnections();
    site.close();
  }
}
