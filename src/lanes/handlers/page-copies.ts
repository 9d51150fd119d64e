import { hash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { CrawlOptions } from "../../domain/crawl/crawl-options.ts";
import { type CrawlSettingName, otherReach } from "../../domain/crawl/crawl-settings.ts";
import type { PageClue } from "../../domain/crawl/goal-score.ts";
import { type PageCopy, READER_VERSION, validatorsOf } from "../../domain/page/page-copy.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { siteOf } from "../../domain/text/url.ts";
import type { FollowLink } from "../../extract/follow.ts";
import type { PageAnswer } from "../../fetch/page.ts";
import type { PageCopyRecord } from "../../store/ports/crawl-port.ts";
import type { Store } from "../../store/ports/port.ts";

/** Stored with a page besides its records. */
export interface PagePayload {
  /** Links that the crawl may follow; every run decides again. */
  links: readonly FollowLink[];
  /** Identifies pages with the same content if it is substantial; null: the page is empty. */
  content: { hash: string; isSubstantial: boolean } | null;
  /** Of a crawl with a goal. */
  goal?: PageClue;
}

/** Settings that are in the fingerprint already, or do not affect the stored page. */
const REACH_KNOWN: ReadonlySet<string> = new Set<CrawlSettingName>([
  ...(["include", "exclude", "follow", "read", "same_site", "stay_within", "follow_links"] as const),
  ...(["max_depth", "use_sitemap", "respect_robots"] as const),
]);

/** A page with more links is loaded again each time: truncated links would lose the pages behind the others. */
const MAX_BYTES = 512 * 1024;

/** Earlier versions stored `isSubstantial` as `isTelling`. */
function readPayload(text: string): PagePayload {
  const { content, ...page } = JSON.parse(text) as PagePayload & { content: { isTelling?: boolean } | null };
  if (content === null) return { ...page, content };
  const { hash, isSubstantial = content.isTelling === true } = content as typeof content & { isSubstantial?: boolean };
  return { ...page, content: { hash, isSubstantial } };
}

/** Stores copies of the pages of a saved crawl, so that its next run can send conditional requests. */
export class PageCopies {
  readonly #store: Store;
  readonly #jobId: string;
  readonly #fingerprint: string;
  /** Copies without records: with `only_changed`, unchanged pages give none. */
  readonly #isBare: boolean;

  constructor(store: Store, jobId: string, options: CrawlOptions) {
    this.#store = store;
    this.#jobId = jobId;
    const { fields, items, schema, article, urls, include, exclude, same_site } = options;
    const { document, extract, browser, stay_within, follow_links, session_id, follow, read } = options;
    // In the fingerprint, because a run that wants records cannot use copies without them.
    this.#isBare = options.only_changed === true;
    const only_changed = this.#isBare ? true : null;
    // What is extracted, how, and which links are kept.
    const known = [READER_VERSION, fields, items, schema, article, urls, include, exclude, same_site];
    const split = follow.length + read.length === 0 ? null : { follow, read };
    const others = Object.fromEntries(otherReach(options, REACH_KNOWN));
    // `session_id`: a signed-in user may see another page at the same address.
    const optional = {
      document,
      extract,
      browser,
      stay_within,
      follow_links,
      session_id,
      only_changed,
      split,
      ...others,
    };
    const requested = Object.entries(optional).filter(([, value]) => value !== undefined && value !== null);
    const rules = JSON.stringify(requested.length === 0 ? known : [...known, requested]);
    this.#fingerprint = hash("sha256", rules, "base64url").slice(0, 22);
  }

  /**
   * The copy that an earlier run has stored; null: the page must be loaded. Copies of one site are never used for
   * another.
   */
  async find(key: string, url: string): Promise<PageCopyRecord | null> {
    const copy = await this.#store.pageCopy(this.#jobId, key, this.#fingerprint);
    return copy !== null && siteOf(copy.url) === siteOf(url) ? copy : null;
  }

  /** The stored page; null: the answer is about another page, or the records are gone. */
  async open(
    copy: PageCopyRecord,
    answer: PageAnswer,
  ): Promise<({ records: Record<string, JsonValue>[] } & PagePayload) | null> {
    if (answer.finalUrl !== copy.url) return null;
    const records = this.#isBare ? [] : ((await this.#store.resultsOf(copy.taskId)) as Record<string, JsonValue>[]);
    if (!this.#isBare && records.length !== copy.records) return null;
    const payload = inflateRawSync(copy.payload, { maxOutputLength: MAX_BYTES }).toString("utf8");
    return { records, ...readPayload(payload) };
  }

  /** Null: the response has no validators, or the page is too large to store. */
  make({ status, headers, finalUrl: url }: PageAnswer, page: PagePayload): PageCopy | null {
    const validators = status === 200 ? validatorsOf(headers) : null;
    if (validators === null) return null;
    const text = Buffer.from(JSON.stringify(page));
    if (text.byteLength > MAX_BYTES) return null;
    const payload = deflateRawSync(text, { level: 1 });
    return { ...validators, url, fingerprint: this.#fingerprint, payload, ...(this.#isBare ? { isBare: true } : {}) };
  }

  /** The copy after the server has confirmed it, with the headers of the new answer. */
  renew({ url, fingerprint, payload, etag, lastModified }: PageCopyRecord, { headers }: PageAnswer): PageCopy {
    const now = validatorsOf(headers);
    const bare = this.#isBare ? { isBare: true as const } : {};
    return {
      url,
      fingerprint,
      payload,
      etag: now?.etag ?? etag,
      lastModified: now?.lastModified ?? lastModified,
      ...bare,
    };
  }
}
