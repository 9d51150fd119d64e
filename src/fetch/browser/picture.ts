/** Pictures that were asked for. */
import type { CDPSession, Page } from "playwright-core";
import { FetchFailure } from "../../domain/run/failure.ts";
import { isGone } from "./instance.ts";

/** Chromium draws no surface that is longer. */
const MOST_PIXELS = 16_384;
const LARGEST_PICTURE = 32 * 1024 * 1024;
/** Pages are read before their pictures are there, but they are looked at with them. */
const PICTURES_MS = 3_000;

/** PNG, of what the window shows or of the whole page. */
export async function takePicture(
  page: Page,
  session: CDPSession,
  what: "window" | "page",
  leftMs: number,
): Promise<Uint8Array> {
  await page.waitForLoadState("load", { timeout: Math.max(1, Math.min(PICTURES_MS, leftMs)) }).catch(() => {});
  try {
    const clip = what === "page" ? await wholePage(session) : null;
    const { data } = await session.send("Page.captureScreenshot", {
      format: "png",
      captureBeyondViewport: clip !== null,
      ...(clip === null ? {} : { clip }),
    });
    const bytes = Buffer.from(data, "base64");
    if (bytes.length <= LARGEST_PICTURE) return bytes;
  } catch (error) {
    if (isGone(error)) throw error;
    throw new FetchFailure("browser_failed", "the browser could not take a picture of the page", { cause: error });
  }
  throw new FetchFailure("body_too_large", `the picture of the page is larger than ${LARGEST_PICTURE} bytes`);
}

async function wholePage(session: CDPSession) {
  const { cssContentSize: size, cssVisualViewport } = await session.send("Page.getLayoutMetrics");
  const { result } = await session.send("Runtime.evaluate", { expression: "devicePixelRatio", returnByValue: true });
  const most = Math.floor(MOST_PIXELS / Math.max(1, Number(result.value) || 1));
  const [width, height] = [size.width || cssVisualViewport.clientWidth, size.height || cssVisualViewport.clientHeight];
  return { x: 0, y: 0, width: Math.min(width, most), height: Math.min(height, most), scale: 1 };
}
