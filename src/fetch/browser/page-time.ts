import type { Page } from "playwright-core";
import { type Clock, sleep } from "../../base/clock.ts";
import { isGone } from "./instance.ts";

/** Written as text, because it runs elsewhere. */
const TURNS = `((count, ms) => new Promise((resolve) => {
  const next = (left) => { if (left === 0) resolve(); else setTimeout(() => next(left - 1), ms); };
  next(count);
}))`;

const SHORTEST_TURN_MS = 20;
const MOST_TURNS = 50;

/**
 * Lets a page have so much of its own time. Timers of a page come in order: when this is over, those of its own that were
 * shorter have had their turn, however little of the processor the page was given. And it goes over Playwright's own
 * connection, which tells of requests: what the page has asked for by then is known. Never longer than `mostMs`, where that is given.
 */
export async function pageTime(
  page: Page,
  ms: number,
  { clock, signal, mostMs = LONGEST_MS }: { clock: Clock; signal: AbortSignal; mostMs?: number },
): Promise<void> {
  const ended = new AbortController();
  const either = AbortSignal.any([ended.signal, signal]);
  try {
    await Promise.race([turns(page, ms, clock, either), sleep(clock, mostMs, either)]);
  } finally {
    ended.abort();
  }
}

/** As long as a timer can be. */
const LONGEST_MS = 2 ** 31 - 1;

async function turns(page: Page, ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const until = clock.monotonic() + ms;
  for (let rest = ms; rest > 0 && !signal.aborted; rest = until - clock.monotonic()) {
    const turnMs = Math.max(SHORTEST_TURN_MS, Math.ceil(rest / MOST_TURNS));
    const isOver = await page.evaluate(`${TURNS}(${Math.ceil(rest / turnMs)}, ${turnMs})`).then(
      () => true,
      (error: unknown) => {
        if (isGone(error) && !signal.aborted) throw error;
        // Another document has come: it has what is left of the time.
        return false;
      },
    );
    if (isOver) return;
    await sleep(clock, Math.min(SHORTEST_TURN_MS, Math.max(0, until - clock.monotonic())), signal);
  }
}
