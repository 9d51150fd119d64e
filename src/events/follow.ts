import { type Clock, sleep } from "../base/clock.ts";
import { TERMINAL_RUN_STATES } from "../domain/states.ts";
import type { EventRecord, Store } from "../store/port.ts";

export interface FollowDeps {
  store: Store;
  clock: Clock;
}

export interface FollowedEvent extends EventRecord {
  runId: string;
}

/** Other processes write too, so the store is asked; asking whether there is anything new costs some microseconds. */
const LOOK_MS = 100;
const PAGE = 200;

/** The events of one run behind `after`, as they come, until the run has ended and all are told. */
export async function* followRun(
  { store, clock }: FollowDeps,
  runId: string,
  after: string | null,
  signal: AbortSignal,
): AsyncGenerator<FollowedEvent> {
  let last = after;
  while (!signal.aborted) {
    // The state first: what was written before the end is then in the events that follow.
    const state = (await store.runStates([runId])).get(runId);
    if (state === undefined) return;
    const events = await store.events(runId, { limit: PAGE, ...(last === null ? {} : { after: last }) });
    for (const event of events) yield { ...event, runId };
    last = events.at(-1)?.id ?? last;
    if (events.length === PAGE) continue;
    if (TERMINAL_RUN_STATES.includes(state)) return;
    await sleep(clock, LOOK_MS, signal);
  }
}

/** The events of all runs in one order: from `after` on, or from now on. */
export async function* followAll(
  { store, clock }: FollowDeps,
  after: string | null,
  signal: AbortSignal,
): AsyncGenerator<FollowedEvent> {
  let last = after ?? (await store.feed({ limit: 0 })).last;
  while (!signal.aborted) {
    const page = await store.feed({ after: last, limit: PAGE });
    yield* page.events;
    last = page.last;
    if (page.events.length < PAGE) await sleep(clock, LOOK_MS, signal);
  }
}

/** Throws `input_invalid` when there is no such event to go on behind. */
export async function requireEvent({ store }: Pick<FollowDeps, "store">, id: string): Promise<void> {
  await store.feed({ after: id, limit: 0 });
}
