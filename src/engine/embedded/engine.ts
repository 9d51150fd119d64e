import { type Clock, sleep } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ProcessIdentity } from "../../base/machine.ts";
import type { Random } from "../../base/random.ts";
import { Signal } from "../../base/signal.ts";
import { OutageLogger } from "../../base/outage-logger.ts";
import { LANE_SLICE_MS } from "../../domain/lane/lane-share.ts";
import type { EngineHolder } from "../../store/records/engine-records.ts";
import type { Store } from "../../store/ports/port.ts";
import { drainWithin } from "../drain-within.ts";
import { Lease } from "../lease.ts";
import type { Engine, EngineRole, LaneHost } from "../port.ts";
import { EngineLifecycle } from "../lifecycle.ts";
import type { Link, Watch } from "./link.ts";
import { LaneScheduler } from "./scheduler.ts";

interface EmbeddedEngineOptions {
  store: Store;
  host: LaneHost;
  clock: Clock;
  random: Random;
  log: Log;
  identity: ProcessIdentity;
  /** Whether the lock's holder may be alive. */
  mayBeAlive(holder: EngineHolder): boolean;
  link: Link;
  watch(address: string): Watch;
  leaseTtlMs: number;
  heartbeatMs: number;
  graceMs: number;
  maxActiveLanes: number;
  /** How often everything is reconciled, even without a known change. */
  reconcileMs?: number;
  /** Called when this process becomes the engine or stops being it. */
  onRole?: (role: EngineRole) => void;
}

/** Fallback for a lost poke: how often the store is asked whether another process wrote. */
const POLL_MS = 250;
const LISTEN_RETRY_MS = 5000;
const RECONCILE_MS = 30_000;
const STANDBY_CHECK_MS = 1000;
/** After its socket closed, the lock is checked soon, then less and less often while the holder lives on. */
const MIN_CLOSED_PAUSE_MS = 20;

/**
 * The engine for a single machine. The process that holds the engine lock in the store runs lanes; every other process on
 * the database is a standby that takes over when the lock becomes free: at once when the holder is dead, after the lease
 * when it is frozen.
 */
export class EmbeddedEngine implements Engine {
  readonly #options: EmbeddedEngineOptions;
  readonly #lifecycle: EngineLifecycle;
  #scheduler: LaneScheduler | null = null;
  /** Ends a drained term. */
  #onDrained: () => void = () => {};
  #loop: Promise<void> | null = null;
  readonly #wake = new Signal();
  /** A change was reported: read the lanes even if the store's versions do not show it. */
  #reconcileNow = false;
  readonly #lease: Lease;
  #closedPause = MIN_CLOSED_PAUSE_MS;

  constructor(options: EmbeddedEngineOptions) {
    this.#options = options;
    this.#lifecycle = new EngineLifecycle(options);
    this.#lease = new Lease({ ...options, ttlMs: options.leaseTtlMs });
  }

  get role(): EngineRole {
    return this.#lifecycle.role;
  }

  leads(): boolean {
    return this.role === "engine" && this.#lease.holds();
  }

  /** Resolves when this process is the engine or a standby. */
  async start(): Promise<void> {
    const term = await this.#tryTake();
    this.#loop = this.#run(term);
  }

  offer(lanes: Iterable<string>): void {
    this.#scheduler?.offerAll(lanes);
  }

  controlChanged(): void {
    this.#scheduler?.controlChanged();
    this.#reconcileNow = true;
    this.#wake.raise();
  }

  drain(): void {
    if (this.#lifecycle.setDrain(true)) this.#scheduler?.hold(this.#onDrained);
  }

  resume(): void {
    if (this.#lifecycle.setDrain(false)) this.#scheduler?.resume();
  }

  /** Finishes or requeues running tasks within the grace period, then releases the lock. */
  async stop(): Promise<void> {
    this.#lifecycle.stop();
    await this.#loop;
    this.#lifecycle.role = "stopped";
  }

  /** Requeues running tasks instead of waiting for them. */
  hurry(): void {
    this.#lifecycle.stop();
    this.#scheduler?.hurry();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #run(firstTerm: string | null): Promise<void> {
    const { clock, log } = this.#options;
    let term = firstTerm;
    while (!this.#lifecycle.stopping.aborted) {
      try {
        if (term !== null) await this.#serve(term);
        else if (this.#lifecycle.drainRequested) await this.#lifecycle.rest();
        else await this.#standBy();
        if (this.#lifecycle.stopping.aborted) return;
        term = this.#lifecycle.drainRequested ? null : await this.#tryTake();
      } catch (error) {
        term = null;
        log.warn("the engine cannot use the store; retrying", { error: messageOf(error) });
        await sleep(clock, STANDBY_CHECK_MS, this.#lifecycle.stopping);
      }
    }
    if (term !== null) await this.#release(term);
  }

  /** Tries for the lock under a new name: no process, this one included, inherits the leases of an earlier term. */
  async #tryTake(): Promise<string | null> {
    const { store, identity, link, random, leaseTtlMs, mayBeAlive } = this.#options;
    const holder = await store.engineHolder();
    const dead = holder !== null && !mayBeAlive(holder) ? holder.id : undefined;
    const term = random.uuid();
    this.#lease.asked();
    const { taken } = await store.takeEngine({ ...identity, id: term, address: link.address }, leaseTtlMs, dead);
    return taken ? term : null;
  }

  async #release(term: string): Promise<void> {
    try {
      await this.#options.store.releaseEngine(term);
    } catch (error) {
      this.#options.log.warn("cannot release the engine lock; it expires with its lease", {
        error: messageOf(error),
      });
    }
  }

  /** Waits until the lock may be free. */
  async #standBy(): Promise<void> {
    const { store, clock, watch, mayBeAlive } = this.#options;
    this.#lifecycle.role = "standby";
    const holder = await store.engineHolder();
    if (holder === null || holder.remainingMs < 0 || !mayBeAlive(holder)) return;
    const watched = watch(holder.address);
    const waited = new AbortController();
    const stop = () => waited.abort();
    this.#lifecycle.stopping.addEventListener("abort", stop, { once: true });
    // An unreachable socket closes at once; the growing pause prevents a busy loop.
    let closed = false;
    const gone = watched.closed.then(() => {
      closed = true;
      return sleep(clock, this.#closedPause, waited.signal);
    });
    await Promise.race([gone, sleep(clock, STANDBY_CHECK_MS, waited.signal)]);
    waited.abort();
    this.#closedPause = closed ? Math.min(STANDBY_CHECK_MS, this.#closedPause * 2) : MIN_CLOSED_PAUSE_MS;
    this.#lifecycle.stopping.removeEventListener("abort", stop);
    watched.stop();
  }

  /** One term as the engine: until stopped, or until the lock is lost. */
  async #serve(term: string): Promise<void> {
    const { store, host, clock, log, link, leaseTtlMs, graceMs, maxActiveLanes } = this.#options;
    const scheduler = new LaneScheduler({
      store,
      host,
      clock,
      log,
      owner: term,
      ttlMs: leaseTtlMs,
      leaseHolds: () => this.#lease.holds(),
      maxActive: maxActiveLanes,
      sliceMs: LANE_SLICE_MS,
    });
    this.#scheduler = scheduler;
    this.#lifecycle.role = "engine";
    const lost = new AbortController();
    const drained = new AbortController();
    this.#onDrained = () => drained.abort();
    const over = AbortSignal.any([lost.signal, drained.signal, this.#lifecycle.stopping]);
    const loops = [this.#lease.keep(term, lost), this.#reconcile(term, scheduler, lost.signal)];
    const listening = this.#keepListening(over);
    if (this.#lifecycle.drainRequested) scheduler.hold(this.#onDrained);
    await new Promise<void>((resolve) => {
      if (over.aborted) resolve();
      else over.addEventListener("abort", () => resolve(), { once: true });
    });
    if (lost.signal.aborted) {
      log.warn("this process lost the engine; another one has it, or the store could not be reached");
      await scheduler.fence();
      this.#lifecycle.role = "standby";
    } else {
      await drainWithin(scheduler, clock, graceMs, lost.signal);
    }
    lost.abort();
    await Promise.all([...loops, listening]);
    this.#scheduler = null;
    await link.close();
    if (this.#lifecycle.stopping.aborted || drained.signal.aborted) await this.#release(term);
  }

  /** Lets other processes notify this one of work; until then it polls. */
  async #keepListening(over: AbortSignal): Promise<void> {
    const { link, clock, log } = this.#options;
    const outages = new OutageLogger(log);
    while (!over.aborted) {
      try {
        await link.listen((lanes) => {
          if (lanes === null) this.controlChanged();
          else this.offer(lanes);
        });
        return outages.ends("other processes can wake the engine again");
      } catch (error) {
        outages.begins(`other processes cannot wake the engine; it looks for work every ${POLL_MS} ms`, {
          error: messageOf(error),
        });
        await sleep(clock, LISTEN_RETRY_MS, over);
      }
    }
  }

  /** The reconciler: runs at the start, every 30 s, and whenever another process wrote to the store. */
  async #reconcile(term: string, scheduler: LaneScheduler, lost: AbortSignal): Promise<void> {
    const { store, clock, log } = this.#options;
    lost.addEventListener("abort", () => this.#wake.raise(), { once: true });
    const [asking, reading] = [new OutageLogger(log), new OutageLogger(log)];
    let seen = -1;
    let control = -1;
    let reconciled = Number.NEGATIVE_INFINITY;
    while (!lost.aborted) {
      const startedAt = clock.monotonic();
      let due = this.#reconcileNow || startedAt - reconciled >= (this.#options.reconcileMs ?? RECONCILE_MS);
      try {
        const foreign = await store.foreignVersion();
        const version = await store.controlVersion();
        if (version !== control && control !== -1) scheduler.controlChanged();
        due ||= foreign !== seen || version !== control;
        [seen, control] = [foreign, version];
        asking.ends("changes of the store are seen again");
      } catch (error) {
        due = true;
        asking.begins("cannot read whether the store has changed; its work is read every time", {
          error: messageOf(error),
        });
      }
      try {
        if (due) {
          this.#reconcileNow = false;
          scheduler.offerWork(await store.lanesWithWork(term));
          reconciled = startedAt;
          reading.ends("the store can be read again");
        }
      } catch (error) {
        this.#reconcileNow = true;
        reading.begins("the reconciler cannot read the store; retrying", { error: messageOf(error) });
      }
      // While another process writes without pause, reading takes at most a tenth of the time; a poke wakes it at once.
      await this.#wake.wait(clock, Math.max(POLL_MS, 10 * (clock.monotonic() - startedAt)));
    }
  }
}
