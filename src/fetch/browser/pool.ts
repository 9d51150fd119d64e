import type { Clock, Timer } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { AddressPolicy } from "../../net/address.ts";
import type { ProxyListen } from "../../net/browser-proxy.ts";
import type { Lookup } from "../../net/resolver.ts";
import { GuardProxies } from "./guard-proxies.ts";
import { BrowserInstance, crashed, isGone, pageCrashed, type OpenPage, type PageOptions } from "./instance.ts";
import { MAX_VISITS, type ParkedPage, ParkedPages } from "./parked.ts";
import { Launcher } from "./launch.ts";
import { MemoryShares } from "./memory-shares.ts";
import { PAGE_BYTES } from "./pages-for-memory.ts";
import type { BrowserState } from "./remote.ts";
import { type RemoteOptions, RemoteBrowsers } from "./remotes.ts";

export interface BrowserPoolOptions {
  clock: Clock;
  log: Log;
  policy: AddressPolicy;
  userAgent: string;
  /** The browser's whole environment: PATH, HOME, LANG, TMPDIR and the like, no secrets. */
  env: Readonly<Record<string, string>>;
  /** Concurrently open; see `pagesForMemory`. */
  maxPages: number;
  /** Resolves with a release function when another page may open; rejects with the abort reason. */
  enter?: (signal: AbortSignal) => Promise<() => void>;
  /** APP_BROWSER_PATH. */
  path?: string | undefined;
  /** Show a window. */
  headed?: boolean;
  lookup?: Lookup;
  /** False accepts invalid certificates of sites and proxies. */
  tls?: { rejectUnauthorized?: boolean };
  /** A browser is replaced after this many pages, … */
  pagesPerBrowser?: number;
  /** … or when all its processes together are larger than this. */
  maxBrowserBytes?: number;
  /** A browser without pages closes after this time. */
  idleMs?: number;
  /** Idle timeout of connections to sites. */
  silenceMs?: number;
  /** Browsers that others started; `local`: beside our own. */
  remote?: RemoteOptions & { local: boolean; proxy?: ProxyListen };
}

export interface BrowserPool {
  /**
   * Waits for a free slot and opens a guarded page for the duration of `use`, in a fresh context, or in a parked page of
   * the same `key`. Rejects with a FetchFailure (`browser_missing`, `browser_crashed`) or with the error of `use`.
   */
  withPage<T>(options: PageOptions, use: (opened: OpenPage) => Promise<T>): Promise<T>;
  /** The process id of the browser that takes new pages, if one runs. */
  readonly browserPid: number | null;
  /** Resident memory of all its browsers; 0 where the system does not report it. */
  memory(): Promise<number>;
  /** Frees memory: closes idle browsers and parked pages. */
  relieve(): void;
  /** Why the last browser failed to start, and since when; null: it started, or none was needed yet. */
  readonly problem: { message: string; since: number } | null;
  /** The remote browsers. */
  readonly browsers: readonly BrowserState[];
  /** Connects to the remote browsers, before a page needs them; resolves when each was tried. */
  connect(): Promise<void>;
  /** Fails all pages with `run_cancelled`, and closes all browsers and the proxy. */
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
  /** Cleanups in the background; only `close` awaits them. */
  readonly #closing = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #parked: ParkedPages;
  /** Pages about to be parked; one visit may await each. */
  readonly #emptying = new Set<{ key: string; done: Promise<void> }>();
  #inUse = 0;
  readonly #remotes: RemoteBrowsers | null;
  readonly #proxies: GuardProxies;
  /** Pages in our own browser, or waiting for it to start; counted if there are others. */
  #localInUse = 0;
  #launcher: Launcher | null = null;
  #starting: Promise<BrowserInstance> | null = null;
  #current: BrowserInstance | null = null;
  #idle: Timer | null = null;
  #memoryCheckedAt = 0;
  #problem: { message: string; since: number } | null = null;

  constructor(options: BrowserPoolOptions) {
    this.#options = options;
    this.#slots = new Semaphore(this.#maxPages);
    this.#proxies = new GuardProxies({ ...options, listen: options.remote?.proxy });
    const proxy = () => this.#proxies.remote();
    this.#remotes = options.remote === undefined ? null : new RemoteBrowsers(options.remote, { ...options, proxy });
    this.#shares = new MemoryShares(options.clock, () => this.#pageBytes());
    this.#parked = new ParkedPages(options.clock, ({ instance, opened }) =>
      this.#track(this.#closePage(instance, opened)),
    );
  }

  get browserPid(): number | null {
    return this.#current !== null && !this.#current.gone ? this.#current.process.pid : null;
  }

  get problem(): { message: string; since: number } | null {
    return this.#problem ?? this.#remotes?.problem ?? null;
  }

  get browsers(): readonly BrowserState[] {
    return this.#remotes?.states ?? [];
  }

  async connect(): Promise<void> {
    await this.#remotes?.connect();
  }

  get #maxPages(): number {
    const { maxPages, remote } = this.#options;
    const local = remote === undefined || remote.local ? Math.max(1, maxPages) : 0;
    return local + (remote === undefined ? 0 : remote.urls.length * remote.maxPages);
  }

  async memory(): Promise<number> {
    const sizes = await Promise.all([...this.#instances].map(({ process }) => process.memory().catch(() => 0)));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  relieve(): void {
    for (const instance of this.#instances) {
      if (instance.retired) continue;
      instance.retired = true;
      if (instance.open === 0) this.#track(this.#closeInstance(instance));
    }
    this.#parked.dropAll();
  }

  async withPage<T>(options: PageOptions, use: (opened: OpenPage) => Promise<T>): Promise<T> {
    const stopped = this.#stop.signal;
    const releaseSlot = await this.#takeSlot(options, stopped);
    this.#inUse += 1;
    let instance: BrowserInstance | null = null;
    let opened: OpenPage | null = null;
    let visits = 0;
    let succeeded = false;
    try {
      const parked = options.key === undefined ? null : await this.#reuse(options.key);
      if (parked === null) {
        while (this.#inUse + this.#parked.count > this.#maxPages && this.#parked.count > 0) this.#parked.dropOldest();
        instance = await this.#acquireInstance(options.signal);
        opened = await this.#open(instance, options);
      } else {
        ({ instance, opened, visits } = parked);
        instance.served += 1;
        instance.inUse += 1;
        if (instance.remote === null) this.#localInUse += 1;
        if (options.documents !== undefined) opened.watch(options.documents(opened.guest));
      }
      if (stopped.aborted) throw stopped.reason as Error;
      if (options.signal?.aborted === true) throw options.signal.reason as Error;
      const work = use(opened);
      // When the page is lost, `use` rejects as well, unobserved.
      work.catch(() => {});
      const result = await Promise.race([work, opened.lost]);
      succeeded = true;
      return result;
    } catch (error) {
      if (stopped.aborted) throw stopped.reason as Error;
      // `use` may notice the loss before `lost` rejects.
      if (!isGone(error)) throw error;
      throw /crashed/i.test((error as Error).message)
        ? pageCrashed(error)
        : crashed("the browser exited while the page was open", error);
    } finally {
      // The result does not wait for the page to close; the slot does.
      const left =
        succeeded && options.key !== undefined && instance !== null && opened !== null
          ? this.#park(options.key, { instance, opened, visits: visits + 1 })
          : this.#closePage(instance, opened);
      this.#track(
        left.finally(() => {
          this.#inUse -= 1;
          if (instance !== null) instance.inUse -= 1;
          if (instance?.remote === null) this.#localInUse -= 1;
          releaseSlot();
          this.#remotes?.changed();
        }),
      );
    }
  }

  /** A slot for a page. A page that waits for its site's share of memory holds none. */
  async #takeSlot({ memory, signal }: PageOptions, stopped: AbortSignal): Promise<() => void> {
    const abortSignal = AbortSignal.any([stopped, ...(signal === undefined ? [] : [signal])]);
    using taken = new DisposableStack();
    const leave = await this.#options.enter?.(abortSignal);
    if (leave !== undefined) taken.defer(leave);
    // Pages in remote browsers use no memory of this machine.
    if (memory !== undefined && (this.#options.remote?.local ?? true)) {
      await this.#shares.take(memory, abortSignal);
      taken.defer(() => this.#shares.release(memory.site));
    }
    taken.use(await this.#slots.acquire({ signal: abortSignal }));
    const kept = taken.move();
    return () => kept.dispose();
  }

  /** Average memory per page, shared processes included; null: none is open. */
  async #pageBytes(): Promise<number | null> {
    const instance = this.#current;
    if (instance === null || instance.gone || instance.open === 0) return null;
    const bytes = await instance.process.memory().catch(() => 0);
    return bytes === 0 ? PAGE_BYTES : bytes / Math.max(1, instance.open);
  }

  /** A parked page of this key; waits for one that is being emptied, which is faster than a new one. */
  async #reuse(key: string): Promise<ParkedPage | null> {
    const ready = this.#parked.take(key);
    const emptying = ready === null ? [...this.#emptying].find((entry) => entry.key === key) : undefined;
    if (emptying === undefined) return ready;
    this.#emptying.delete(emptying);
    await emptying.done;
    return this.#parked.take(key);
  }

  #park(key: string, parked: ParkedPage): Promise<void> {
    const done = this.#emptyAndPark(key, parked);
    const entry = { key, done: done.catch(() => {}) };
    this.#emptying.add(entry);
    return done.finally(() => this.#emptying.delete(entry));
  }

  async #emptyAndPark(key: string, parked: ParkedPage): Promise<void> {
    const { instance, opened, visits } = parked;
    const isWornOut = this.#isWornOut(instance);
    if (isWornOut) instance.retired = true;
    if (
      isWornOut ||
      visits >= MAX_VISITS ||
      instance.retired ||
      this.#stop.signal.aborted ||
      !(await instance.emptyPage(opened))
    )
      return this.#closePage(instance, opened);
    await this.#checkMemory(instance);
    if (instance.retired || this.#stop.signal.aborted) return this.#closePage(instance, opened);
    this.#parked.park(key, parked);
    return undefined;
  }

  async close(): Promise<void> {
    if (!this.#stop.signal.aborted)
      this.#stop.abort(new FetchFailure("run_cancelled", "the program is stopping; the page was closed"));
    this.#idle?.cancel();
    this.#parked.dropAll();
    await this.#starting?.catch(() => {});
    await Promise.all([...this.#instances].map((instance) => this.#closeInstance(instance)));
    await this.#remotes?.close();
    while (this.#closing.size > 0) await Promise.all(this.#closing);
    await this.#proxies.close();
  }

  /** A browser for another page. Counts the page at once, so that the browser does not close before it opens. */
  async #acquireInstance(signal?: AbortSignal): Promise<BrowserInstance> {
    const remotes = this.#remotes;
    if (remotes === null) return this.#acquireLocal();
    const until = AbortSignal.any([this.#stop.signal, ...(signal === undefined ? [] : [signal])]);
    const found = await remotes.wait(() => this.#choose(remotes), until);
    if (found !== "local") return found;
    return this.#acquireLocal().catch((error: unknown) => {
      this.#localInUse -= 1;
      throw error;
    });
  }

  /** The least loaded browser; counts the page at once. */
  #choose(remotes: RemoteBrowsers): BrowserInstance | "local" | null {
    const choice = remotes.choose();
    const { remote, maxPages } = this.#options;
    const load = remote?.local === true ? this.#localInUse / Math.max(1, maxPages) : 1;
    if (load < (choice?.load ?? 1)) {
      this.#localInUse += 1;
      return "local";
    }
    if (choice === null) return null;
    const { instance } = choice;
    if (instance.open >= choice.maxPages) this.#parked.dropOldest(instance);
    instance.open += 1;
    instance.inUse += 1;
    return instance;
  }

  async #acquireLocal(): Promise<BrowserInstance> {
    this.#idle?.cancel();
    let instance = this.#current;
    if (instance === null || instance.retired) {
      this.#current = null;
      this.#starting ??= this.#startAndRecordProblem().finally(() => (this.#starting = null));
      instance = await this.#starting;
    }
    instance.open += 1;
    instance.inUse += 1;
    instance.served += 1;
    // The next page starts a new browser; this one closes with its last page.
    if (this.#isWornOut(instance)) instance.retired = true;
    return instance;
  }

  #isWornOut({ served, remote }: BrowserInstance): boolean {
    return remote === null && served >= (this.#options.pagesPerBrowser ?? PAGES_PER_BROWSER);
  }

  async #startAndRecordProblem(): Promise<BrowserInstance> {
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
    const { clock, tls, log, userAgent, path, env, headed = false } = this.#options;
    const proxy = await this.#proxies.local();
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
      // A browser that cannot open a page is retired; invalid credentials are not its fault.
      if (!(error instanceof FetchFailure) || error.failure.reason === "browser_crashed") instance.retired = true;
      throw error;
    }
  }

  async #closePage(instance: BrowserInstance | null, opened: OpenPage | null): Promise<void> {
    if (instance === null) return;
    if (opened !== null) await instance.closePage(opened);
    instance.open -= 1;
    if (!instance.retired) await this.#checkMemory(instance);
    if (instance.open > 0) return;
    if (instance.retired) await this.#closeInstance(instance);
    else if (!this.#stop.signal.aborted && instance.remote === null) this.#endWhenIdle(instance);
  }

  #endWhenIdle(instance: BrowserInstance): void {
    this.#idle?.cancel();
    this.#idle = this.#options.clock.after(this.#options.idleMs ?? 60_000, () => {
      if (instance.open > 0 || instance.retired) return;
      instance.retired = true;
      this.#track(this.#closeInstance(instance));
    });
  }

  async #checkMemory(instance: BrowserInstance): Promise<void> {
    const now = this.#options.clock.monotonic();
    if (now - this.#memoryCheckedAt < MEMORY_CHECK_MS) return;
    this.#memoryCheckedAt = now;
    const bytes = await instance.process.memory().catch(() => 0);
    if (bytes > (this.#options.maxBrowserBytes ?? 4 * 1024 ** 3)) instance.retired = true;
  }

  async #closeInstance(instance: BrowserInstance): Promise<void> {
    await instance.close();
    this.#instances.delete(instance);
    if (this.#current === instance) this.#current = null;
  }

  #track(work: Promise<void>): void {
    const done = work.catch(() => {}).finally(() => this.#closing.delete(done));
    this.#closing.add(done);
  }
}
