/** Waits for a run to end, as long as the client waits for the answer. */
import { type Crawl, isOrbweaverError, type WaitOptions, type WorkflowProgress } from "../api-client/client.ts";
import type { ToolCall } from "./tool.ts";

export { hasEnded } from "../api-client/client.ts";

/** The last seen state: the run has ended, the timeout expired, or the client left. */
async function lastSeen<View>(
  { signal, stopping }: ToolCall,
  seconds: number,
  tell: (view: View) => void,
  { look, wait }: { look: () => Promise<View>; wait: (options: WaitOptions<View>) => Promise<View> },
): Promise<View> {
  if (seconds === 0) return look();
  const enough = AbortSignal.any([signal, stopping]);
  let last: { view: View } | null = null;
  const onProgress = (view: View) => {
    last = { view };
    tell(view);
  };
  try {
    return await wait({ signal: enough, timeoutMs: seconds * 1000, onProgress });
  } catch (error) {
    const isLate = enough.aborted || isOrbweaverError(error, "timed_out");
    // Nothing was read yet: read once rather than return nothing.
    if (isLate && last === null && !signal.aborted) return look();
    if (isLate && last !== null) return (last as { view: View }).view;
    throw error;
  }
}

/** A crawl, or a single page, which is a crawl of depth 0. */
export function waitForCrawl(call: ToolCall, id: string, seconds: number): Promise<Crawl> {
  const { api, progress } = call;
  const tell = (view: Crawl) => {
    const done = view.completed_items + view.failed_items + view.skipped_items;
    progress(done, Math.max(view.total_items, done, 1), progressWords(view));
  };
  return lastSeen(call, seconds, tell, {
    look: () => api.crawls.status(id),
    wait: (options) => api.waitForCrawl(id, options),
  });
}

export function waitForWorkflow(call: ToolCall, id: string, seconds: number): Promise<WorkflowProgress> {
  const { api, progress } = call;
  const tell = ({ status, progress: percent, counts, total_steps: steps }: WorkflowProgress) => {
    const ended = counts.completed + counts.failed + counts.skipped + counts.cancelled;
    progress(percent, 100, `${status}: ${ended} of ${steps} steps`);
  };
  return lastSeen(call, seconds, tell, {
    look: () => api.workflows.progress(id),
    wait: (options) => api.waitForWorkflow(id, options),
  });
}

function progressWords({ status, completed_items: got, total_items: all, failed_items: failed }: Crawl): string {
  return `${status}: ${got} of ${all} pages${failed === 0 ? "" : `, ${failed} failed`}`;
}
