/** What a run found at a page of a monitor; compared after the run has ended. */
export interface MonitoredPage {
  key: string;
  url: string;
  /** See `monitorRules`. */
  rules: string;
  /** Null: the page answered 404 or 410. */
  content: MonitoredContent | null;
  /** Of a second fetch, if the first one differs from the last good state. */
  again: MonitoredFile | null;
  /** Of a crawl, see `scopeHashOf`. */
  scopeHash: string | null;
  /** Reached by a redirect. */
  isRedirected: boolean;
}

/** A stored file. */
export interface MonitoredFile {
  hash: string;
  size: number;
}

export interface MonitoredContent extends MonitoredFile {
  isSealed: boolean;
  /** See `PageComparer.digestOf`. */
  digest: string;
}

export const PAGE_CHANGE_KINDS = ["new", "changed", "removed"] as const;
export type PageChangeKind = (typeof PAGE_CHANGE_KINDS)[number];

/** Changes that a run of a monitor found. */
export interface MonitorCounts {
  new: number;
  changed: number;
  removed: number;
}

export function describeChanges(counts: MonitorCounts): string {
  return PAGE_CHANGE_KINDS.filter((kind) => counts[kind] > 0)
    .map((kind) => `${counts[kind]} ${kind}`)
    .join(", ");
}
