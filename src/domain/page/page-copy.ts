/** Raise this with every change that extracts something else from the same page. */
export const READER_VERSION = 4;

/** A stored copy of a page, for conditional requests of the next run. */
export interface PageCopy extends Validators {
  /** Final URL: validators are only valid for it. */
  url: string;
  /** Identifies the rules by which the page was read. */
  fingerprint: string;
  /** Compressed links and content hash. */
  payload: Uint8Array;
  /** Stored without records. */
  isBare?: true;
}

/** HTTP validators of a page. */
export interface Validators {
  etag: string | null;
  lastModified: string | null;
}

/** Quoted, as in RFC 9110: `*` would match any state, and unquoted text could be a list. */
const ETAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,1000}"$/;
const DATE = /^[A-Za-z0-9,:+ -]{1,60}$/;

/** Null: the response has none. */
export function validatorsOf(headers: Readonly<Record<string, string>>): Validators | null {
  const { etag = "", "last-modified": modified = "" } = headers;
  const found = { etag: ETAG.test(etag) ? etag : null, lastModified: DATE.test(modified) ? modified : null };
  return found.etag === null && found.lastModified === null ? null : found;
}

/** Headers of a conditional request. */
export function conditionHeaders({ etag, lastModified }: Validators): Record<string, string> {
  return {
    ...(etag === null ? {} : { "if-none-match": etag }),
    ...(lastModified === null ? {} : { "if-modified-since": lastModified }),
  };
}
