/** Of what reads pages: raise it with every change that finds more, or other things, on the same page. */
export const READER_VERSION = 2;

/** What a run of a saved crawl leaves of a page, so that the next one can ask whether it has changed. */
export interface PageCopy extends Validators {
  /** That answered, after redirects: the same validator at another address says nothing. */
  url: string;
  /** Tells by which rules the page was read. */
  fingerprint: string;
  /** What a run needs of the page besides its records: where it leads. Packed. */
  payload: Uint8Array;
  /** It holds without the records that the page gave. */
  isBare?: true;
}

/** What a server says about the state of a page, to be shown to it again. */
export interface Validators {
  etag: string | null;
  lastModified: string | null;
}

/** Quoted, as the standard has it: `*` would be any state of the page, and text without quotes could be a list. */
const ETAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,1000}"$/;
const DATE = /^[A-Za-z0-9,:+ -]{1,60}$/;

/** Of an answer; null: there is nothing to ask by. */
export function validatorsOf(headers: Readonly<Record<string, string>>): Validators | null {
  const { etag = "", "last-modified": modified = "" } = headers;
  const found = { etag: ETAG.test(etag) ? etag : null, lastModified: DATE.test(modified) ? modified : null };
  return found.etag === null && found.lastModified === null ? null : found;
}

/** The request headers that make an answer depend on a change. */
export function conditionHeaders({ etag, lastModified }: Validators): Record<string, string> {
  return {
    ...(etag === null ? {} : { "if-none-match": etag }),
    ...(lastModified === null ? {} : { "if-modified-since": lastModified }),
  };
}
