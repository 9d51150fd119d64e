import { sleep } from "../../base/clock.ts";
import { TERMINAL_RUN_STATES } from "../../domain/run/states.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { restAfter } from "../queue/drained.ts";
import { requireRun } from "./control.ts";

export interface Waiting<Progress> {
  /** Aborts the wait, not the run: rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called at the start and after every change. */
  onProgress?: (progress: Progress) => void;
}

/** Resolves when the run has ended, whichever process works on it. `look` reads the value for `onProgress`. */
export async function runEnded<Progress>(
  deps: OrchestratorDeps,
  id: string,
  look: () => Promise<Progress>,
  { signal, onProgress }: Waiting<Progress> = {},
): Promise<Progress> {
  let reported = "";
  for (;;) {
    signal?.throwIfAborted();
    const begun = deps.clock.monotonic();
    // Read the state first: if it has ended, the next read is final.
    const { status } = await requireRun(deps, id);
    const ended = TERMINAL_RUN_STATES.includes(status);
    if (ended || onProgress !== undefined) {
      const now = await look();
      const text = JSON.stringify(now, (key, value: unknown) => (CLOCKS.has(key) ? undefined : value));
      if (text !== reported) onProgress?.(now);
      reported = text;
      if (ended) return now;
    }
    await sleep(deps.clock, restAfter(deps.clock.monotonic() - begun), signal);
  }
}

/** These change by themselves. */
const CLOCKS: ReadonlySet<string> = new Set([
  "elapsed_seconds",
  "duration_seconds",
  "time_remaining_seconds",
  "pages_per_second",
  "actual_duration",
]);
