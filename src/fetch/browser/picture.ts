/** Requested screenshots. */
import type { CDPSession, Page } from "playwright-core";
import { FetchFailure } from "../../domain/run/failure.ts";
import { isGone } from "./instance.ts";

/** Chromium's limit for the side of a surface. */
const MAX_PIXELS = 16_384;
const MAX_SCREENSHOT_BYTES = 32 * 1024 * 1024;
/** Pages are read before their images have loaded, but a screenshot should show them. */
const IMAGE_LOAD_MS = 3_000;

/** PNG of the viewport or of the full page. */
export async function takePicture(
  page: Page,
  session: CDPSession,
  what: "window" | "page",
  leftMs: number,
): Promise<Uint8Array> {
  await page.waitForLoadState("load", { timeout: Math.max(1, Math.min(IMAGE_LOAD_MS, leftMs)) }).catch(() => {});
  try {
    const clip = what === "page" ? await fullPageClip(session) : null;
    const { data } = await session.send("Page.captureScreenshot", {
      format: "png",
      captureBeyondViewport: clip !== null,
      ...(clip === null ? {} : { clip }),
    });
    const bytes = Buffer.from(data, "base64");
    if (bytes.length <= MAX_SCREENSHOT_BYTES) return bytes;
  } catch (error) {
    if (isGone(error)) throw error;
    throw new FetchFailure("browser_failed", "the browser could not take a screenshot of the page", { cause: error });
  }
  throw new FetchFailure("body_too_large", `the screenshot of the page is larger than ${MAX_SCREENSHOT_BYTES} bytes`);
}

async function fullPageClip(session: CDPSession) {
  const { cssContentSize: size, cssVisualViewport } = await session.send("Page.getLayoutMetrics");
  const { result } = await session.send("Runtime.evaluate", { expression: "devicePixelRatio", returnByValue: true });
  const maxSide = Math.floor(MAX_PIXELS / Math.max(1, Number(result.value) || 1));
  const [width, height] = [size.width || cssVisualViewport.clientWidth, size.height || cssVisualViewport.clientHeight];
  return { x: 0, y: 0, width: Math.min(width, maxSide), height: Math.min(height, maxSide), scale: 1 };
}
