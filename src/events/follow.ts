import { type Clock, sleep } from "../base/clock.ts";
import { isOrbError } from "../base/errors.ts";
import { Signal } from "../base/signal.ts";
import { TERMINAL_RUN_STATES } from "../domain/run/states.ts";
import type { EventRecord, Store } from "../store/ports/port.ts";

export interface FollowDeps {
  store: Store;
  clock: Clock;
}

export interface FollowedEvent extends EventRecord {
  runId: string;
}

/** Other processes write too, so the store is asked; asking whether there is anything new costs some microseconds. */
const LOOK_MS = 100;
/** Where the store notifies, it also detects missed notifications itself; polling is only a fallback. */
const NOTIFIED_LOOK_MS = 5000;
/** Where much happens, it is not asked after each of it. */
const REST_MS = 20;
const PAGE = 200;
/** While the store cannot be asked. */
const AGAIN_MS = 500;

/** A store outage does not end a stream: it resumes where it was. null: the follower has left. */
export async function asked<T>(clock: Clock, signal: AbortSignal, ask: () => Promise<T>): Promise<T | null> {
  while (!signal.aborted) {
    try {
      return await ask();
    } catch (error) {
      if (!isOrbError(error) || (error.reaction !== "wait" && error.reaction !== "retry")) throw error;
    }
    await sleep(clock, AGAIN_MS, signal);
  }
  return null;
}

/** When to look whether events have come. */
class News implements Disposable {
  readonly #clock: Clock;
  readonly #notifies: boolean;
  readonly #notified = new Signal();
  readonly #over: AbortSignal;
  readonly #unwatch: () => void;

  constructor({ store, clock }: FollowDeps, over: AbortSignal) {
    this.#clock = clock;
    this.#over = over;
    this.#notifies = store.capabilities.notifies;
    this.#unwatch = store.watch((what) => what === "events" && this.#notified.raise());
  }

  async wait(): Promise<void> {
    if (!this.#notifies) return sleep(this.#clock, LOOK_MS, this.#over);
    await sleep(this.#clock, REST_MS, this.#over);
    if (this.#over.aborted) return undefined;
    const end = () => this.#notified.raise();
    this.#over.addEventListener("abort", end, { once: true });
    await this.#notified.wait(this.#clock, NOTIFIED_LOOK_MS);
    return this.#over.removeEventListener("abort", end);
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
  using news = new News(deps, signal);
  let last = after;
  while (!signal.aborted) {
    // The state first: events written before the end are then in the next read.
    const said = await asked(clock, signal, async () => ({
      state: (await store.runStates([runId])).get(runId),
      events: await store.events(runId, { limit: PAGE, ...(last === null ? {} : { after: last }) }),
    }));
    if (said?.state === undefined) return;
    const { state, events } = said;
    for (const event of events) yield { ...event, runId };
    last = events.at(-1)?.id ?? last;
    if (events.length === PAGE) continue;
    if (TERMINAL_RUN_STATES.includes(state)) return;
    await news.wait();
  }
}

/** The events of all runs in one order: from `after` on, or from now on. */
export async function* followAll(
  deps: FollowDeps,
  after: string | null,
  signal: AbortSignal,
): AsyncGenerator<FollowedEvent> {
  const from = after ?? (await asked(deps.clock, signal, () => newestEvent(deps)));
  if (from !== null) for await (const { events } of followPages(deps, from, signal)) yield* events;
}

/** Where those stand who have seen everything. */
export async function newestEvent({ store }: Pick<FollowDeps, "store">): Promise<string> {
  return (await store.feed({ limit: 0 })).last;
}

/** The same by the page, each with where to go on. */
export async function* followPages(
  deps: FollowDeps,
  after: string,
  signal: AbortSignal,
): AsyncGenerator<{ events: FollowedEvent[]; last: string }> {
  const { store, clock } = deps;
  using news = new News(deps, signal);
  let last = after;
  while (!signal.aborted) {
    const from = last;
    const page = await asked(clock, signal, () => store.feed({ after: from, limit: PAGE }));
    if (page === null) return;
    if (page.events.length > 0) yield page;
    last = page.last;
    if (page.events.length < PAGE) await news.wait();
  }
}

/** Throws `input_invalid` when there is no such event to resume after. */
export async function requireEvent({ store }: Pick<FollowDeps, "store">, id: string): Promise<void> {
  await store.feed({ after: id, limit: 0 });
}
