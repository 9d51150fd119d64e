import type { Log } from "../../base/log.ts";
import { isHeld } from "../../domain/run/waiting.ts";
import type { CrawlDetail } from "../../orchestrator/crawls/view.ts";
import type { RunSiteView } from "../../orchestrator/runs/sites.ts";
import { crawlBlock, retryingOf, waitsAsAWhole } from "./crawl-block.ts";
import { oneLine, plural, type Terminal } from "../print/output.ts";
import { Picture } from "../print/picture.ts";
import { RecentRate } from "../print/progress.ts";
import { waitingLeft } from "../print/waiting-words.ts";

const PLAIN_LINE_MS = 10_000;
/** This many waiting sites get their own line. */
const MOST_WAITING = 3;

export type DisplayMode = "live" | "plain" | "silent";

/** Progress of a crawl: a block drawn in place, or occasional plain lines. */
export class CrawlDisplay {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  readonly #mode: DisplayMode;
  readonly #picture: Picture;
  #whole = new RecentRate();
  #found = new RecentRate();
  #sites = new Map<string, RecentRate>();
  #seen: { view: CrawlDetail; sites: readonly RunSiteView[]; at: number } | null = null;
  #saidAt: number | null = null;

  constructor(terminal: Terminal, now: () => number, mode: DisplayMode) {
    this.#terminal = terminal;
    this.#now = now;
    this.#mode = mode;
    this.#picture = new Picture(terminal, mode === "live", (spinner) => this.#block(spinner));
  }

  /** Number of sites that fit. */
  get siteLines(): number {
    return this.#mode === "live" ? Math.max(1, Math.min(50, rowsOf() - 3)) : 0;
  }

  wrap(log: Log): Log {
    return this.#picture.wrap(log);
  }

  /** Null: keeps the sites shown last. */
  show(view: CrawlDetail, sites: readonly RunSiteView[] | null): void {
    const at = this.#now();
    // A pause does not count for the rates.
    if (view.status !== "running") [this.#whole, this.#found] = [new RecentRate(), new RecentRate()];
    // While the whole crawl waits, the rates stay.
    if (!isHeld(view.waiting_for) || this.#seen === null) {
      this.#whole.note(at, view.completed_items + view.failed_items + view.skipped_items);
      this.#found.note(at, view.total_items);
    }
    if (sites !== null) this.#noteRates(sites, at);
    this.#seen = { view, sites: sites ?? this.#seen?.sites ?? [], at };
    if (this.#mode === "plain") this.#say(view, at);
    this.#picture.show();
  }

  #noteRates(sites: readonly RunSiteView[], at: number): void {
    const rates = new Map<string, RecentRate>();
    for (const { site, counts } of sites) {
      const rate = this.#sites.get(site) ?? new RecentRate();
      rate.note(at, counts.completed + counts.failed + counts.skipped);
      rates.set(site, rate);
    }
    this.#sites = rates;
  }

  note(text: string): void {
    if (this.#mode !== "silent") this.#picture.note(text);
  }

  done(): void {
    this.#picture.done();
  }

  #block(spinner: string): string {
    if (this.#seen === null) return `${spinner} starting`;
    const { view, sites, at } = this.#seen;
    const moment = {
      view,
      sites,
      rate: this.#whole.perSecond(),
      foundRate: this.#found.perSecond(),
      rateOf: (site: string) => this.#sites.get(site)?.perSecond() ?? null,
      elapsedSeconds: view.duration_seconds + (view.status === "running" ? (this.#now() - at) / 1000 : 0),
      now: this.#now(),
      spinner,
    };
    const room = { columns: process.stderr.columns ?? 80, rows: rowsOf() };
    return crawlBlock(this.#terminal, moment, room).join("\n");
  }

  #say(view: CrawlDetail, at: number): void {
    if (this.#saidAt !== null && at - this.#saidAt < PLAIN_LINE_MS) return;
    this.#saidAt = at;
    const { total_items: known, failed_items: failed, pages_per_second: mean } = view;
    const done = view.completed_items + failed + view.skipped_items;
    const rate = this.#whole.perSecond() ?? mean;
    const what =
      waitsAsAWhole(view) ??
      [
        `${done} of ${plural(known, "known page")}`,
        `${rate.toFixed(1)}/s`,
        `${failed} failed`,
        ...retryingOf(view),
      ].join(", ");
    this.#terminal.err(`${what}\n`);
    for (const { site, waiting_for: why, last_failure: last } of view.waiting_sites.slice(0, MOST_WAITING)) {
      const because = last === null ? "" : `${last.message}; `;
      if (why !== null) this.#terminal.err(`  ${oneLine(`${site}: ${because}${waitingLeft(why, at)}`)}\n`);
    }
  }
}

function rowsOf(): number {
  return process.stderr.rows ?? 24;
}
