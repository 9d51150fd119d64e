import { crawlKey } from "../../domain/crawl/crawl-scope.ts";
import { changeOf, pageDigest, type PageState, scopeHashOf } from "../../domain/page/page-change.ts";
import type { CrawlOptions } from "../../domain/crawl/crawl-options.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Store } from "../../store/ports/port.ts";
import type { PagePayload } from "./page-copies.ts";

/** How the pages of a saved crawl compare with what the job knew of them when the run began. */
export class PageChanges {
  readonly #store: Pick<Store, "pageDigest">;
  readonly #jobId: string;
  /** False: it is the first run, and there is nothing to compare its pages with. */
  readonly #compares: boolean;

  readonly #scopeHash: string;

  constructor(store: Pick<Store, "pageDigest">, jobId: string, options: CrawlOptions, compares: boolean) {
    this.#store = store;
    this.#jobId = jobId;
    this.#compares = compares;
    this.#scopeHash = scopeHashOf({ ...options });
  }

  /** A page that was loaded. It is known by where it is, and not by the redirects that led there, which may be others each time. */
  async compare(
    url: string,
    isRedirected: boolean,
    records: readonly Record<string, JsonValue>[],
    contentHash: string | null,
  ): Promise<PageState> {
    const digest = digestOf(records, contentHash);
    const key = crawlKey(url);
    return this.#state(key, url, isRedirected, digest, await this.#before(key));
  }

  /** Whether the job has the page's content: only then a conditional request is useful. */
  async isKnown(url: string): Promise<boolean> {
    return (await this.#before(crawlKey(url))) !== null;
  }

  /** A page that the server reports as unchanged; `records` are the earlier ones, if available. */
  async same(
    url: string,
    isRedirected: boolean,
    { records, content }: { records: readonly Record<string, JsonValue>[] } & Pick<PagePayload, "content">,
  ): Promise<PageState> {
    const key = crawlKey(url);
    const before = await this.#before(key);
    // Copies of earlier versions come without a digest, and what was gone has none any more.
    const digest = before ?? digestOf(records, content?.hash ?? null);
    return this.#state(key, url, isRedirected, digest, before);
  }

  #state(key: string, url: string, isRedirected: boolean, digest: string, before: string | null): PageState {
    const change = this.#compares ? changeOf(before, digest) : null;
    return { key, url, digest, scopeHash: this.#scopeHash, isRedirected, change };
  }

  #before(key: string): Promise<string | null> {
    return this.#store.pageDigest(this.#jobId, key);
  }
}

function digestOf(records: readonly Record<string, JsonValue>[], contentHash: string | null): string {
  const title = records[0]?.["title"];
  return pageDigest(typeof title === "string" ? title : null, contentHash);
}
