/** Limits the retry events in the logs of runs with many pages. */
import type { RunEvent, Verdict } from "../../domain/run/outcome.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { ClaimedTask } from "../../store/ports/port.ts";

/** Per cause and site, and per run: the log of a crawl of a million pages stays readable. */
const MAX_PER_CAUSE = 20;
const MAX_PER_RUN = 200;
/** Runs with counters in memory; an evicted one starts over. */
const MAX_RUNS = 1000;

/** Single pages and steps log their attempts themselves; the queue is one endless run. */
const LOGGED: ReadonlySet<string> = new Set(["crawl", "download"]);

export class RetryLog {
  readonly #runs = new Map<string, Map<string, number>>();

  /** The log event of a failed attempt; null: none. */
  event(task: ClaimedTask, verdict: Verdict, maxAttempts: number, now: number): RunEvent | null {
    if (verdict.kind !== "retry" || !LOGGED.has(task.runKind)) return null;
    const { code, reason, message } = verdict.failure;
    const cause = `${task.site ?? ""} ${reason}`;
    const counted = this.#countsOf(task.runId);
    const [ofCause, ofRun] = [counted.get(cause) ?? 0, counted.get("") ?? 0];
    if (ofCause > MAX_PER_CAUSE || ofRun > MAX_PER_RUN) return null;
    counted.set(cause, ofCause + 1);
    counted.set("", ofRun + 1);
    const failed = { failure_code: code, failure_reason: reason, http_status: verdict.failure.httpStatus ?? null };
    if (ofCause === MAX_PER_CAUSE || ofRun === MAX_PER_RUN) {
      const what = ofRun === MAX_PER_RUN ? "of this run" : `at ${task.site} (${reason})`;
      const cut = `Log truncated: further retries ${what} are not logged`;
      return { type: "log.truncated", level: "warn", message: cut, meta: failed };
    }
    const next = task.tries + 2;
    const delayMs = verdict.readyAt - now;
    const seconds = Math.round(delayMs / 100) / 10;
    const url = task.url === null ? null : shownUrl(task.url);
    return {
      type: "task.retry_scheduled",
      level: "warn",
      message: `Retry scheduled: attempt ${next} of ${maxAttempts} in ${seconds} s for ${url ?? task.key}, because ${message}`,
      meta: {
        attempt: next,
        max_attempts: maxAttempts,
        delay_ms: delayMs,
        ready_at: new Date(verdict.readyAt).toISOString(),
        ...failed,
        url,
        task_id: task.id,
      },
    };
  }

  #countsOf(runId: string): Map<string, number> {
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const counts = new Map<string, number>();
    this.#runs.set(runId, counts);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > MAX_RUNS && oldest !== undefined) this.#runs.delete(oldest);
    return counts;
  }
}
