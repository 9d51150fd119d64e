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
  /** A page that may turn into the real one by itself, if one waits. */
  isChallenge?: (page: SeenPage) => boolean;
}

const CHALLENGE_MS = 10_000;
const CHALLENGE_LOOK_MS = 300;
const LAST_LOOK_MS = 500;
/** A page brings pictures, fonts and scripts along; what it may move in all is more than it may be itself. */
const TRAFFIC_PER_BODY = 8;
const LEAST_TRAFFIC = 64 * 1024 * 1024;

/** Gets pages as a browser shows them. */
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
          maxBytes: Math.max(LEAST_TRAFFIC, request.maxBodyBytes * TRAFFIC_PER_BODY),
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

/** Only pages that may see each other's cookies, and come the same way, share a page of the browser. */
function keyOf({ shareKey, via, browser }: PageRequest, credentials: Credentials | null): string {
  const { blockResources = false, mobile = false } = browser ?? {};
  return createHash("sha256")
    .update(JSON.stringify([shareKey, credentials, blockResources, mobile, via]))
    .digest("base64url");
}

/** `user:password@` in the address belongs to its origin, and is shown to nobody. */
function withUrlCredentials(credentials: Credentials | null, url: URL): Credentials | null {
  if (url.username === "" && url.password === "") return credentials;
  const basic = { username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
  url.username = "";
  url.password = "";
  if (credentials !== null && credentials.origin !== url.origin) return credentials;
  return { ...(credentials ?? noCredentials(url.origin)), basic };
}

/** One page, from its address to its answer. */
class Visit {
  readonly #options: BrowserStrategyOptions;
  readonly #request: PageRequest;
  readonly #url: string;
  readonly #opened: OpenPage;
  readonly #main: MainDocument;
  readonly #traffic: PageTraffic;
  readonly #over = new AbortController();
  /** What is there by then is the answer: a page that is not quite at rest is better than none. */
  #lastLookAt = 0;
  #actions: PageActions | null = null;
  /** What kept an action from being done. */
  #undone: FetchFailure | null = null;
  /** Rejects when the document breaks off; Chromium shows what there is of it, and may never say that it is complete. */
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

  /** The page may be used for another visit. */
  #leave(): void {
    this.#traffic.stop();
    this.#opened.page.off("requestfailed", this.#onFailed);
  }

  async run(): Promise<PageAnswer> {
    const { clock } = this.#options;
    const { timeoutMs, signal, wantsEvidence } = this.#request;
    const startedAt = clock.monotonic();
    this.#lastLookAt = startedAt + timeoutMs - Math.min(LAST_LOOK_MS, timeoutMs / 4);
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
      if (error !== this.#undone || this.#undone === null) throw error;
      const { reason, message } = this.#undone.failure;
      throw new PageFailure(await this.#evidence(), reason, message, { cause: error });
    } finally {
      timer.cancel();
      signal?.removeEventListener("abort", abort);
      this.#over.abort();
      this.#leave();
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
    // A script may have led to something that is no page while it was waited for.
    if (main.body !== null) return this.#answer(main.body);
    const { clock, isChallenge } = this.#options;
    const giveUpAt = Math.min(clock.monotonic() + CHALLENGE_MS, this.#lastLookAt);
    while (isChallenge?.(this.#seen(html)) === true && clock.monotonic() < giveUpAt && !this.#over.signal.aborted) {
      await sleep(clock, CHALLENGE_LOOK_MS, this.#over.signal);
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

  /** Nothing is done on a page that is not the one that was asked for. */
  #isUsable(html: string): boolean {
    const { status = 0 } = this.#main.head ?? {};
    return status < 400 && this.#options.isChallenge?.(this.#seen(html)) !== true;
  }

  /** What was asked for beside the page itself, and what it looks like then; null: nothing. */
  async #act(seen: string): Promise<{ html: string | null; taken: TakenFromPage } | null> {
    const { waitMs = 0, actions = [], picture } = this.#request.browser ?? {};
    if ((waitMs === 0 && actions.length === 0 && picture === undefined) || !this.#isUsable(seen)) return null;
    const { clock } = this.#options;
    const { page, session } = this.#opened;
    if (waitMs > 0) await pageTime(page, waitMs, { clock, signal: this.#over.signal });
    const done = (this.#actions = new PageActions(this.#surroundings()));
    try {
      await done.do(actions);
      const html = waitMs > 0 || actions.length > 0 ? await this.#settled(false) : null;
      done.refuse();
      const left = this.#lastLookAt - clock.monotonic();
      const screenshot =
        picture === undefined || this.#main.body !== null ? null : await takePicture(page, session, picture, left);
      return { html, taken: { screenshot, actions: actions.length === 0 ? null : done.taken } };
    } catch (error) {
      if (error instanceof FetchFailure) this.#undone = error;
      throw error;
    }
  }

  #surroundings() {
    const main = this.#main;
    main.refusal = null;
    return {
      opened: this.#opened,
      traffic: this.#traffic,
      clock: this.#options.clock,
      maxBodyBytes: this.#request.maxBodyBytes,
      signal: this.#over.signal,
      lastLookAt: this.#lastLookAt,
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

  /** Where the page says it is: a script may have given the document another address of the same origin. */
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
      // The page sent itself elsewhere before it was complete.
      if (error instanceof Error && error.message.includes("interrupted by another navigation"))
        return this.#complete();
      throw this.#failure(error);
    }
  }

  /** Until the document that the page shows is complete, or will not get any further. */
  readonly #complete = async (): Promise<void> => {
    const complete = this.#opened.page.waitForLoadState("domcontentloaded", { timeout: 0 });
    complete.catch(() => {});
    await Promise.race([complete, this.#main.kept, this.#breaks.promise]);
  };

  async #settled(waits = true): Promise<string> {
    const { page, session } = this.#opened;
    const { maxBodyBytes, browser } = this.#request;
    const settled = settle(page, session, this.#traffic, {
      clock: this.#options.clock,
      maxBodyBytes,
      waitFor: waits ? browser?.waitFor : undefined,
      lastLookAt: this.#lastLookAt,
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

  /** A tunnel that the proxy refused is all the same to the browser; the proxy knows why. */
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
    if (head === null) throw new FetchFailure("internal", "the browser showed a page without an answer from the site");
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
