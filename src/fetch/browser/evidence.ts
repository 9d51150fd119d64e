import type { CDPSession } from "playwright-core";
import type { Clock } from "../../base/clock.ts";
import type { PageEvidence } from "../page.ts";

/** A busy machine takes seconds for a screenshot; a page whose script never yields gives none at all. */
const EVIDENCE_MS = 6_000;
const MAX_SCREENSHOT_BYTES = 4 * 1024 * 1024;

/** Captures the current state of the page. Bounded in time, and never fails. */
export async function takeEvidence(
  session: CDPSession,
  clock: Clock,
  maxBodyBytes: number,
  html?: string,
): Promise<PageEvidence> {
  const [screenshot, text] = await Promise.all([
    withTimeout(clock, screenshotOf(session)),
    html === undefined ? withTimeout(clock, source(session, maxBodyBytes)) : html,
  ]);
  return { screenshot, html: text };
}

async function screenshotOf(session: CDPSession): Promise<Uint8Array | null> {
  const { data } = await session.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: false });
  const bytes = Buffer.from(data, "base64");
  return bytes.length > MAX_SCREENSHOT_BYTES ? null : bytes;
}

/** The current HTML; null: none, or longer than `maxLength`. */
export async function source(session: CDPSession, maxLength: number): Promise<string | null> {
  const expression = "document.documentElement ? document.documentElement.outerHTML : ''";
  const { result } = await session.send("Runtime.evaluate", { expression, returnByValue: true });
  const html: unknown = result.value;
  return typeof html === "string" && html !== "" && html.length <= maxLength ? html : null;
}

function withTimeout<T>(clock: Clock, work: Promise<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = clock.after(EVIDENCE_MS, () => resolve(null), { keepAlive: true });
    const done = (value: T | null) => {
      timer.cancel();
      resolve(value);
    };
    work.then(done, () => done(null));
  });
}
