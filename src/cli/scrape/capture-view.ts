/** Input of `orb capture`: the calls of an opened page, or of a HAR file. */
export interface CapturedPage {
  /** Null: from a file. */
  url: string | null;
  title: string | null;
  /** False: the page was still loading at the timeout. */
  settled: boolean;
  /** Responses skipped because of their number or size. */
  dropped: number;
  calls: CapturedCall[];
}

export interface CapturedCall {
  method: string;
  url: string;
  status: number;
  bytes: number;
  /** Share of the page's visible words that the response contains, 0 to 1; null: no page was rendered. */
  coverage: number | null;
  /** Number of calls merged into this one: the pages of one list count as one call. */
  pages: number;
  /** Path of the list in the response, and its length over all pages. */
  items: { path: string; count: number } | null;
  /** How to page, if detected. */
  pagination: string | null;
  /** The job that repeats the call. */
  job: Record<string, unknown>;
  /** Probable secrets, omitted from the job. */
  left_out: { in: string; name: string }[];
}

export interface CaptureOptions {
  timeoutMs: number;
  waitFor?: string;
  sessionId?: string;
  signal: AbortSignal;
}
