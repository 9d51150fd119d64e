import { crawlKey } from "../../domain/crawl/crawl-scope.ts";
import { changeOf, pageDigest, type PageState, scopeHashOf } from "../../domain/page/page-change.ts";
import type { CrawlOptions } from "../../domain/crawl/crawl-options.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Store } from "../../store/ports/port.ts";
import type { PagePayload } from "./page-copies.ts";

/** Compares the pages of a saved crawl with the job's state at the start of the run. */
export class PageChanges {
  readonly #store: Pick<Store, "pageDigest">;
  readonly #jobId: string;
  /** False: the first run has nothing to compare with. */
  readonly #compares: boolean;

  readonly #scopeHash: string;

  constructor(store: Pick<Store, "pageDigest">, jobId: string, options: CrawlOptions, compares: boolean) {
    this.#store = store;
    this.#jobId = jobId;
    this.#compares = compares;
    this.#scopeHash = scopeHashOf({ ...options });
  }

  /** A loaded page. It is identified by its final URL: the redirects to it may differ each time. */
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
    // Copies of earlier versions and pages that were gone have no digest.
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
