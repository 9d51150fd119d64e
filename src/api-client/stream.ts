/** Live events: a broken stream resumes after the last event, so that none is lost or repeated. */
import type { OpenAnswer } from "./answer.ts";
import { isOrbweaverError, OrbweaverError } from "./error.ts";
import { framesOf } from "./frames.ts";
import { backOff, mayPass } from "./retry.ts";
import { sleep } from "./time.ts";
import type { CallOptions } from "./types.ts";

export interface StreamOptions {
  /** Ends the stream; the loop fails with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Go on behind this event. */
  lastEventId?: string | undefined;
  /** How often in a row a connection may fail, once there was one; without end if nothing is said. */
  reconnects?: number | undefined;
  /** Called when the connection opens: at first, and after each reconnect. */
  onConnect?: (() => void) | undefined;
  /** Called when the connection is lost, with the reason and the time of the next attempt. */
  onDisconnect?: ((why: OrbweaverError, pauseMs: number) => void) | undefined;
}

export interface StreamEvent<Name extends string = string, Data = unknown> {
  id: string | null;
  event: Name;
  data: Data;
}

interface Source {
  open(options: CallOptions): Promise<OpenAnswer>;
  /** The server ends the stream when all events are sent: at the end, the client checks at once whether they are. */
  hasEnd: boolean;
  /** The server has answered before: it is waited for from the beginning. */
  wasThere?: boolean;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

export async function* streamOf(source: Source, options: StreamOptions): AsyncGenerator<StreamEvent, void> {
  const { signal, reconnects = Number.POSITIVE_INFINITY } = options;
  let last = options.lastEventId;
  let baseMs = FIRST_PAUSE_MS;
  let failures = 0;
  let wasThere = source.wasThere === true;
  for (;;) {
    let why = new OrbweaverError({ code: "unreachable", status: 0, detail: "the connection has ended" });
    let isCleanEnd = false;
    try {
      const headers: Record<string, string> = last === undefined ? {} : { "last-event-id": last };
      // Behind the first connection, how often it is tried again is decided here.
      const answer = await source.open({ signal, headers, ...(wasThere ? { retries: 0 } : {}) });
      if (answer.status === 204) return answer.close();
      wasThere = true;
      options.onConnect?.();
      for await (const { id, event, data } of framesOf(answer, { onRetry: (ms) => (baseMs = ms) })) {
        failures = 0;
        isCleanEnd = true;
        if (id !== null) last = id;
        yield { id, event, data: JSON.parse(data) as unknown };
      }
    } catch (error) {
      isCleanEnd = false;
      if (signal?.aborted === true || !isOrbweaverError(error)) throw error;
      if (!wasThere || !(mayPass(error) || error.code === "timed_out")) throw error;
      why = error;
    }
    // Usually the end of a run: nothing to report, nothing to wait for.
    if (source.hasEnd && isCleanEnd) continue;
    failures += 1;
    if (failures > reconnects) throw why;
    const pause = Math.max(why.retryAfterMs ?? 0, backOff(failures, { baseMs, longestMs: LONGEST_PAUSE_MS }));
    options.onDisconnect?.(why, pause);
    await sleep(pause, signal);
  }
}
