/** The demo site inside a server, for a first crawl. Part of the composition root. */
import type { DemoOffer, OpenDemo } from "../../api/deps.ts";
import type { Clock } from "../../base/clock.ts";
import { OrbError } from "../../base/errors.ts";
import { findBrowserPath } from "../browser-path.ts";
import type { Config } from "../../config/options.ts";
import type { DemoSite } from "../../demo/site.ts";

interface DemoHostOptions {
  config: Config;
  clock: Clock;
  /** Whether this process fetches the pages of its crawl: only its guard allows the demo site. */
  worksHere: () => boolean;
}

export class DemoHost implements DemoOffer {
  /** Local ports that the guard allows: the demo site's, while it runs. */
  readonly ownPorts = new Set<number>();
  readonly #options: DemoHostOptions;
  #site: Promise<DemoSite> | null = null;
  #closed = false;

  constructor(options: DemoHostOptions) {
    this.#options = options;
  }

  whyNot(): string | null {
    return this.#options.worksHere() ? null : "this server runs no worker; run orb demo instead";
  }

  async url(): Promise<string | null> {
    return this.#site === null ? null : `${(await this.#site).origin}/`;
  }

  async open(): Promise<OpenDemo> {
    const why = this.#closed ? "the server is stopping" : this.whyNot();
    if (why !== null) throw new OrbError("demo_unavailable", `the demo site cannot be started: ${why}`);
    this.#site ??= this.#start().catch((error: unknown) => {
      this.#site = null;
      throw error;
    });
    const { origin } = await this.#site;
    const { shopCrawl } = await import("../../demo/tour.ts");
    const browser = (await findBrowserPath(this.#options.config)) !== null;
    return { url: `${origin}/`, browser, crawl: shopCrawl(origin, { browser }) };
  }

  async #start(): Promise<DemoSite> {
    // Loaded only when requested.
    const { startDemoSite } = await import("../../demo/site.ts");
    const site = await startDemoSite(this.#options.clock);
    this.ownPorts.add(site.port);
    return site;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.ownPorts.clear();
    const site = await this.#site?.catch(() => null);
    await site?.close();
  }
}
