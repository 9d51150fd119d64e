import { changeOf, pageDigest } from "../../domain/page-change.ts";
import type { Report } from "../../domain/outcome.ts";
import type { JsonValue } from "../../domain/queue-item.ts";
import type { Store } from "../../store/port.ts";

type PageState = NonNullable<Report["page"]>;

/** How the pages of a saved crawl compare with what the job knew of them when the run began. */
export class PageChanges {
  readonly #store: Pick<Store, "pageDigest">;
  readonly #jobId: string;
  /** False: it is the first run, and there is nothing to compare its pages with. */
  readonly #compares: boolean;

  constructor(store: Pick<Store, "pageDigest">, jobId: string, compares: boolean) {
    this.#store = store;
    this.#jobId = jobId;
    this.#compares = compares;
  }

  /** A page that was loaded. */
  async compare(
    key: string,
    url: string,
    records: readonly Record<string, JsonValue>[],
    contentHash: string | null,
  ): Promise<PageState> {
    const title = records[0]?.["title"];
    const digest = pageDigest(typeof title === "string" ? title : null, contentHash);
    return { url, digest, change: this.#compares ? changeOf(await this.#before(key), digest) : null };
  }

  /** A page of which its server says that it is as it was. */
  async same(key: string, url: string): Promise<PageState | undefined> {
    const digest = await this.#before(key);
    // A copy of an earlier version: what the page said is not known by its digest.
    return digest === null ? undefined : { url, digest, change: this.#compares ? "unchanged" : null };
  }

  #before(key: string): Promise<string | null> {
    return this.#store.pageDigest(this.#jobId, key);
  }
}
