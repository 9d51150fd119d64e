import { type Clock, sleep } from "../base/clock.ts";
import { isOrbError } from "../base/errors.ts";
import { Signal } from "../base/signal.ts";
import { TERMINAL_RUN_STATES } from "../domain/run/states.ts";
import type { EventRecord, FeedChoice, Store } from "../store/ports/port.ts";

export interface FollowDeps {
  store: Store;
  clock: Clock;
}

export interface FollowedEvent extends EventRecord {
  runId: string;
}

/** Other processes write too, so the store is polled; a poll without new events costs some microseconds. */
const POLL_MS = 100;
/** A store that notifies also detects missed notifications itself; polling is only a fallback. */
const NOTIFIED_POLL_MS = 5000;
/** Coalesces bursts of notifications into one read. */
const COALESCE_MS = 20;
const PAGE_SIZE = 200;
/** Between attempts while the store is unavailable. */
const RETRY_MS = 500;

/** A store outage does not end a stream: it resumes where it was. null: the follower disconnected. */
export async function retryWhileUnavailable<T>(
  clock: Clock,
  signal: AbortSignal,
  read: () => Promise<T>,
): Promise<T | null> {
  while (!signal.aborted) {
    try {
      return await read();
    } catch (error) {
      if (!isOrbError(error) || (error.reaction !== "wait" && error.reaction !== "retry")) throw error;
    }
    await sleep(clock, RETRY_MS, signal);
  }
  return null;
}

/** Waits until new events are likely. */
class EventWaiter implements Disposable {
  readonly #clock: Clock;
  readonly #notifies: boolean;
  readonly #notified = new Signal();
  readonly #signal: AbortSignal;
  readonly #unwatch: () => void;

  constructor({ store, clock }: FollowDeps, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    this.#notifies = store.capabilities.notifies;
    this.#unwatch = store.watch((what) => what === "events" && this.#notified.raise());
  }

  async wait(): Promise<void> {
    if (!this.#notifies) return sleep(this.#clock, POLL_MS, this.#signal);
    await sleep(this.#clock, COALESCE_MS, this.#signal);
    if (this.#signal.aborted) return undefined;
    const end = () => this.#notified.raise();
    this.#signal.addEventListener("abort", end, { once: true });
    await this.#notified.wait(this.#clock, NOTIFIED_POLL_MS);
    return this.#signal.removeEventListener("abort", end);
  }

  [Symbol.dispose](): void {
    this.#unwatch();
  }
}

/** The events of one run after `after`, as they come, until the run has ended and all were sent. */
export async function* followRun(
  deps: FollowDeps,
  runId: string,
  after: string | null,
  signal: AbortSignal,
): AsyncGenerator<FollowedEvent> {
  const { store, clock } = deps;
  using waiter = new EventWaiter(deps, signal);
  let last = after;
  while (!signal.aborted) {
    // Reads the state first: events written before the end are then in the same read.
    const snapshot = await retryWhileUnavailable(clock, signal, async () => ({
      state: (await store.runStates([runId])).get(runId),
      events: await store.events(runId, { limit: PAGE_SIZE, ...(last === null ? {} : { after: last }) }),
    }));
    if (snapshot?.state === undefined) return;
    const { state, events } = snapshot;
    for (const event of events) yield { ...event, runId };
    last = events.at(-1)?.id ?? last;
    if (events.length === PAGE_SIZE) continue;
    if (TERMINAL_RUN_STATES.includes(state)) return;
    await waiter.wait();
  }
}

/** The events of all runs in one order, after `after` or from now on. */
export async function* followAll(
  deps: FollowDeps,
  after: string | null,
  signal: AbortSignal,
  choice: FeedChoice = {},
): AsyncGenerator<FollowedEvent> {
  const from = after ?? (await retryWhileUnavailable(deps.clock, signal, () => newestEvent(deps)));
  if (from !== null) for await (const { events } of followPages(deps, from, signal, choice)) yield* events;
}

/** The position at the end of the feed. */
export async function newestEvent({ store }: Pick<FollowDeps, "store">): Promise<string> {
  return (await store.feed({ limit: 0 })).last;
}

/** As `followAll`, page by page, each with the position to resume from. */
export async function* followPages(
  deps: FollowDeps,
  after: string,
  signal: AbortSignal,
  choice: FeedChoice = {},
): AsyncGenerator<{ events: FollowedEvent[]; last: string }> {
  const { store, clock } = deps;
  using waiter = new EventWaiter(deps, signal);
  let last = after;
  while (!signal.aborted) {
    const from = last;
    const page = await retryWhileUnavailable(clock, signal, () =>
      store.feed({ after: from, limit: PAGE_SIZE, ...choice }),
    );
    if (page === null) return;
    if (page.events.length > 0) yield page;
    last = page.last;
    if (page.events.length < PAGE_SIZE) await waiter.wait();
  }
}

/** Throws `input_invalid` when there is no such event to resume after. */
export async function requireEvent({ store }: Pick<FollowDeps, "store">, id: string): Promise<void> {
  await store.feed({ after: id, limit: 0 });
}
