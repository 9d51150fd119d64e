import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import type { Clock, Timer } from "../../base/clock.ts";
import type { Cookie, Credentials } from "../../domain/text/credentials.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import type { Bound } from "../../net/bound.ts";
import type { BrowserProxy } from "../../net/browser-proxy.ts";
import type { ProxyGuest } from "../../net/proxy-guest.ts";
import type { MemoryShare } from "../page.ts";
import { type DocumentWatch, openGate } from "./gate.ts";
import { phoneOptions } from "./phone.ts";
import { BrowserProcess } from "./process.ts";

export interface PageOptions {
  /** Ends the wait for a free slot; an open page belongs to its user. */
  signal?: AbortSignal;
  /** Bound to their origin. */
  credentials?: Credentials | null;
  blockResources?: boolean;
  /** As a phone shows it; pages under one key are all so, or none is. */
  mobile?: boolean;
  /** The proxy that all connections of the page go through. Default: none. */
  via?: Upstream;
  /** All that the page may move over the network. */
  maxBytes?: number;
  /** The guard refused a host that the page asked for. */
  onRefused?: (host: string) => void;
  /** Sees the page's documents; made once its place at the proxy is known. */
  documents?: (guest: ProxyGuest) => DocumentWatch;
  /**
   * Pages under one key may follow each other in one page of the browser, with its cookies and its storage: pages of
   * one run, with the same credentials, wishes and proxy. Without a key a page has a context of its own.
   */
  key?: string;
  /** See `PageRequest`. */
  memory?: MemoryShare;
}

/** A page in a context of its own: nothing is shared with pages of another key, and nothing outlives it. */
export interface OpenPage {
  page: Page;
  context: BrowserContext;
  /** For what Playwright has no words for. */
  session: CDPSession;
  guest: ProxyGuest;
  /** See `Gate`. */
  watch(documents: DocumentWatch): void;
  /** Rejects with `browser_crashed` when the page is lost; never resolves. */
  lost: Promise<never>;
}

const VIEWPORT = { width: 1280, height: 720 };
const HEARTBEAT_MS = 2_000;
const SILENCE_MS = 8_000;
const CLOSE_MS = 5_000;

interface Surroundings {
  proxy: BrowserProxy;
  clock: Clock;
  /** Certificates are not looked at. */
  trustAll: boolean;
  userAgent: string;
}

/** One running browser and the pages in it. */
export class BrowserInstance {
  /** Pages that are open, or about to be. */
  open = 0;
  served = 0;
  /** Takes no new pages, and ends with its last one. */
  retired = false;
  gone = false;
  readonly process: BrowserProcess;
  readonly #browser: Browser;
  readonly #proxy: BrowserProxy;
  readonly #clock: Clock;
  readonly #trustAll: boolean;
  readonly #userAgent: string;
  readonly #loss: PromiseWithResolvers<never> = Promise.withResolvers();
  #heartbeat: Timer | null = null;
  #cleared: Promise<void> = Promise.resolve();

  private constructor(browser: Browser, process: BrowserProcess, surroundings: Surroundings) {
    this.#browser = browser;
    this.process = process;
    this.#proxy = surroundings.proxy;
    this.#clock = surroundings.clock;
    this.#trustAll = surroundings.trustAll;
    this.#userAgent = surroundings.userAgent;
    this.#loss.promise.catch(() => {});
    browser.once("disconnected", () => {
      this.gone = true;
      this.retired = true;
      this.#heartbeat?.cancel();
      this.#loss.reject(crashed("the browser ended while the page was open"));
      this.#cleared = this.process.clear();
    });
  }

  static async of(browser: Browser, surroundings: Surroundings): Promise<BrowserInstance> {
    try {
      return new BrowserInstance(browser, await BrowserProcess.of(browser, surroundings.clock), surroundings);
    } catch (error) {
      await browser.close().catch(() => {});
      throw crashed("the browser ended while it started", error);
    }
  }

  async openPage(options: PageOptions): Promise<OpenPage> {
    const bound = boundTo(options.credentials ?? null);
    const guest = this.#proxy.admit({
      ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
      ...(bound === undefined ? {} : { bound }),
      ...(options.via === undefined ? {} : { via: options.via }),
      ...(options.onRefused === undefined ? {} : { onRefused: options.onRefused }),
    });
    this.#watch();
    try {
      return await Promise.race([this.#prepare(options, guest, bound), this.#loss.promise]);
    } catch (error) {
      guest.end();
      throw error instanceof FetchFailure ? error : crashed("the browser could not open a page", error);
    }
  }

  /** Empties the page for its next visit: what the last one still does ends here. Whether that worked. */
  async emptyPage({ page, guest }: OpenPage): Promise<boolean> {
    const emptied = page.goto("about:blank", { timeout: CLOSE_MS }).then(
      () => true,
      () => false,
    );
    if (!(await emptied)) return false;
    guest.renew();
    return !this.gone;
  }

  /** Closes the page with all that belongs to it. A browser that does not manage to is not used again. */
  async closePage({ context, guest }: OpenPage): Promise<void> {
    guest.end();
    const closed = await within(this.#clock, CLOSE_MS, context.close());
    if (closed) return;
    this.retired = true;
    if (!(await this.process.answers(CLOSE_MS))) this.process.kill();
  }

  async close(): Promise<void> {
    this.retired = true;
    this.#heartbeat?.cancel();
    if (!(await within(this.#clock, CLOSE_MS, this.#browser.close()))) {
      this.process.kill();
      await within(this.#clock, CLOSE_MS, this.#browser.close());
    }
    await this.#cleared;
  }

  async #prepare(options: PageOptions, guest: ProxyGuest, bound: Bound | undefined): Promise<OpenPage> {
    const { credentials, blockResources, documents } = options;
    const stored = credentials?.localStorage ?? [];
    const context = await this.#browser.newContext({
      viewport: VIEWPORT,
      ...(options.mobile === true ? phoneOptions(this.#userAgent, this.#browser.version()) : {}),
      serviceWorkers: "block",
      acceptDownloads: false,
      ignoreHTTPSErrors: this.#trustAll,
      // The password is handed over at the gate, see there.
      proxy: { server: this.#proxy.address, bypass: "<-loopback>" },
      ...(stored.length === 0
        ? {}
        : { storageState: { cookies: [], origins: [{ origin: credentials!.origin, localStorage: [...stored] }] } }),
    });
    try {
      const cookies = credentials === null || credentials === undefined ? [] : cookiesOf(credentials);
      if (cookies.length > 0) await context.addCookies(cookies).catch(unusable);
      const page = await context.newPage();
      // A window that a page opens is of no use to anybody.
      context.on("page", (other) => void other.close().catch(() => {}));
      const crash = Promise.withResolvers<never>();
      crash.promise.catch(() => {});
      page.once("crash", () => crash.reject(pageCrashed()));
      const { session, watch } = await openGate(context, page, guest, {
        ...(bound === undefined ? {} : { bound }),
        ...(blockResources === undefined ? {} : { blockResources }),
        ...(documents === undefined ? {} : { documents: documents(guest) }),
      });
      const lost = Promise.race([crash.promise, this.#loss.promise]);
      lost.catch(() => {});
      return { page, context, session, guest, watch, lost };
    } catch (error) {
      await within(this.#clock, CLOSE_MS, context.close());
      throw error;
    }
  }

  /** A browser that has stopped answering would hold its pages until their time is over, and all that come after. */
  #watch(): void {
    if (this.#heartbeat !== null || this.gone) return;
    this.#heartbeat = this.#clock.after(HEARTBEAT_MS, () => {
      void this.process.answers(SILENCE_MS).then((alive) => {
        this.#heartbeat = null;
        if (!alive && !this.gone) this.process.kill();
        else if (this.open > 0) this.#watch();
      });
    });
  }
}

/** Whether it was done in time; a failure counts as done. */
function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.after(ms, () => resolve(false), { keepAlive: true });
    const done = () => {
      timer.cancel();
      resolve(true);
    };
    work.then(done, done);
  });
}

/** Its renderer died: that is the page's own doing, and other pages do not notice. */
export function pageCrashed(cause?: unknown): FetchFailure {
  return new FetchFailure("page_crashed", "the page crashed in the browser", { cause });
}

export function crashed(message: string, cause?: unknown): FetchFailure {
  return new FetchFailure("browser_crashed", `${message}; the next attempt gets a new one`, { cause });
}

function unusable(error: unknown): never {
  if (isGone(error)) throw error;
  throw new FetchFailure("request_invalid", "credentials.cookies: the browser does not take one of the cookies", {
    cause: error,
  });
}

/** What Playwright says when a page is gone that somebody is still using. */
export function isGone(error: unknown): boolean {
  return (
    error instanceof Error &&
    !(error instanceof FetchFailure) &&
    /has been closed|target closed|session closed|(?:page|target) crashed|browser closed/i.test(error.message)
  );
}

function boundTo(credentials: Credentials | null): Bound | undefined {
  if (credentials === null) return undefined;
  const { origin, basic } = credentials;
  const pair = basic === null ? "" : `${basic.username}:${basic.password}`;
  const headers = {
    ...(basic === null ? {} : { authorization: `Basic ${Buffer.from(pair, "utf8").toString("base64")}` }),
    ...credentials.headers,
  };
  const cookies = new Set(cookiesOf(credentials).map(({ name }) => name));
  return Object.keys(headers).length + cookies.size === 0 ? undefined : { origin, headers, cookies };
}

/** For the origin's host alone, whatever wider domain a cookie names; one of another domain is left out. */
function cookiesOf({ origin, cookies }: Credentials) {
  const { hostname, protocol } = new URL(origin);
  return cookies
    .filter((cookie) => belongs(cookie, hostname))
    .map(({ name, value, ...rest }) => ({
      name,
      value,
      domain: hostname,
      path: rest.path ?? "/",
      expires: rest.expires ?? -1,
      httpOnly: rest.httpOnly ?? false,
      // Otherwise it would go out in plain, too.
      secure: protocol === "https:" || (rest.secure ?? false),
      ...(rest.sameSite === undefined ? {} : { sameSite: rest.sameSite }),
    }));
}

function belongs({ domain }: Cookie, hostname: string): boolean {
  if (domain === undefined || domain === "") return true;
  const bare = domain.replace(/^\./, "").toLowerCase();
  return hostname === bare || hostname.endsWith(`.${bare}`);
}
