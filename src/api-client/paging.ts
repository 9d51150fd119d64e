/** Lists, page after page as they are wanted. */
import type { OpenAnswer } from "./answer.ts";

export interface Page<Entry, Whole = Entry[]> {
  rows: Entry[];
  /** Give it back as `query.cursor` for the page behind this one; null: this was the last. */
  next: string | null;
  /** All that match, where the server was asked to count them. */
  total: number | null;
  /** As the server sent it. */
  answer: Whole;
}

/** One page; `cursor` as the page before named it, or undefined for the first. */
type ReadPage<Entry, Whole> = (cursor: string | undefined) => Promise<Page<Entry, Whole>>;

/**
 * A list that is read while it is looked at: `for await (const run of client.runs.list())`. Each loop begins anew. Pages
 * are as long as `limit` says; what is not wanted is not asked for.
 */
export class Listing<Entry, Whole = Entry[]> implements AsyncIterable<Entry> {
  readonly #read: ReadPage<Entry, Whole>;
  readonly #first: string | undefined;

  constructor(read: ReadPage<Entry, Whole>, first: string | undefined) {
    this.#read = read;
    this.#first = first;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Entry, void> {
    for await (const page of this.pages()) yield* page.rows;
  }

  async *pages(): AsyncGenerator<Page<Entry, Whole>, void> {
    let cursor = this.#first;
    for (;;) {
      const page = await this.#read(cursor);
      yield page;
      if (page.next === null) return;
      cursor = page.next;
    }
  }

  /** The first page alone. */
  page(): Promise<Page<Entry, Whole>> {
    return this.#read(this.#first);
  }

  /** The first `most` entries, or all of them. */
  async take(most: number = Number.POSITIVE_INFINITY): Promise<Entry[]> {
    const rows: Entry[] = [];
    if (most <= 0) return rows;
    for await (const row of this) {
      rows.push(row);
      if (rows.length >= most) break;
    }
    return rows;
  }
}

/** The cursor of the next page, from `Link: </runs?cursor=…>; rel="next"`. */
export function nextOf({ headers }: Pick<OpenAnswer, "headers">): string | null {
  const link = /<([^>]*)>;\s*rel="?next"?/.exec(headers.get("link") ?? "")?.[1];
  return link === undefined ? null : new URLSearchParams(link.split("?")[1] ?? "").get("cursor");
}

export function totalOf({ headers }: Pick<OpenAnswer, "headers">): number | null {
  const text = headers.get("x-total-count");
  return text === null ? null : Number(text);
}
