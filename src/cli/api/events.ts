/** Reads the API's event streams; whoever is cut off goes on behind the last event. */
import { isOrbError } from "../../base/errors.ts";
import { TERMINAL_RUN_STATES } from "../../domain/states.ts";
import type { EventView, RunView } from "../../orchestrator/runs/view.ts";
import type { SitesProgress } from "../../orchestrator/sites-progress.ts";
import type { ApiCaller } from "./caller.ts";

/** The events of a run as they come, until it has ended and all are told, or `signal` says stop. */
export async function* runEvents(
  api: ApiCaller,
  runId: string,
  { after, signal, wait }: { after?: string; signal: AbortSignal; wait: (ms: number) => Promise<void> },
): AsyncGenerator<EventView> {
  let last = after;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const headers = last === undefined ? {} : { "last-event-id": last };
      const answer = await api.request("GET", `/jobs/runs/${runId}/events/stream`, { headers, signal });
      if (answer.status === 204) return;
      for await (const event of framesOf<EventView>(answer.stream)) {
        failures = 0;
        last = event.id;
        yield event;
      }
      // The stream ends with the run, or with the server: which of them, the run knows.
      const run = await (await api.request("GET", `/jobs/runs/${runId}`, { signal })).json<RunView>();
      if (TERMINAL_RUN_STATES.includes(run.status)) return;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      if (!mayPass(error) || failures > MOST_FAILURES) throw error;
    }
    await wait(RECONNECT_MS);
  }
}

/**
 * How all sites are getting on, whenever it has changed, until `signal` says stop. A server that has answered once is
 * waited for, however long it is away; `note` is told when it goes and when it is back.
 */
export async function* siteChanges(
  api: ApiCaller,
  { signal, wait, note }: { signal: AbortSignal; wait: (ms: number) => Promise<void>; note: (text: string) => void },
): AsyncGenerator<SitesProgress> {
  let state: "new" | "there" | "gone" = "new";
  while (!signal.aborted) {
    let why = "the connection has ended";
    try {
      const answer = await api.request("GET", "/sites/progress/stream", { signal });
      for await (const progress of framesOf<SitesProgress>(answer.stream)) {
        if (state === "gone") note("The server answers again.");
        state = "there";
        yield progress;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!mayPass(error) || state === "new") throw error;
      if (isOrbError(error)) why = error.message;
    }
    if (signal.aborted) return;
    if (state === "there") note(`The server is gone (${why}). Waiting for it; Ctrl-C ends this.`);
    state = "gone";
    await wait(RECONNECT_MS);
  }
}

/** A broken connection, or a server that is restarted. */
function mayPass(error: unknown): boolean {
  return !isOrbError(error) || error.reaction === "retry" || error.reaction === "wait";
}

const MOST_FAILURES = 10;
const RECONNECT_MS = 1000;

async function* framesOf<T>(stream: AsyncIterable<Uint8Array>): AsyncGenerator<T> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const data = frame
        .split("\n")
        .filter((line) => line.startsWith("data: "))
        .map((line) => line.slice("data: ".length))
        .join("\n");
      if (data !== "") yield JSON.parse(data) as T;
    }
  }
}
