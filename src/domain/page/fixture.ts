/** Fixtures: pages that a job keeps with the records they gave, to test changed rules on. Rules of which pages stay. */

/** Declared once: the API's schema, the flag of `orb jobs` and its help derive from this. */
export const FIXTURES_SETTING = {
  default: 5,
  minimum: 0,
  maximum: 20,
  description:
    "saved pages for POST /jobs/{job_id}/test, with the records they gave; runs replace the oldest one by one. 0: none, null: 5",
  cli: { flag: "--fixtures <number>", about: "saved pages for orb jobs test, 0: none (default: 5)" },
} as const;

const MIB = 1024 * 1024;

export const FIXTURE_LIMITS = {
  /** Of a page's body; larger pages are not kept. */
  pageBytes: 2 * MIB,
  /** Of all stored files of a job. */
  jobBytes: 10 * MIB,
  /** Of the records as JSON. */
  recordBytes: MIB / 2,
} as const;

/** How the stored bytes become the body again: as received, decoded text (a browser's), or the items of an API call. */
export type BodyForm = "bytes" | "text" | "replayed";

/** What the choice of fixtures depends on. */
export interface FixtureFacts {
  /** After redirects. */
  url: string;
  /** Of the stored file. */
  size: number;
  /** Fields with a value in at least one record. */
  filled: number;
  /** Fingerprint of the rules that gave the records. */
  rules: string;
  runId: string;
}

export interface KeptFixture extends FixtureFacts {
  number: number;
  fetchedAt: number;
}

/** A stored page, with what it takes to read it again. */
export interface KeptPage {
  /** After redirects. */
  url: string;
  hash: string;
  size: number;
  contentType: string | null;
  form: BodyForm;
  /** Encrypted: the page was fetched with credentials. */
  isSealed: boolean;
}

/** A page to keep; its file is stored already, and its records are encrypted if the page is. */
export interface PageFixture extends Omit<FixtureFacts, "runId">, KeptPage {
  recordCount: number;
  /** JSON, or base64 of sealed JSON. */
  records: string;
}

/**
 * The fixtures that a candidate replaces; null: it is not kept. A run fills the set, and replaces one page of a full
 * set: the oldest, unless the candidate has fewer fields filled. Pages read by other rules are replaced first. Within
 * its own pages, a run may replace one by a page with more fields filled.
 */
export function replacedFixtures(
  kept: readonly KeptFixture[],
  candidate: FixtureFacts,
  limit: number,
): readonly number[] | null {
  if (limit === 0 || candidate.size > FIXTURE_LIMITS.jobBytes) return null;
  const oldestFirst = kept.toSorted((a, b) => a.fetchedAt - b.fetchedAt || a.number - b.number);
  const current = oldestFirst.filter(({ rules }) => rules === candidate.rules);
  const outdated = oldestFirst.filter(({ rules }) => rules !== candidate.rules);
  const first = replacedByRules(current, outdated, candidate, limit);
  if (first === null) return null;
  const dropped = new Set(first);
  const bytes = () => oldestFirst.reduce((sum, { number, size }) => sum + (dropped.has(number) ? 0 : size), 0);
  const replaceable = [...outdated, ...current.filter(({ runId }) => runId !== candidate.runId)];
  for (const { number } of replaceable) {
    const isFull = kept.length - dropped.size >= limit || bytes() + candidate.size > FIXTURE_LIMITS.jobBytes;
    if (!isFull) break;
    dropped.add(number);
  }
  return bytes() + candidate.size > FIXTURE_LIMITS.jobBytes || kept.length - dropped.size >= limit
    ? null
    : [...dropped];
}

function replacedByRules(
  current: readonly KeptFixture[],
  outdated: readonly KeptFixture[],
  candidate: FixtureFacts,
  limit: number,
): number[] | null {
  const isSame = ({ url }: KeptFixture) => url === candidate.url;
  const stale = outdated.filter(isSame).map(({ number }) => number);
  const ofRun = current.filter(({ runId }) => runId === candidate.runId);
  const same = current.find(isSame);
  const [oldest] = current;
  if (same !== undefined) {
    // Refreshed when it is its turn: the start of a crawl would be the new page of every run.
    const isDue = ofRun.length === 0 && same === oldest && candidate.filled >= same.filled;
    return isDue ? [same.number, ...stale] : null;
  }
  if (current.length < limit) return stale;
  const [worst] = ofRun.toSorted((a, b) => a.filled - b.filled);
  if (worst !== undefined) return candidate.filled > worst.filled ? [worst.number, ...stale] : null;
  const least = Math.min(...current.map(({ filled }) => filled));
  return oldest === undefined || candidate.filled < least ? null : [oldest.number, ...stale];
}
