/** Waits for the end of runs, driven by live events. */
import { OrbweaverError } from "./error.ts";
import type { Run } from "./operations.ts";
import { mayPass } from "./retry.ts";
import { Leash, sleep } from "./time.ts";

export interface WaitOptions<View> {
  /** Called with the first state, with every change, and with the end. */
  onProgress?: ((view: View) => void) | undefined;
  /** Ends the waiting, not the run; it fails with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Behind it the waiting fails with `timed_out`; the run goes on. Without end if nothing is said. */
  timeoutMs?: number | undefined;
}

/** States in which a run stays for good. */
export const ENDED = ["completed", "partial", "failed", "cancelled"] as const satisfies readonly Run["status"][];

export type EndedStatus = (typeof ENDED)[number];

export function hasEnded(status: string): status is EndedStatus {
  return ENDED.some((ended) => ended === status);
}

interface Watched<View> {
  look(signal: AbortSignal): Promise<View>;
  /** Its events as they come; ends with the run. */
  follow(signal: AbortSignal): AsyncIterable<unknown>;
}

/** The shortest time between two looks. */
const LOOK_MS = 500;
/** Not everything that changes is an event, and something between may hold events back. */
const ANYWAY_MS = 5000;

export async function waitForEnd<View extends { status: string }>(
  { look, follow }: Watched<View>,
  { onProgress, signal, timeoutMs }: WaitOptions<View>,
): Promise<View> {
  const leash = new Leash(signal);
  leash.allow(timeoutMs ?? null, () => tooLong(timeoutMs ?? 0));
  let lastReported = "";
  const see = async () => {
    // Once it was there, a server that is restarted is waited for.
    const view = await look(leash.signal).catch((error: unknown) => {
      if (lastReported === "" || leash.signal.aborted || !mayPass(error)) throw error;
      return null;
    });
    if (view === null) return null;
    const text = JSON.stringify(view);
    if (text !== lastReported) onProgress?.(view);
    lastReported = text;
    return view;
  };
  try {
    const first = await see();
    if (first !== null && hasEnded(first.status)) return first;
    const news = new News(follow(leash.signal));
    for (;;) {
      await Promise.race([news.next(), sleep(ANYWAY_MS, leash.signal)]);
      const view = await see();
      if (view !== null && hasEnded(view.status)) return view;
      await Promise.race([news.over, sleep(LOOK_MS, leash.signal)]);
    }
  } catch (error) {
    throw leash.signal.aborted ? leash.signal.reason : error;
  } finally {
    leash.abort();
    leash.close();
  }
}

/** Whether anything has happened since the last look. */
class News {
  #wake: (() => void) | null = null;
  #failure: { error: unknown } | null = null;
  #isNew = false;
  /** No more will come: it has most likely ended. */
  readonly over: Promise<void>;

  constructor(events: AsyncIterable<unknown>) {
    this.over = this.#read(events);
  }

  async #read(events: AsyncIterable<unknown>): Promise<void> {
    try {
      for await (const _event of events) this.#notify();
    } catch (error) {
      this.#failure = { error };
    }
    this.#notify();
  }

  #notify(): void {
    this.#isNew = true;
    this.#wake?.();
  }

  async next(): Promise<void> {
    if (!this.#isNew) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#isNew = false;
    if (this.#failure !== null) throw this.#failure.error;
  }
}

function tooLong(ms: number): OrbweaverError {
  const detail = `it has not ended within ${ms / 1000} s`;
  return new OrbweaverError({ code: "timed_out", status: 0, detail, hint: "The run continues; call wait again." });
}
