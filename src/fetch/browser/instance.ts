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
  /** Aborts the wait for a free slot; an open page is up to its user. */
  signal?: AbortSignal;
  /** Bound to their origin. */
  credentials?: Credentials | null;
  blockResources?: boolean;
  /** Emulates a phone; the same for all pages under one key. */
  mobile?: boolean;
  /** The proxy for all connections of the page. Default: none. */
  via?: Upstream;
  /** Network traffic budget of the page. */
  maxBytes?: number;
  /** Called when the guard refuses a host. */
  onRefused?: (host: string) => void;
  /** Called with each window that the page opens, behind the same gate; without it they are closed. */
  onPopup?: (popup: Page, session: CDPSession) => unknown;
  /** Creates the watcher of the page's documents, once the page is registered at the proxy. */
  documents?: (guest: ProxyGuest) => DocumentWatch;
  /**
   * Pages under one key may reuse one browser page, with its cookies and storage: pages of one run with the same
   * credentials, options and proxy. Without a key a page gets a fresh context.
   */
  key?: string;
  /** See `PageRequest`. */
  memory?: MemoryShare;
}

/** A page in its own context: shares nothing with pages of another key, and nothing outlives it. */
export interface OpenPage {
  page: Page;
  context: BrowserContext;
  /** For features that Playwright does not expose. */
  session: CDPSession;
  guest: ProxyGuest;
  /** See `Gate`. */
  watch(documents: DocumentWatch): void;
  /** Rejects with `browser_crashed` when the page is lost; never resolves. */
  lost: Promise<never>;
}

const VIEWPORT = { width: 1280, height: 720 };
const HEARTBEAT_MS = 2_000;
const UNRESPONSIVE_MS = 8_000;
const CLOSE_MS = 5_000;

/** Removes WebRTC, which opens sockets past the proxy: a browser of ours is started without it, see `Launcher`. */
const WITHOUT_WEBRTC = `for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCIceTransport"])
  Reflect.deleteProperty(globalThis, name);`;

const NO_PROXY_WHEN_TRUSTED =
  "this job uses a proxy, which a browser of APP_BROWSER_URL does not use with APP_BROWSER_TRUSTED: unset APP_BROWSER_TRUSTED, or fetch the page without the proxy";

interface InstanceContext {
  proxy: BrowserProxy;
  /** A browser that we did not start. Trusted: it connects without the guarding proxy. */
  remote?: { trusted: boolean };
  clock: Clock;
  /** Ignore certificate errors. */
  trustAll: boolean;
  userAgent: string;
}

/** One running browser and the pages in it. */
export class BrowserInstance {
  /** Pages open or opening. */
  open = 0;
  served = 0;
  /** Pages that are not parked. */
  inUse = 0;
  /** Takes no new pages, and closes with its last one. */
  retired = false;
  gone = false;
  readonly process: BrowserProcess;
  readonly remote: { trusted: boolean } | null;
  /** Resolves when the browser is gone. */
  readonly ended: Promise<void>;
  readonly #browser: Browser;
  readonly #proxy: BrowserProxy;
  readonly #clock: Clock;
  readonly #trustAll: boolean;
  readonly #userAgent: string;
  readonly #loss: PromiseWithResolvers<never> = Promise.withResolvers();
  #heartbeat: Timer | null = null;
  #cleanup: Promise<void> = Promise.resolve();

  private constructor(browser: Browser, process: BrowserProcess, context: InstanceContext) {
    this.#browser = browser;
    this.process = process;
    this.#proxy = context.proxy;
    this.#clock = context.clock;
    this.#trustAll = context.trustAll;
    this.#userAgent = context.userAgent;
    this.remote = context.remote ?? null;
    this.ended = this.#loss.promise.catch(() => {});
    browser.once("disconnected", () => this.#lose());
  }

  get version(): string {
    return this.#browser.version();
  }

  static async of(browser: Browser, context: InstanceContext): Promise<BrowserInstance> {
    try {
      const find = context.remote === undefined ? BrowserProcess.of : BrowserProcess.ofRemote;
      return new BrowserInstance(browser, await find(browser, context.clock), context);
    } catch (error) {
      await browser.close().catch(() => {});
      throw crashed("the browser exited during startup", error);
    }
  }

  async openPage(options: PageOptions): Promise<OpenPage> {
    const bound = boundCredentials(options.credentials ?? null);
    const guest = this.#proxy.admit({
      ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
      ...(bound === undefined ? {} : { bound }),
      ...(options.via === undefined ? {} : { via: options.via }),
      ...(options.onRefused === undefined ? {} : { onRefused: options.onRefused }),
    });
    this.#scheduleHeartbeat();
    try {
      return await Promise.race([this.#prepare(options, guest, bound), this.#loss.promise]);
    } catch (error) {
      guest.end();
      throw error instanceof FetchFailure ? error : crashed("the browser could not open a page", error);
    }
  }

  /** Navigates to about:blank, which ends the activity of the last visit. Returns whether that worked. */
  async emptyPage({ page, guest }: OpenPage): Promise<boolean> {
    const emptied = page.goto("about:blank", { timeout: CLOSE_MS }).then(
      () => true,
      () => false,
    );
    if (!(await emptied)) return false;
    guest.renew();
    return !this.gone;
  }

  /** Closes the page and its context. A browser that fails to is retired. */
  async closePage({ context, guest }: OpenPage): Promise<void> {
    guest.end();
    const closed = await finishesWithin(this.#clock, CLOSE_MS, context.close());
    if (closed) return;
    this.retired = true;
    if (!(await this.process.answers(CLOSE_MS))) this.#kill();
  }

  async close(): Promise<void> {
    this.retired = true;
    this.#heartbeat?.cancel();
    if (!(await finishesWithin(this.#clock, CLOSE_MS, this.#browser.close()))) {
      this.process.kill();
      await finishesWithin(this.#clock, CLOSE_MS, this.#browser.close());
    }
    await this.#cleanup;
  }

  #lose(): void {
    if (this.gone) return;
    this.gone = true;
    this.retired = true;
    this.#heartbeat?.cancel();
    this.#loss.reject(crashed("the browser exited while the page was open"));
    this.#cleanup = this.process.cleanUp();
  }

  /** A remote browser cannot be killed: its pages are given up, and the connection is closed. */
  #kill(): void {
    this.process.kill();
    if (this.remote === null) return;
    this.#lose();
    void this.#browser.close().catch(() => {});
  }

  async #prepare(options: PageOptions, guest: ProxyGuest, bound: Bound | undefined): Promise<OpenPage> {
    const { credentials, blockResources, documents } = options;
    const stored = credentials?.localStorage ?? [];
    const isDirect = this.remote?.trusted === true;
    if (isDirect && options.via !== undefined) throw new FetchFailure("request_invalid", NO_PROXY_WHEN_TRUSTED);
    const context = await this.#browser.newContext({
      viewport: VIEWPORT,
      ...(options.mobile === true ? phoneOptions(this.#userAgent, this.#browser.version()) : {}),
      serviceWorkers: "block",
      acceptDownloads: false,
      ignoreHTTPSErrors: this.#trustAll,
      ...(this.remote === null || options.mobile === true ? {} : { userAgent: this.#userAgent }),
      // `openGate` supplies the password.
      ...(isDirect ? {} : { proxy: { server: this.#proxy.address, bypass: "<-loopback>" } }),
      ...(stored.length === 0
        ? {}
        : { storageState: { cookies: [], origins: [{ origin: credentials!.origin, localStorage: [...stored] }] } }),
    });
    try {
      if (this.remote !== null && !isDirect) await context.addInitScript(WITHOUT_WEBRTC);
      const cookies = credentials === null || credentials === undefined ? [] : cookiesOf(credentials);
      if (cookies.length > 0) await context.addCookies(cookies).catch(rejectCookies);
      const page = await context.newPage();
      const gate = () => ({
        ...(bound === undefined ? {} : { bound }),
        ...(blockResources === undefined ? {} : { blockResources }),
        ...(documents === undefined ? {} : { documents: documents(guest) }),
        direct: isDirect,
      });
      context.on("page", (other) => {
        const { onPopup } = options;
        const close = () => void other.close().catch(() => {});
        if (onPopup === undefined) return close();
        openGate(context, other, guest, gate()).then(({ session }) => onPopup(other, session), close);
      });
      const crash = Promise.withResolvers<never>();
      crash.promise.catch(() => {});
      page.once("crash", () => crash.reject(pageCrashed()));
      const { session, watch } = await openGate(context, page, guest, gate());
      const lost = Promise.race([crash.promise, this.#loss.promise]);
      lost.catch(() => {});
      return { page, context, session, guest, watch, lost };
    } catch (error) {
      await finishesWithin(this.#clock, CLOSE_MS, context.close());
      throw error;
    }
  }

  /** An unresponsive browser would block its pages, and all later ones, until their timeouts. */
  #scheduleHeartbeat(): void {
    if (this.#heartbeat !== null || this.gone) return;
    this.#heartbeat = this.#clock.after(HEARTBEAT_MS, () => {
      void this.process.answers(UNRESPONSIVE_MS).then((alive) => {
        this.#heartbeat = null;
        if (!alive && !this.gone) this.#kill();
        else if (this.open > 0 || this.remote !== null) this.#scheduleHeartbeat();
      });
    });
  }
}

/** Whether the work settled in time; a rejection counts. */
function finishesWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.after(ms, () => resolve(false), { keepAlive: true });
    const done = () => {
      timer.cancel();
      resolve(true);
    };
    work.then(done, done);
  });
}

/** The renderer died: caused by the page, and other pages are not affected. */
export function pageCrashed(cause?: unknown): FetchFailure {
  return new FetchFailure("page_crashed", "the page crashed in the browser", { cause });
}

export function crashed(message: string, cause?: unknown): FetchFailure {
  return new FetchFailure("browser_crashed", `${message}; the next attempt gets a new one`, { cause });
}

function rejectCookies(error: unknown): never {
  if (isGone(error)) throw error;
  throw new FetchFailure("request_invalid", "credentials.cookies: the browser rejected one of the cookies", {
    cause: error,
  });
}

/** Whether Playwright reports that the page in use is gone. */
export function isGone(error: unknown): boolean {
  return (
    error instanceof Error &&
    !(error instanceof FetchFailure) &&
    /has been closed|target closed|session closed|(?:page|target) crashed|browser closed/i.test(error.message)
  );
}

function boundCredentials(credentials: Credentials | null): Bound | undefined {
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

/** Restricts cookies to the origin's host, even when they name a wider domain; drops those of other domains. */
function cookiesOf({ origin, cookies }: Credentials) {
  const { hostname, protocol } = new URL(origin);
  return cookies
    .filter((cookie) => matchesDomain(cookie, hostname))
    .map(({ name, value, ...rest }) => ({
      name,
      value,
      domain: hostname,
      path: rest.path ?? "/",
      expires: rest.expires ?? -1,
      httpOnly: rest.httpOnly ?? false,
      // Keeps the cookies of an https origin off plain http.
      secure: protocol === "https:" || (rest.secure ?? false),
      ...(rest.sameSite === undefined ? {} : { sameSite: rest.sameSite }),
    }));
}

function matchesDomain({ domain }: Cookie, hostname: string): boolean {
  if (domain === undefined || domain === "") return true;
  const bare = domain.replace(/^\./, "").toLowerCase();
  return hostname === bare || hostname.endsWith(`.${bare}`);
}
