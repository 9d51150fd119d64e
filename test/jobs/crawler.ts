import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { CrawlErrorView } from "../../src/orchestrator/crawls/read.ts";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { Caller } from "./caller.ts";

/** What a crawl has found of a page. */
export interface Item {
  url: string;
  depth: number;
  title: string;
  text: string;
  fields?: Record<string, unknown>;
  duplicate_of?: string;
}

export interface Crawled {
  id: string;
  view: CrawlView;
  items: Item[];
  errors: CrawlErrorView[];
}

/** What a user of the API does with crawls. */
export class Crawler {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Begins one, and says which. */
  async submit(body: object): Promise<string> {
    const answer = await this.#caller.api.post("/scraping/async-scrape", body);
    assert.equal(answer.status, 202, answer.text);
    return answer.json<{ task_id: string }>().task_id;
  }

  /** As clients do it: while the server says that its database cannot be reached, the same call is sent again. */
  async submitUntilAccepted(body: object): Promise<string> {
    const headers = { "idempotency-key": randomUUID() };
    for (;;) {
      const answer = await this.#caller.api.post("/scraping/async-scrape", body, headers);
      if (answer.status === 202) return answer.json<{ task_id: string }>().task_id;
      assert.equal(answer.status, 503, answer.text);
      await wait(1000 * Number(answer.headers["retry-after"] ?? 1));
    }
  }

  async view(id: string): Promise<CrawlView> {
    return (await this.#caller.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
  }

  /** What it has, and what failed. */
  async results(id: string): Promise<Pick<Crawled, "items" | "errors">> {
    const path = `/scraping/tasks/${id}/results?limit=1000&include_errors=true`;
    return (await this.#caller.api.get(path)).json<Crawled>();
  }

  /** Waits for its end. */
  async ended(id: string): Promise<Crawled> {
    await this.#caller.ended(id);
    return { id, view: await this.view(id), ...(await this.results(id)) };
  }

  /** From the beginning to the end. */
  async crawl(body: object): Promise<Crawled> {
    return this.ended(await this.submit(body));
  }
}
