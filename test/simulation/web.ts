import { FetchFailure } from "../../src/domain/run/failure.ts";
import { integerBelow, type Random } from "../../src/base/random.ts";
import type { PageAnswer, PageRequest } from "../../src/fetch/page.ts";
import { pick } from "./crew.ts";

/** What a page of the simulated web does. */
type Way =
  | { kind: "ok" }
  /** Fails `times` times, then answers. */
  | { kind: "flaky"; times: number }
  | { kind: "missing" }
  | { kind: "broken" }
  /** Asks for patience `times` times. */
  | { kind: "limited"; times: number }
  | { kind: "redirect"; to: number };

interface Page {
  url: string;
  way: Way;
  links: number[];
}

const REDIRECTS_AT_MOST = 20;

/** Pages of several sites that link and redirect to each other at random. */
export class Web {
  readonly pages: Page[];
  readonly #byUrl: ReadonlyMap<string, Page>;

  constructor(random: Random, sites: number, size: number) {
    this.pages = Array.from({ length: size }, (_, n) => ({
      url: `http://s${integerBelow(random, sites)}.test/page-${n}`,
      way: n === 0 ? { kind: "ok" } : makeWay(random, size),
      links: Array.from({ length: integerBelow(random, 9) }, () => integerBelow(random, size)),
    }));
    this.#byUrl = new Map(this.pages.map((page) => [page.url, page]));
  }

  /** Where a page is found in the end; null: it sends us round in circles. */
  landing(page: Page): Page | null {
    let at = page;
    for (let hop = 0; hop <= REDIRECTS_AT_MOST; hop += 1) {
      if (at.way.kind !== "redirect") return at;
      at = this.pages[at.way.to] as Page;
    }
    return null;
  }

  /** The pages that a crawl from the first one gets, at most so many links away from it. */
  reachable(maxDepth: number): Set<string> {
    const got = new Set<string>();
    const depths = new Map<Page, number>([[this.pages[0] as Page, 0]]);
    for (const [page, depth] of depths) {
      const landing = this.landing(page);
      if (landing === null || landing.way.kind === "missing" || landing.way.kind === "broken") continue;
      got.add(landing.url);
      if (depth === maxDepth) continue;
      // The map grows while it is gone through, nearest first.
      for (const link of landing.links) {
        const to = this.pages[link] as Page;
        if (!depths.has(to)) depths.set(to, depth + 1);
      }
    }
    return got;
  }

  /** What a request gets. `ask` is the wire: it takes its time, and counts. */
  async fetch(request: PageRequest, ask: (url: string) => Promise<number>): Promise<PageAnswer> {
    const redirects: PageAnswer["redirects"] = [];
    let url = request.url;
    for (;;) {
      const page = this.#byUrl.get(url.replace(/\?.*$/, ""));
      const hit = await ask(page?.url ?? url);
      const answer = { finalUrl: url, redirects, durationMs: 1, requests: 1, contentType: "text/html" };
      const status = (code: number, more: Partial<PageAnswer> = {}): PageAnswer => ({
        ...answer,
        status: code,
        headers: {},
        body: "",
        ...more,
      });
      switch (page?.way.kind) {
        case undefined:
        case "missing":
          return status(404);
        case "broken":
          return status(500);
        case "flaky":
          if (hit <= page.way.times) throw new FetchFailure("connection_reset", "the connection was reset");
          return status(200, { body: this.#textOf(page) });
        case "limited":
          if (hit <= page.way.times) return status(429);
          return status(200, { body: this.#textOf(page) });
        case "ok":
          return status(200, { body: this.#textOf(page) });
        case "redirect": {
          const to = (this.pages[page.way.to] as Page).url;
          if (redirects.length >= REDIRECTS_AT_MOST) throw new FetchFailure("too_many_redirects", "in circles");
          if (request.followRedirects?.(new URL(url), new URL(to)) === false) return status(302, { notFollowed: to });
          redirects.push({ from: url, to, status: 302 });
          url = to;
        }
      }
    }
  }

  /** Links are written in several ways that mean the same page. */
  #textOf({ url, links }: Page): string {
    const written = links.map((link, index) => {
      const to = (this.pages[link] as Page).url;
      return `<a href="${[to, `${to}#part`, `${to}?utm_source=x`][index % 3]}">x</a>`;
    });
    return `<title>${url}</title><p>${url}</p>${written.join("")}`;
  }
}

function makeWay(random: Random, size: number): Way {
  const roll = random.next();
  if (roll < 0.55) return { kind: "ok" };
  if (roll < 0.65) return { kind: "flaky", times: 1 + integerBelow(random, 2) };
  if (roll < 0.7) return { kind: "missing" };
  if (roll < 0.73) return { kind: "broken" };
  if (roll < 0.78) return { kind: "limited", times: pick(random, [1, 2]) };
  return { kind: "redirect", to: integerBelow(random, size) };
}
