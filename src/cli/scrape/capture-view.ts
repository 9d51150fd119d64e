/** What `orb capture` is handed of a page that was opened, or of a HAR file. */
export interface CapturedPage {
  /** null: it came from a file. */
  url: string | null;
  title: string | null;
  /** False: the page was still busy when the time was over. */
  settled: boolean;
  /** Answers that were too many or too large to look at. */
  dropped: number;
  calls: CapturedCall[];
}

export interface CapturedCall {
  method: string;
  url: string;
  status: number;
  bytes: number;
  /** The share of the page's visible words that stand in the answer, 0 to 1; null when the page was not seen. */
  coverage: number | null;
  /** How many of the calls it stands for: the pages of one list are one call, from the first of them on. */
  pages: number;
  /** Where in the answer the list is, and how long all pages of it together. */
  items: { path: string; count: number } | null;
  /** How it goes on, if that could be told. */
  pagination: string | null;
  /** The job that repeats the call. */
  job: Record<string, unknown>;
  /** What looked like a secret and is not in the job. */
  left_out: { in: string; name: string }[];
}

export interface CaptureOptions {
  timeoutMs: number;
  waitFor?: string;
  sessionId?: string;
  signal: AbortSignal;
}
