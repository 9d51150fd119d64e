/** Which failed tries of runs of many pages stand in their logs: enough to see what goes wrong, and no more. */
import type { RunEvent, Verdict } from "../../domain/run/outcome.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { ClaimedTask } from "../../store/ports/port.ts";

/** Of one cause at one site, and of one run in all: a crawl of a million pages has a log that people can read. */
const MOST_ALIKE = 20;
const MOST_OF_RUN = 200;
/** Tasks that were logged recently; a forgotten one starts over. */
const MOST_RUNS = 1000;

/** Runs of one page, and steps, log their tries themselves; the queue is one run for ever. */
const LOGGED: ReadonlySet<string> = new Set(["crawl", "download"]);

export class RetryLog {
  readonly #runs = new Map<string, Map<string, number>>();

  /** The event that a failed try makes; null: none. */
  event(task: ClaimedTask, verdict: Verdict, maxAttempts: number, now: number): RunEvent | null {
    if (verdict.kind !== "retry" || !LOGGED.has(task.runKind)) return null;
    const { code, reason, message } = verdict.failure;
    const cause = `${task.site ?? ""} ${reason}`;
    const counted = this.#countsOf(task.runId);
    const [alike, all] = [counted.get(cause) ?? 0, counted.get("") ?? 0];
    if (alike > MOST_ALIKE || all > MOST_OF_RUN) return null;
    counted.set(cause, alike + 1);
    counted.set("", all + 1);
    const failed = { failure_code: code, failure_reason: reason, http_status: verdict.failure.httpStatus ?? null };
    if (alike === MOST_ALIKE || all === MOST_OF_RUN) {
      const what = all === MOST_OF_RUN ? "of this run" : `at ${task.site} (${reason})`;
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
    if (this.#runs.size > MOST_RUNS && oldest !== undefined) this.#runs.delete(oldest);
    return counts;
  }
}
