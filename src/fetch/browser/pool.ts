import type { Clock, Timer } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { AddressPolicy } from "../../net/address.ts";
import { type BrowserProxy, startBrowserProxy } from "../../net/browser-proxy.ts";
import type { Lookup } from "../../net/resolver.ts";
import { BrowserInstance, crashed, isGone, pageCrashed, type OpenPage, type PageOptions } from "./instance.ts";
import { MOST_VISITS, type ParkedPage, ParkedPages } from "./parked.ts";
import { Launcher } from "./launch.ts";
import { MemoryShares } from "./memory-shares.ts";
import { PAGE_BYTES } from "./pages-for-memory.ts";

export interface BrowserPoolOptions {
  clock: Clock;
  log: Log;
  policy: AddressPolicy;
  userAgent: string;
  /** All that the browser sees of our environment: PATH, HOME, LANG, TMPDIR and the like, no secrets. */
  env: Readonly<Record<string, string>>;
  /** Open at once; `pagesForMemory` knows a good number. */
  maxPages: number;
  /** Resolves when there is room for another page, with what to call when it is over; rejects with the signal's reason. */
  enter?: (signal: AbortSignal) => Promise<() => void>;
  /** APP_BROWSER_PATH. */
  path?: string | undefined;
  /** In a window that people see. */
  headed?: boolean;
  lookup?: Lookup;
  /** False opens sites, and uses proxies, whose certificate nobody vouches for. */
  tls?: { rejectUnauthorized?: boolean };
  /** A browser is replaced after so many pages, … */
  pagesPerBrowser?: number;
  /** … or when all its processes together are larger than this. */
  maxBrowserBytes?: number;
  /** A browser without pages is ended after this time. */
  idleMs?: number;
  /** The longest silence of a site. */
  silenceMs?: number;
}

export interface BrowserPool {
  /**
   * A page under the guard for as long as `use` takes, in a fresh context unless a `key` says whose it may go on with; it
   * waits for a free place.
   * Rejects with a FetchFailure (`browser_missing`, `browser_crashed`) or with what `use` threw.
   */
  withPage<T>(options: PageOptions, use: (opened: OpenPage) => Promise<T>): Promise<T>;
  /** The process id of the browser that takes new pages, if one runs. */
  readonly browserPid: number | null;
  /** Resident memory of all its browsers; 0 where the system does not report it. */
  memory(): Promise<number>;
  /** Lets go of what only waits for use. */
  relieve(): void;
  /** Why the last browser that was wanted could not be started, and since when; null: it could, or none was wanted yet. */
  readonly problem: { message: string; since: number } | null;
  /** Ends all pages with `run_cancelled`, all browsers and the proxy. */
  close(): Promise<void>;
}

const MEMORY_CHECK_MS = 3_000;
const PAGES_PER_BROWSER = 500;

export function createBrowserPool(options: BrowserPoolOptions): BrowserPool {
  return new Pool(options);
}

class Pool implements BrowserPool {
  readonly #options: BrowserPoolOptions;
  readonly #slots: Semaphore;
  readonly #shares: MemoryShares;
  readonly #instances = new Set<BrowserInstance>();
  /** Closings that nobody waits for but the pool's own end. */
  readonly #closing = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #parked: ParkedPages;
  /** Pages under a key that will be parked in a moment; each is waited for by one visit. */
  readonly #emptying = new Set<{ key: string; done: Promise<void> }>();
  #inUse = 0;
  #proxy: Promise<BrowserProxy> | null = null;
  #launcher: Launcher | null = null;
  #starting: Promise<BrowserInstance> | null = null;
  #current: BrowserInstance | null = null;
  #idle: Timer | null = null;
  #memoryCheckedAt = 0;
  #problem: { message: string; since: number } | null = null;

  constructor(options: BrowserPoolOptions) {
    this.#options = options;
    this.#slots = new Semaphore(Math.max(1, options.maxPages));
    this.#shares = new MemoryShares(options.clock, () => this.#pageBytes());
    this.#parked = new ParkedPages(options.clock, ({ instance, opened }) => this.#later(this.#leave(instance, opened)));
  }

  get browserPid(): number | null {
    return this.#current !== null && !this.#current.gone ? this.#current.process.pid : null;
  }

  get problem(): { message: string; since: number } | null {
    return this.#problem;
  }

  async memory(): Promise<number> {
    const sizes = await Promise.all([...this.#instances].map(({ process }) => process.memory().catch(() => 0)));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  relieve(): void {
    for (const instance of this.#instances) {
      if (instance.retired) continue;
      instance.retired = true;
      if (instance.open === 0) this.#later(this.#end(instance));
    }
    this.#parked.dropAll();
  }

  async withPage<T>(options: PageOptions, use: (opened: OpenPage) => Promise<T>): Promise<T> {
    const stopped = this.#stop.signal;
    const giveBack = await this.#takeSlot(options, stopped);
    this.#inUse += 1;
    let instance: BrowserInstance | null = null;
    let opened: OpenPage | null = null;
    let visits = 0;
    let well = false;
    try {
      const parked = options.key === undefined ? null : await this.#goOn(options.key);
      if (parked === null) {
        while (this.#inUse + this.#parked.count > this.#options.maxPages && this.#parked.count > 0)
          this.#parked.dropOldest();
        instance = await this.#take();
        opened = await this.#open(instance, options);
      } else {
        ({ instance, opened, visits } = parked);
        instance.served += 1;
        if (options.documents !== undefined) opened.watch(options.documents(opened.guest));
      }
      if (stopped.aborted) throw stopped.reason as Error;
      if (options.signal?.aborted === true) throw options.signal.reason as Error;
      const work = use(opened);
      // When the page is lost, what its user still waits for fails as well, and nobody is there to hear it.
      work.catch(() => {});
      const result = await Promise.race([work, opened.lost]);
      well = true;
      return result;
    } catch (error) {
      if (stopped.aborted) throw stopped.reason as Error;
      // The user of the page may notice its end sooner than we do.
      if (!isGone(error)) throw error;
      throw /crashed/i.test((error as Error).message)
        ? pageCrashed(error)
        : crashed("the browser ended while the page was open", error);
    } finally {
      // The answer does not wait until the page is closed, but the place does.
      const left =
        well && options.key !== undefined && instance !== null && opened !== null
          ? this.#park(options.key, { instance, opened, visits: visits + 1 })
          : this.#leave(instance, opened);
      this.#later(
        left.finally(() => {
          this.#inUse -= 1;
          giveBack();
        }),
      );
    }
  }

  /** A slot for a page. A page that waits for its site's share of memory takes none meanwhile. */
  async #takeSlot({ memory, signal }: PageOptions, stopped: AbortSignal): Promise<() => void> {
    const unwanted = signal === undefined ? stopped : AbortSignal.any([signal, stopped]);
    using taken = new DisposableStack();
    const leave = await this.#options.enter?.(unwanted);
    if (leave !== undefined) taken.defer(leave);
    if (memory !== undefined) {
      await this.#shares.take(memory, unwanted);
      taken.defer(() => this.#shares.give(memory.site));
    }
    taken.use(await this.#slots.acquire({ signal: unwanted }));
    const kept = taken.move();
    return () => kept.dispose();
  }

  /** What a page takes of the browser, with its part of what all pages share; null: none is open. */
  async #pageBytes(): Promise<number | null> {
    const instance = this.#current;
    if (instance === null || instance.gone || instance.open === 0) return null;
    const bytes = await instance.process.memory().catch(() => 0);
    return bytes === 0 ? PAGE_BYTES : bytes / Math.max(1, instance.open);
  }

  /** A page that may go on under this key; one that is just being emptied is sooner there than a new one. */
  async #goOn(key: string): Promise<ParkedPage | null> {
    const ready = this.#parked.take(key);
    const soon = ready === null ? [...this.#emptying].find((one) => one.key === key) : undefined;
    if (soon === undefined) return ready;
    this.#emptying.delete(soon);
    await soon.done;
    return this.#parked.take(key);
  }

  #park(key: string, parked: ParkedPage): Promise<void> {
    const done = this.#emptyAndPark(key, parked);
    const entry = { key, done: done.catch(() => {}) };
    this.#emptying.add(entry);
    return done.finally(() => this.#emptying.delete(entry));
  }

  /** Keeps a page for the next visit under its key. */
  async #emptyAndPark(key: string, parked: ParkedPage): Promise<void> {
    const { instance, opened, visits } = parked;
    const worn = visits >= MOST_VISITS || instance.served >= (this.#options.pagesPerBrowser ?? PAGES_PER_BROWSER);
    if (worn) instance.retired ||= instance.served >= (this.#options.pagesPerBrowser ?? PAGES_PER_BROWSER);
    if (worn || instance.retired || this.#stop.signal.aborted || !(await instance.emptyPage(opened)))
      return this.#leave(instance, opened);
    await this.#checkMemory(instance);
    if (instance.retired || this.#stop.signal.aborted) return this.#leave(instance, opened);
    this.#parked.park(key, parked);
    return undefined;
  }

  async close(): Promise<void> {
    if (!this.#stop.signal.aborted)
      this.#stop.abort(new FetchFailure("run_cancelled", "the program is stopping, and the page was ended"));
    this.#idle?.cancel();
    this.#parked.dropAll();
    await this.#starting?.catch(() => {});
    await Promise.all([...this.#instances].map((instance) => this.#end(instance)));
    while (this.#closing.size > 0) await Promise.all(this.#closing);
    await (await this.#proxy?.catch(() => null))?.close();
  }

  /** A browser that takes another page. The page counts from now on, so that nobody ends the browser before it opens. */
  async #take(): Promise<BrowserInstance> {
    this.#idle?.cancel();
    let instance = this.#current;
    if (instance === null || instance.retired) {
      this.#current = null;
      this.#starting ??= this.#startNoted().finally(() => (this.#starting = null));
      instance = await this.#starting;
    }
    instance.open += 1;
    instance.served += 1;
    // The last page of its time: the next one starts a new browser, and this one ends when its pages have.
    if (instance.served >= (this.#options.pagesPerBrowser ?? PAGES_PER_BROWSER)) instance.retired = true;
    return instance;
  }

  async #startNoted(): Promise<BrowserInstance> {
    try {
      const instance = await this.#start();
      this.#problem = null;
      return instance;
    } catch (error) {
      const since = this.#problem?.since ?? this.#options.clock.now();
      if (!this.#stop.signal.aborted) this.#problem = { message: messageOf(error), since };
      throw error;
    }
  }

  async #start(): Promise<BrowserInstance> {
    const { clock, policy, lookup, tls, silenceMs, log, userAgent, path, env, headed = false } = this.#options;
    this.#proxy ??= startBrowserProxy({
      policy,
      clock,
      ...(lookup === undefined ? {} : { lookup }),
      ...(tls === undefined ? {} : { tls }),
      ...(silenceMs === undefined ? {} : { idleMs: silenceMs }),
    });
    const proxy = await this.#proxy;
    this.#launcher ??= new Launcher({ log, userAgent, path, env, headed, proxyAddress: proxy.address });
    if (this.#stop.signal.aborted) throw this.#stop.signal.reason as Error;
    const instance = await BrowserInstance.of(await this.#launcher.launch(), {
      proxy,
      clock,
      trustAll: tls?.rejectUnauthorized === false,
      userAgent,
    });
    this.#instances.add(instance);
    this.#current = instance;
    return instance;
  }

  async #open(instance: BrowserInstance, options: PageOptions): Promise<OpenPage> {
    try {
      return await instance.openPage(options);
    } catch (error) {
      // A browser that cannot open a page is not asked for another one; credentials that cannot be used are not its fault.
      if (!(error instanceof FetchFailure) || error.failure.reason === "browser_crashed") instance.retired = true;
      throw error;
    }
  }

  async #leave(instance: BrowserInstance | null, opened: OpenPage | null): Promise<void> {
    if (instance === null) return;
    if (opened !== null) await instance.closePage(opened);
    instance.open -= 1;
    if (!instance.retired) await this.#checkMemory(instance);
    if (instance.open > 0) return;
    if (instance.retired) await this.#end(instance);
    else if (!this.#stop.signal.aborted) this.#endWhenIdle(instance);
  }

  #endWhenIdle(instance: BrowserInstance): void {
    this.#idle?.cancel();
    this.#idle = this.#options.clock.after(this.#options.idleMs ?? 60_000, () => {
      if (instance.open > 0 || instance.retired) return;
      instance.retired = true;
      this.#later(this.#end(instance));
    });
  }

  async #checkMemory(instance: BrowserInstance): Promise<void> {
    const now = this.#options.clock.monotonic();
    if (now - this.#memoryCheckedAt < MEMORY_CHECK_MS) return;
    this.#memoryCheckedAt = now;
    const bytes = await instance.process.memory().catch(() => 0);
    if (bytes > (this.#options.maxBrowserBytes ?? 4 * 1024 ** 3)) instance.retired = true;
  }

  async #end(instance: BrowserInstance): Promise<void> {
    await instance.close();
    this.#instances.delete(instance);
    if (this.#current === instance) this.#current = null;
  }

  #later(work: Promise<void>): void {
    const done = work.catch(() => {}).finally(() => this.#closing.delete(done));
    this.#closing.add(done);
  }
}
