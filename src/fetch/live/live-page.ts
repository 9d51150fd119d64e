/** A browser page that a person sees and controls. It is opened like every page: in the pool, behind the guard. */
import type { CDPSession, Dialog, Page } from "playwright-core";
import type { Clock, Timer } from "../../base/clock.ts";
import type { Credentials } from "../../domain/text/credentials.ts";
import type { PageInput, Steering } from "../../domain/live-view/messages.ts";
import { type PageEvent, readPageEvent } from "../../domain/live-view/recorded-actions.ts";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { AddressPolicy } from "../../net/address.ts";
import { checkUrl } from "../../net/guard.ts";
import type { OpenPage } from "../browser/instance.ts";
import { navigationFailure } from "../browser/navigation-failure.ts";
import type { BrowserPool } from "../browser/pool.ts";
import { GuardedDocuments } from "./guarded-documents.ts";
import { InputQueue } from "./input.ts";
import { RECORD_BINDING, RECORD_SCRIPT, RECORD_WORLD } from "./record-script.ts";
import { type CastFrame, Screencast } from "./screencast.ts";

export interface LivePageOptions {
  pool: BrowserPool;
  clock: Clock;
  policy: AddressPolicy;
  url: string;
  credentials: Credentials | null;
  mobile: boolean;
  via?: Upstream;
  /** Report what the person does. */
  records: boolean;
  /** How long a slot in the pool may take. */
  waitMs: number;
  navigationMs: number;
  on: LivePageEvents;
}

export interface LivePageEvents {
  frame(frame: CastFrame): void;
  /** Address, title, tabs or dialog changed. */
  changed(): void;
  notice(text: string): void;
  did(event: PageEvent): void;
}

export interface LiveTab {
  id: number;
  title: string;
  url: string;
  isShown: boolean;
}

export interface LiveDialog {
  id: number;
  kind: "alert" | "confirm" | "prompt" | "beforeunload";
  message: string;
  value: string;
}

export interface StorageState {
  cookies: Awaited<ReturnType<OpenPage["context"]["storageState"]>>["cookies"];
  origins: { origin: string; localStorage: { name: string; value: string }[] }[];
}

interface Tab {
  id: number;
  page: Page;
  session: CDPSession;
  cast: Screencast;
  title: string;
}

/** Sign-ins open one or two. */
const MOST_TABS = 5;
const MOST_BYTES = 512 * 1024 * 1024;
const MOST_MESSAGE = 2000;
const LOST_MS = 250;
/** A page stands still while its dialog is open. */
const DIALOG_MS = 60_000;

export class LivePage {
  readonly #options: LivePageOptions;
  readonly #opened: OpenPage;
  readonly #closed = Promise.withResolvers<void>();
  readonly #tabs: Tab[] = [];
  readonly #input: InputQueue;
  #ended: Promise<void> = Promise.resolve();
  #shown: Tab | null = null;
  #isWatched = false;
  #lastId = 0;
  #dialog: { about: LiveDialog; open: Dialog; timer: Timer } | null = null;

  /** Resolves when the page is open; its first address may still be loading. */
  static async open(options: LivePageOptions): Promise<LivePage> {
    const { pool, clock, credentials, mobile, via, on } = options;
    const url = checkUrl(options.url, options.policy);
    const ready = Promise.withResolvers<LivePage>();
    const late = new AbortController();
    const timer = clock.after(options.waitMs, () =>
      late.abort(new FetchFailure("browser_failed", "all pages of the browser are in use")),
    );
    let page: LivePage | null = null;
    const popups: [Page, CDPSession][] = [];
    const ended = pool.withPage(
      {
        credentials,
        mobile,
        ...(via === undefined ? {} : { via }),
        maxBytes: MOST_BYTES,
        signal: late.signal,
        documents: () => new GuardedDocuments(options.policy, ({ message }) => on.notice(message)),
        onPopup: (popup, session) => (page === null ? popups.push([popup, session]) : page.#add(popup, session)),
      },
      async (opened) => {
        timer.cancel();
        page = new LivePage(options, opened);
        await page.#add(opened.page, opened.session);
        for (const [popup, session] of popups) await page.#add(popup, session);
        void page.#goto(url.href);
        ready.resolve(page);
        await page.#closed.promise;
        page.#stop();
      },
    );
    ended.catch(ready.reject).finally(() => timer.cancel());
    const opened = await ready.promise;
    opened.#ended = ended;
    return opened;
  }

  private constructor(options: LivePageOptions, opened: OpenPage) {
    this.#options = options;
    this.#opened = opened;
    this.#input = new InputQueue(() => (this.#shown ?? this.#tabs[0])?.session ?? opened.session);
  }

  /** Resolves when it was closed; rejects when the browser lost it. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  get url(): string {
    return shownUrl(this.#shown?.page.url() ?? "");
  }

  get tabs(): LiveTab[] {
    return this.#tabs.map((tab) => ({
      id: tab.id,
      title: tab.title,
      url: shownUrl(tab.page.url()).slice(0, MOST_MESSAGE),
      isShown: tab === this.#shown,
    }));
  }

  get dialog(): LiveDialog | null {
    return this.#dialog?.about ?? null;
  }

  /** Pictures are taken only while somebody watches. */
  watch(isWatched: boolean): void {
    this.#isWatched = isWatched;
    if (isWatched) this.#shown?.cast.start();
    else this.#shown?.cast.stop();
  }

  input(input: PageInput): void {
    if (this.#dialog === null) this.#input.add(input);
  }

  steer(steering: Steering): void {
    const page = this.#shown?.page;
    if (page === undefined) return;
    if (steering.type === "navigate") return void this.#goto(steering.url);
    if (steering.type === "tab") return this.#chooseTab(steering);
    this.#input.clear();
    const { go } = steering;
    if (go === "stop") return void this.#shown?.session.send("Page.stopLoading").catch(() => {});
    const options = { timeout: this.#options.navigationMs, waitUntil: "commit" } as const;
    const going =
      go === "back" ? page.goBack(options) : go === "forward" ? page.goForward(options) : page.reload(options);
    going.catch(() => {});
  }

  answer(id: number, accept: boolean, text: string): void {
    if (this.#dialog?.about.id !== id) return;
    const { open, about } = this.#dialog;
    this.#forgetDialog();
    const answered = accept ? open.accept(about.kind === "prompt" ? text : undefined) : open.dismiss();
    answered.catch(() => {});
  }

  storageState(): Promise<StorageState> {
    return this.#opened.context.storageState();
  }

  async close(): Promise<void> {
    this.#closed.resolve();
    await this.#ended.catch(() => {});
  }

  #stop(): void {
    this.#forgetDialog();
    for (const { cast } of this.#tabs) cast.stop();
  }

  async #goto(address: string): Promise<void> {
    const { policy, navigationMs, on } = this.#options;
    const page = this.#shown?.page;
    if (page === undefined) return;
    let host = "";
    try {
      const text = address.trim();
      const url = checkUrl(/^[a-z][a-z\d+.-]*:/i.test(text) ? text : `https://${text}`, policy);
      host = url.host;
      this.#input.clear();
      await page.goto(url.href, { waitUntil: "commit", timeout: navigationMs });
    } catch (error) {
      // Another navigation took its place, or a dialog kept the page.
      if (/ERR_ABORTED|interrupted by another|has been closed/.test(String(error))) return;
      on.notice((this.#opened.guest.failureOf(host) ?? navigationFailure(error, host)).message);
    }
  }

  async #add(page: Page, session: CDPSession): Promise<void> {
    const { clock, on, records } = this.#options;
    if (this.#tabs.length >= MOST_TABS) {
      on.notice(`The page opened more than ${MOST_TABS - 1} windows: the last one was closed`);
      return void page.close().catch(() => {});
    }
    const cast = new Screencast(session, clock, (frame) => this.#shown?.cast === cast && on.frame(frame));
    const tab: Tab = { id: (this.#lastId += 1), page, session, cast, title: "" };
    this.#tabs.push(tab);
    this.#listen(tab);
    try {
      await session.send("Page.enable");
      if (records) await this.#record(tab);
    } catch {
      // It has closed already.
    }
    this.#show(tab);
    // It may have loaded before anybody listened.
    void this.#retitle(tab);
  }

  #listen(tab: Tab): void {
    const { page } = tab;
    const { on } = this.#options;
    page.on("dialog", (dialog) => this.#ask(dialog));
    page.on("download", (download) => {
      void download.cancel().catch(() => {});
      on.notice(`The page offers the file ${download.suggestedFilename().slice(0, 200)}: live views download no files`);
    });
    // Listening keeps the browser's own window for files from opening.
    page.on("filechooser", () => on.notice("The page asks for a file: live views upload no files"));
    page.on("framenavigated", (frame) => {
      if (frame === page.mainFrame()) void this.#retitle(tab);
    });
    page.on("domcontentloaded", () => void this.#retitle(tab));
    page.on("load", () => void this.#retitle(tab));
    page.on("requestfailed", (request) => {
      if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return;
      const failure = this.#opened.guest.failureOf(URL.parse(request.url())?.host ?? "");
      if (failure !== null) on.notice(failure.message);
    });
    page.once("close", () => this.#remove(tab));
  }

  async #retitle(tab: Tab): Promise<void> {
    this.#options.on.changed();
    tab.title = (await tab.page.title().catch(() => "")).slice(0, MOST_MESSAGE);
    this.#options.on.changed();
  }

  /** Bindings of a world of their own are not visible to the page. */
  async #record({ session }: Tab): Promise<void> {
    session.on("Runtime.bindingCalled", ({ name, payload }) => {
      const event = name === RECORD_BINDING ? readPageEvent(payload) : null;
      if (event !== null) this.#options.on.did(event);
    });
    await session.send("Runtime.enable");
    await session.send("Runtime.addBinding", { name: RECORD_BINDING, executionContextName: RECORD_WORLD });
    await session.send("Page.addScriptToEvaluateOnNewDocument", {
      source: RECORD_SCRIPT,
      worldName: RECORD_WORLD,
      runImmediately: true,
    });
  }

  #ask(dialog: Dialog): void {
    const { clock, on } = this.#options;
    // One at a time: the page stands still meanwhile. Another one is of another tab.
    if (this.#dialog !== null) return void dialog.dismiss().catch(() => {});
    const id = (this.#lastId += 1);
    const timer = clock.after(DIALOG_MS, () => {
      on.notice("Nobody answered the page's dialog: it was dismissed");
      this.answer(id, false, "");
    });
    const about: LiveDialog = {
      id,
      kind: dialog.type() as LiveDialog["kind"],
      message: dialog.message().slice(0, MOST_MESSAGE),
      value: dialog.defaultValue().slice(0, MOST_MESSAGE),
    };
    this.#dialog = { about, open: dialog, timer };
    this.#input.clear();
    on.changed();
  }

  #forgetDialog(): void {
    this.#dialog?.timer.cancel();
    if (this.#dialog === null) return;
    this.#dialog = null;
    this.#options.on.changed();
  }

  #chooseTab({ id, close }: { id: number; close: boolean }): void {
    const tab = this.#tabs.find((one) => one.id === id);
    if (tab === undefined) return;
    if (!close) return this.#show(tab);
    // The last one stays: the view would have nothing to show.
    if (this.#tabs.length > 1) tab.page.close().catch(() => {});
  }

  #show(tab: Tab): void {
    if (this.#shown === tab) return;
    this.#shown?.cast.stop();
    this.#input.clear();
    this.#shown = tab;
    void tab.page.bringToFront().catch(() => {});
    if (this.#isWatched) tab.cast.start();
    this.#options.on.changed();
  }

  /** The window of a sign-in closes by itself: its opener is shown again. */
  #remove(tab: Tab): void {
    const index = this.#tabs.indexOf(tab);
    if (index !== -1) this.#tabs.splice(index, 1);
    if (this.#dialog !== null && this.#dialog.open.page() === tab.page) this.#forgetDialog();
    tab.cast.stop();
    const next = this.#tabs.at(-1);
    if (this.#shown === tab) {
      this.#shown = null;
      if (next !== undefined) return this.#show(next);
    }
    // A page that closed its only window has ended. A browser that dies closes its pages first.
    if (next === undefined) this.#options.clock.after(LOST_MS, () => this.#closed.resolve());
    this.#options.on.changed();
  }
}
