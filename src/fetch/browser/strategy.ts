import { createHash } from "node:crypto";
import type { Request } from "playwright-core";
import { type Clock, sleep } from "../../base/clock.ts";
import { type Credentials, noCredentials } from "../../domain/text/credentials.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { AddressPolicy } from "../../net/address.ts";
import { checkUrl } from "../../net/guard.ts";
import { type PageAnswer, PageFailure, type PageRequest, type PageStrategy, type TakenFromPage } from "../page.ts";
import { PageActions } from "./actions.ts";
import { MainDocument, tooLarge } from "./document.ts";
import { takeEvidence } from "./evidence.ts";
import { isGone, type OpenPage } from "./instance.ts";
import { brokenDocument, navigationFailure } from "./navigation-failure.ts";
import type { BrowserPool } from "./pool.ts";
import { pageTime } from "./page-time.ts";
import { takePicture } from "./picture.ts";
import { PageTraffic, settle } from "./settle.ts";
import { decodePercent } from "../../domain/text/url.ts";

interface SeenPage {
  status: number;
  headers: Record<string, string>;
  html: string;
  url: string;
}

export interface BrowserStrategyOptions {
  pool: BrowserPool;
  clock: Clock;
  policy: AddressPolicy;
  /** Whether the page is a challenge that may resolve by itself. */
  isChallenge?: (page: SeenPage) => boolean;
}

const CHALLENGE_MS = 10_000;
const CHALLENGE_POLL_MS = 300;
const DEADLINE_MARGIN_MS = 500;
/** The traffic budget exceeds the body limit: a page also loads images, fonts and scripts. */
const TRAFFIC_PER_BODY = 8;
const MIN_TRAFFIC = 64 * 1024 * 1024;

/** Fetches pages as rendered by a browser. */
export function createBrowserStrategy(options: BrowserStrategyOptions): PageStrategy {
  return {
    name: "browser",
    async fetch(request) {
      const url = checkUrl(request.url, options.policy);
      request.signal?.throwIfAborted();
      const credentials = withUrlCredentials(request.credentials, url);
      let main!: MainDocument;
      const { blockResources = false, mobile = false } = request.browser ?? {};
      return options.pool.withPage(
        {
          credentials,
          maxBytes: Math.max(MIN_TRAFFIC, request.maxBodyBytes * TRAFFIC_PER_BODY),
          blockResources,
          mobile,
          ...(request.via === undefined ? {} : { via: request.via }),
          ...(request.shareKey === undefined ? {} : { key: keyOf(request, credentials) }),
          ...(request.signal === undefined ? {} : { signal: request.signal }),
          ...(request.memory === undefined ? {} : { memory: request.memory }),
          documents: (guest) =>
            (main = new MainDocument({
              policy: options.policy,
              maxBodyBytes: request.maxBodyBytes,
              guestId: guest.id,
              proxyFailure: (host) => guest.failureOf(host),
              ...(request.followRedirects === undefined ? {} : { followRedirects: request.followRedirects }),
              ...(request.beforeRedirect === undefined ? {} : { beforeRedirect: request.beforeRedirect }),
            })),
        },
        async (opened) => {
          request.mayAsk?.();
          return new Visit(options, request, url.href, opened, main).run();
        },
      );
    },
  };
}

/** Only pages with the same credentials, options and proxy may reuse a browser page. */
function keyOf({ shareKey, via, browser }: PageRequest, credentials: Credentials | null): string {
  const { blockResources = false, mobile = false } = browser ?? {};
  return createHash("sha256")
    .update(JSON.stringify([shareKey, credentials, blockResources, mobile, via]))
    .digest("base64url");
}

/** Moves `user:password@` from the URL into the credentials of its origin. */
function withUrlCredentials(credentials: Credentials | null, url: URL): Credentials | null {
  if (url.username === "" && url.password === "") return credentials;
  const basic = { username: decodePercent(url.username), password: decodePercent(url.password) };
  url.username = "";
  url.password = "";
  if (credentials !== null && credentials.origin !== url.origin) return credentials;
  return { ...(credentials ?? noCredentials(url.origin)), basic };
}

/** One page visit, from URL to answer. */
class Visit {
  readonly #options: BrowserStrategyOptions;
  readonly #request: PageRequest;
  readonly #url: string;
  readonly #opened: OpenPage;
  readonly #main: MainDocument;
  readonly #traffic: PageTraffic;
  readonly #over = new AbortController();
  /** The page is read at this time even if it has not settled. */
  #deadline = 0;
  #actions: PageActions | null = null;
  #actionFailure: FetchFailure | null = null;
  /** Rejects when the document breaks off; Chromium renders the partial one, and may never report it as complete. */
  readonly #breaks: PromiseWithResolvers<never> = Promise.withResolvers();

  constructor(
    options: BrowserStrategyOptions,
    request: PageRequest,
    url: string,
    opened: OpenPage,
    main: MainDocument,
  ) {
    this.#options = options;
    this.#request = request;
    this.#url = url;
    this.#opened = opened;
    this.#main = main;
    const { page } = opened;
    this.#traffic = new PageTraffic(page, options.clock);
    page.on("requestfailed", this.#onFailed);
    this.#breaks.promise.catch(() => {});
  }

  readonly #onFailed = (failed: Request): void => {
    const { page, guest } = this.#opened;
    if (!failed.isNavigationRequest() || failed.frame() !== page.mainFrame() || this.#main.head === null) return;
    const broken = brokenDocument(failed.failure()?.errorText ?? "");
    if (broken !== null) this.#breaks.reject(guest.failureOf(URL.parse(failed.url())?.host ?? "") ?? broken);
  };

  /** The page may be reused for another visit. */
  #stopListening(): void {
    this.#traffic.stop();
    this.#opened.page.off("requestfailed", this.#onFailed);
  }

  async run(): Promise<PageAnswer> {
    const { clock } = this.#options;
    const { timeoutMs, signal, wantsEvidence } = this.#request;
    const startedAt = clock.monotonic();
    this.#deadline = startedAt + timeoutMs - Math.min(DEADLINE_MARGIN_MS, timeoutMs / 4);
    const ended = Promise.withResolvers<"late" | "aborted">();
    const timer = clock.after(timeoutMs, () => ended.resolve("late"), { keepAlive: true });
    const abort = () => ended.resolve("aborted");
    signal?.addEventListener("abort", abort, { once: true });
    let answer: PageAnswer | "late" | "aborted";
    try {
      const work = this.#visit();
      // After a timeout or an abort, its result is ignored.
      work.catch(() => {});
      answer = await Promise.race([work, ended.promise]);
    } catch (error) {
      if (error !== this.#actionFailure || this.#actionFailure === null) throw error;
      const { reason, message } = this.#actionFailure.failure;
      throw new PageFailure(await this.#evidence(), reason, message, { cause: error });
    } finally {
      timer.cancel();
      signal?.removeEventListener("abort", abort);
      this.#over.abort();
      this.#stopListening();
    }
    if (answer === "aborted") throw signal!.reason as Error;
    if (answer === "late") throw await this.#late();
    answer.durationMs = clock.monotonic() - startedAt;
    if (this.#main.body === null && wantsEvidence !== undefined && (await wantsEvidence(answer)))
      answer.evidence = await this.#evidence(answer.body as string);
    return answer;
  }

  async #visit(): Promise<PageAnswer> {
    await this.#goto();
    const main = this.#main;
    if (main.notFollowed !== null) return { ...this.#answer(""), notFollowed: main.notFollowed };
    if (main.body !== null) return this.#answer(main.body);
    let html = await this.#settled();
    // A script may have navigated to something that is not HTML meanwhile.
    if (main.body !== null) return this.#answer(main.body);
    const { clock, isChallenge } = this.#options;
    const giveUpAt = Math.min(clock.monotonic() + CHALLENGE_MS, this.#deadline);
    while (isChallenge?.(this.#seen(html)) === true && clock.monotonic() < giveUpAt && !this.#over.signal.aborted) {
      await sleep(clock, CHALLENGE_POLL_MS, this.#over.signal);
      html = await this.#settled();
    }
    const taken = await this.#act(html);
    if (main.body !== null) return this.#answer(main.body);
    return {
      ...this.#answer(taken?.html ?? html),
      finalUrl: this.#shownUrl(),
      browser: "playwright-chromium",
      ...(taken === null ? {} : { taken: taken.taken }),
    };
  }

  /** Actions do not run on error pages and challenges. */
  #isUsable(html: string): boolean {
    const { status = 0 } = this.#main.head ?? {};
    return status < 400 && this.#options.isChallenge?.(this.#seen(html)) !== true;
  }

  /** Runs waits, actions and the screenshot, and reads the page again; null: none requested. */
  async #act(seen: string): Promise<{ html: string | null; taken: TakenFromPage } | null> {
    const { waitMs = 0, actions = [], picture } = this.#request.browser ?? {};
    if ((waitMs === 0 && actions.length === 0 && picture === undefined) || !this.#isUsable(seen)) return null;
    const { clock } = this.#options;
    const { page, session } = this.#opened;
    if (waitMs > 0) await pageTime(page, waitMs, { clock, signal: this.#over.signal });
    const done = (this.#actions = new PageActions(this.#actionContext()));
    try {
      await done.do(actions);
      const html = waitMs > 0 || actions.length > 0 ? await this.#settled(false) : null;
      done.refuse();
      const left = this.#deadline - clock.monotonic();
      const screenshot =
        picture === undefined || this.#main.body !== null ? null : await takePicture(page, session, picture, left);
      return { html, taken: { screenshot, actions: actions.length === 0 ? null : done.taken } };
    } catch (error) {
      if (error instanceof FetchFailure) this.#actionFailure = error;
      throw error;
    }
  }

  #actionContext() {
    const main = this.#main;
    main.refusal = null;
    return {
      opened: this.#opened,
      traffic: this.#traffic,
      clock: this.#options.clock,
      maxBodyBytes: this.#request.maxBodyBytes,
      signal: this.#over.signal,
      deadline: this.#deadline,
      complete: this.#complete,
      refusal: () => {
        const why = main.refusal;
        main.refusal = null;
        return why;
      },
      hasLeft: () => {
        if (main.failure !== null) throw main.failure;
        return main.body !== null;
      },
    };
  }

  /** The URL that the page shows: a script may have changed it within the origin. */
  #shownUrl(): string {
    const shown = URL.parse(this.#opened.page.url());
    const answered = this.#main.head?.url ?? this.#url;
    return shown !== null && shown.origin === URL.parse(answered)?.origin ? shown.href.split("#")[0]! : answered;
  }

  async #goto(): Promise<void> {
    const { page } = this.#opened;
    try {
      const arrived = page.goto(this.#url, { waitUntil: "domcontentloaded", timeout: 0 });
      arrived.catch(() => {});
      await Promise.race([arrived, this.#main.kept, this.#breaks.promise]);
    } catch (error) {
      if (error instanceof FetchFailure || isGone(error)) throw error;
      const main = this.#main;
      if (main.failure !== null) throw main.failure;
      if (main.notFollowed !== null || main.body !== null) return;
      // The page navigated before it was complete.
      if (error instanceof Error && error.message.includes("interrupted by another navigation"))
        return this.#complete();
      throw this.#failure(error);
    }
  }

  /** Waits until the current document is complete, or cannot become so. */
  readonly #complete = async (): Promise<void> => {
    const complete = this.#opened.page.waitForLoadState("domcontentloaded", { timeout: 0 });
    complete.catch(() => {});
    await Promise.race([complete, this.#main.kept, this.#breaks.promise]);
  };

  async #settled(waitForSelector = true): Promise<string> {
    const { page, session } = this.#opened;
    const { maxBodyBytes, browser } = this.#request;
    const settled = settle(page, session, this.#traffic, {
      clock: this.#options.clock,
      maxBodyBytes,
      waitFor: waitForSelector ? browser?.waitFor : undefined,
      deadline: this.#deadline,
      complete: this.#complete,
      refresh: () => this.#main.head?.headers["refresh"] ?? "",
      kept: this.#main.kept,
      signal: this.#over.signal,
    });
    settled.catch(() => {});
    const { html } = await Promise.race([settled, this.#breaks.promise]);
    if (this.#main.failure !== null) throw this.#main.failure;
    if (html === null || Buffer.byteLength(html) > maxBodyBytes) throw tooLarge(maxBodyBytes);
    return html;
  }

  /** The browser reports a refused tunnel without its cause; the proxy knows it. */
  #failure(error: unknown): FetchFailure {
    const last = this.#main.redirects.at(-1)?.to ?? this.#url;
    const { host } = new URL(last);
    return this.#opened.guest.failureOf(host) ?? navigationFailure(error, host);
  }

  async #late(): Promise<PageFailure> {
    const doing = this.#actions?.doing ?? null;
    const message = `the page was not ready after ${this.#request.timeoutMs} ms${doing === null ? "" : `, at ${doing}`}`;
    const evidence = this.#main.head === null ? null : await this.#evidence();
    const overdue = this.#actions?.overdue?.failure;
    if (overdue !== undefined) return new PageFailure(evidence, overdue.reason, overdue.message);
    return new PageFailure(evidence, "timeout_total", message);
  }

  #evidence(html?: string) {
    return takeEvidence(this.#opened.session, this.#options.clock, this.#request.maxBodyBytes, html);
  }

  #seen(html: string): SeenPage {
    const { status = 0, headers = {} } = this.#main.head ?? {};
    return { status, headers, html, url: this.#opened.page.url() };
  }

  #answer(body: string | Buffer): PageAnswer {
    const main = this.#main;
    const head = main.head;
    if (head === null) throw new FetchFailure("internal", "the browser showed a page without a response from the site");
    return {
      status: head.status,
      finalUrl: head.url,
      redirects: main.redirects,
      headers: head.headers,
      contentType: head.contentType,
      body,
      durationMs: 0,
      requests: main.requests,
    };
  }
}
