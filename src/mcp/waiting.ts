/** Waits for a run to end, for as long as somebody waits for the answer. */
import { sleep } from "../base/clock.ts";
import type { CrawlDetail } from "../orchestrator/crawls/view.ts";
import { TERMINAL_RUN_STATES } from "../domain/states.ts";
import type { ToolCall } from "./tool.ts";

const FIRST_LOOK_MS = 100;
const LOOK_MS = 1000;

export const isOver = (status: string) => (TERMINAL_RUN_STATES as readonly string[]).includes(status);

/** What was seen last: it has ended, or the time is over, or nobody waits any more. */
export async function lookUntilOver<T>(
  { clock, signal, stopping }: ToolCall,
  look: () => Promise<T>,
  { over, seconds, seen }: { over: (view: T) => boolean; seconds: number; seen: (view: T) => void },
): Promise<T> {
  const until = clock.monotonic() + seconds * 1000;
  const enough = AbortSignal.any([signal, stopping]);
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(LOOK_MS, pause * 1.5)) {
    const view = await look();
    seen(view);
    const left = until - clock.monotonic();
    if (over(view) || left <= 0 || enough.aborted) return view;
    await sleep(clock, Math.min(pause, left), enough);
    if (enough.aborted) return view;
  }
}

/** A crawl, and a page by itself, which is one of depth 0. */
export async function waitForCrawl(call: ToolCall, id: string, seconds: number): Promise<CrawlDetail> {
  const look = async () =>
    (await call.api.request("GET", `/scraping/tasks/${encodeURIComponent(id)}/status`)).json<CrawlDetail>();
  return lookUntilOver(call, look, {
    seconds,
    over: ({ status }) => isOver(status),
    seen: (view) => {
      const done = view.completed_items + view.failed_items + view.skipped_items;
      call.progress(done, Math.max(view.total_items, done, 1), progressWords(view));
    },
  });
}

function progressWords({ status, completed_items: got, total_items: all, failed_items: failed }: CrawlDetail): string {
  return `${status}: ${got} of ${all} pages${failed === 0 ? "" : `, ${failed} failed`}`;
}
