/** One browser of APP_BROWSER_URL: connects, checks that it uses the guarding proxy, and reconnects with back-off. */
import { type Clock, sleep } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { type BrowserProxy, PROBE_URL } from "../../net/browser-proxy.ts";
import { FAILURE_HEADER } from "../../net/proxy-forward.ts";
import { BrowserInstance, type OpenPage } from "./instance.ts";

/** As reported to operators. */
export interface BrowserState {
  /** Host and port, without credentials. */
  name: string;
  state: "connecting" | "up" | "down";
  /** In use now, by this process. */
  pages: number;
  maxPages: number;
  version: string | null;
  /** Why it is down. */
  problem: { message: string; since: number } | null;
}

export interface RemoteBrowserOptions {
  /** CDP endpoint: `ws://…` of a browser, or `http://…` of its debugging port. */
  url: string;
  maxPages: number;
  /** It connects without the guarding proxy. */
  trusted: boolean;
  proxy: () => Promise<BrowserProxy>;
  clock: Clock;
  log: Log;
  userAgent: string;
  tls?: { rejectUnauthorized?: boolean };
  onChange: () => void;
}

const CONNECT_MS = 10_000;
const PROBE_MS = 10_000;
const LEAST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

export class RemoteBrowser {
  readonly name: string;
  readonly maxPages: number;
  readonly #options: RemoteBrowserOptions;
  readonly #stop = new AbortController();
  readonly #tried: PromiseWithResolvers<void> = Promise.withResolvers();
  #running: Promise<void> | null = null;
  #instance: BrowserInstance | null = null;
  #problem: BrowserState["problem"] = null;
  #failures = 0;

  constructor(options: RemoteBrowserOptions) {
    this.#options = options;
    this.maxPages = options.maxPages;
    this.name = new URL(options.url).host;
  }

  /** The connected browser, if it takes pages. */
  get instance(): BrowserInstance | null {
    return this.#instance === null || this.#instance.retired ? null : this.#instance;
  }

  get isDown(): boolean {
    return this.#problem !== null;
  }

  get state(): BrowserState {
    const { instance, name, maxPages } = this;
    return {
      name,
      state: instance !== null ? "up" : this.isDown ? "down" : "connecting",
      pages: this.#instance?.inUse ?? 0,
      maxPages,
      version: instance?.version ?? null,
      problem: this.#problem,
    };
  }

  /** Connects, and stays connected until `close`; resolves after the first attempt. */
  start(): Promise<void> {
    this.#running ??= this.#run();
    return this.#tried.promise;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#instance?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, log, onChange } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const instance = await this.#connect();
        if (this.isDown) log.info(`the browser at ${this.name} works again`);
        this.#instance = instance;
        this.#problem = null;
        this.#failures = 0;
        this.#tried.resolve();
        onChange();
        if (signal.aborted) await instance.close();
        await instance.ended;
        this.#instance = null;
        if (!signal.aborted) this.#fail("the connection was lost");
      } catch (error) {
        this.#fail(shortMessage(error));
      }
      this.#tried.resolve();
      onChange();
      await sleep(clock, Math.min(LONGEST_WAIT_MS, LEAST_WAIT_MS * 2 ** this.#failures), signal);
      this.#failures += 1;
    }
  }

  #fail(message: string): void {
    const { clock, log } = this.#options;
    if (this.#stop.signal.aborted) return;
    if (!this.isDown) log.warn(`the browser at ${this.name} cannot be used: ${message}`);
    this.#problem = { message, since: this.#problem?.since ?? clock.now() };
  }

  async #connect(): Promise<BrowserInstance> {
    const { clock, url, userAgent, trusted, tls } = this.#options;
    const trustAll = tls?.rejectUnauthorized === false;
    const proxy = await this.#options.proxy();
    // Lazy: it is large.
    const { chromium } = await import("playwright-core");
    const { address, headers } = endpointOf(url);
    const browser = await chromium.connectOverCDP(address, { timeout: CONNECT_MS, headers });
    const instance = await BrowserInstance.of(browser, { proxy, clock, trustAll, userAgent, remote: { trusted } });
    try {
      if (!trusted) await probe(instance, proxy.address);
      return instance;
    } catch (error) {
      await instance.close();
      throw error;
    }
  }
}

/** Without the proxy no page opens: fail before the first one, with the address that does not work. */
async function probe(instance: BrowserInstance, address: string): Promise<void> {
  let opened: OpenPage | null = null;
  try {
    opened = await instance.openPage({});
    const answer = await opened.page.goto(PROBE_URL, { timeout: PROBE_MS });
    if (answer?.headers()[FAILURE_HEADER] !== opened.guest.id) throw new Error("another server answered");
  } catch (error) {
    const fix = "set APP_BROWSER_PROXY_HOST to the address at which it reaches this machine";
    const [, code] = /net::(ERR_\w+)/.exec(messageOf(error)) ?? [];
    const why = code === undefined ? "" : ` (${code})`;
    throw new FetchFailure("browser_failed", `it cannot reach the guarding proxy at ${address}${why}; ${fix}`, {
      cause: error,
    });
  } finally {
    if (opened !== null) await instance.closePage(opened);
  }
}

/** Moves `user:password@` into a header: the debugging port's own client drops it. */
function endpointOf(url: string): { address: string; headers: Record<string, string> } {
  const parsed = new URL(url);
  const pair = `${decodeURIComponent(parsed.username)}:${decodeURIComponent(parsed.password)}`;
  parsed.username = "";
  parsed.password = "";
  const headers: Record<string, string> =
    pair === ":" ? {} : { authorization: `Basic ${Buffer.from(pair, "utf8").toString("base64")}` };
  return { address: parsed.href, headers };
}

/** Playwright's message has many lines, and repeats the URL, which may contain a token. */
function shortMessage(error: unknown): string {
  if (error instanceof FetchFailure) return error.message;
  const [line = ""] = messageOf(error).split("\n");
  const text = line.replace(/^[\w.]+: /, "").replace(/\b(?:ws|http)s?:\/\/\S+/g, "it");
  if (/Timeout \d+ms exceeded/.test(text)) return `it does not answer within ${CONNECT_MS / 1000} s`;
  return text.slice(0, 200);
}
