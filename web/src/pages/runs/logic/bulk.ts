/** Bulk actions on runs. */

export const BULK_ACTIONS = ["cancel", "pause", "resume", "retry-failed"] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

export const BULK_WORDS: Readonly<Record<BulkAction, { verb: string; done: string; what: string }>> = {
  cancel: {
    verb: "Cancel",
    done: "Cancelled",
    what: "Pages in flight are stopped; results so far are kept. This cannot be undone.",
  },
  pause: {
    verb: "Pause",
    done: "Paused",
    what: "Pages in flight finish; nothing new starts until you resume.",
  },
  resume: { verb: "Resume", done: "Resumed", what: "They continue where they stopped." },
  "retry-failed": {
    verb: "Retry failed pages of",
    done: "Retrying",
    what: "Only failed pages are fetched again; ended runs are reopened.",
  },
};

/** The count from the server, which stops at ten thousand. */
export function matchedWords(matched: number): string {
  if (matched >= 10_000) return "10,000 or more runs";
  return countWords(matched);
}

/** The exact count. */
export function countWords(runs: number): string {
  return runs === 1 ? "1 run" : `${new Intl.NumberFormat("en").format(runs)} runs`;
}

export interface BulkOutcome {
  done: number;
  failed_count: number;
  failed: { run_id: string; detail: string }[];
  /** The run where the next call continues; null: done. */
  next: string | null;
}

const MOST_TOLD = 100;

/**
 * One call changes at most a thousand runs: repeats from where the last one ended, until nothing is left or the user
 * stops. Starts at the first counted run, so that later runs are not included and none is visited twice. Reports the
 * outcome after each call: a later one may fail.
 */
export async function changeAll(
  counted: Pick<BulkOutcome, "next">,
  change: (from: string) => Promise<BulkOutcome>,
  onStep: (sum: BulkOutcome) => void,
  signal: AbortSignal,
): Promise<BulkOutcome> {
  let sum: BulkOutcome = { done: 0, failed_count: 0, failed: [], next: counted.next };
  while (sum.next !== null && !signal.aborted) {
    const { done, failed_count, failed, next } = await change(sum.next);
    sum = {
      done: sum.done + done,
      failed_count: sum.failed_count + failed_count,
      failed: [...sum.failed, ...failed].slice(0, MOST_TOLD),
      next,
    };
    onStep(sum);
  }
  return sum;
}
