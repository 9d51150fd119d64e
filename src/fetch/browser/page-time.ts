import type { Page } from "playwright-core";
import { type Clock, sleep } from "../../base/clock.ts";
import { isGone } from "./instance.ts";

/** Source text: runs in the page. */
const TURNS = `((count, ms) => new Promise((resolve) => {
  const next = (left) => { if (left === 0) resolve(); else setTimeout(() => next(left - 1), ms); };
  next(count);
}))`;

const MIN_TURN_MS = 20;
const MAX_TURNS = 50;

/**
 * Waits for `ms` in the page's own time. Timers of a page fire in order, so all shorter timers of the page have fired by
 * then, however little CPU it got. It uses Playwright's connection, which also reports requests, so the requests that
 * the page made by then are known. Bounded by `mostMs`.
 */
export async function pageTime(
  page: Page,
  ms: number,
  { clock, signal, mostMs = MAX_TIMER_MS }: { clock: Clock; signal: AbortSignal; mostMs?: number },
): Promise<void> {
  const ended = new AbortController();
  const either = AbortSignal.any([ended.signal, signal]);
  try {
    await Promise.race([turns(page, ms, clock, either), sleep(clock, mostMs, either)]);
  } finally {
    ended.abort();
  }
}

/** The longest timer of Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;

async function turns(page: Page, ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const until = clock.monotonic() + ms;
  for (let leftMs = ms; leftMs > 0 && !signal.aborted; leftMs = until - clock.monotonic()) {
    const turnMs = Math.max(MIN_TURN_MS, Math.ceil(leftMs / MAX_TURNS));
    const isOver = await page.evaluate(`${TURNS}(${Math.ceil(leftMs / turnMs)}, ${turnMs})`).then(
      () => true,
      (error: unknown) => {
        if (isGone(error) && !signal.aborted) throw error;
        // The page navigated: the new document gets the remaining time.
        return false;
      },
    );
    if (isOver) return;
    await sleep(clock, Math.min(MIN_TURN_MS, Math.max(0, until - clock.monotonic())), signal);
  }
}
