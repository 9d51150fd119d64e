/** Live events, until Ctrl-C. */
import type { OrbweaverClient, RunEvent, SitesProgress } from "../../api-client/client.ts";

const MOST_FAILURES = 10;

/** The events of a run as they come, until it has ended and all are sent, or `signal` aborts. */
export function runEvents(
  api: OrbweaverClient,
  runId: string,
  signal: AbortSignal,
  filter: { type?: string } = {},
): AsyncGenerator<RunEvent> {
  return untilStopped(api.followRun(runId, { signal, reconnects: MOST_FAILURES, ...filter }), signal);
}

/**
 * How all sites are getting on, whenever it has changed, until `signal` says stop. A server that has answered once is
 * waited for, however long it is away; `note` is told when it goes and when it is back.
 */
export function siteChanges(
  api: OrbweaverClient,
  { signal, note }: { signal: AbortSignal; note: (text: string) => void },
): AsyncGenerator<SitesProgress> {
  let isGone = false;
  const sites = api.followSites({
    signal,
    onConnect: () => {
      if (isGone) note("The server answers again.");
      isGone = false;
    },
    onDisconnect: ({ message }) => {
      if (!isGone) note(`The server is gone (${message}). Waiting for it; Ctrl-C ends this.`);
      isGone = true;
    },
  });
  return untilStopped(sites, signal);
}

/** Being stopped is no failure here. */
async function* untilStopped<T>(events: AsyncGenerator<T>, signal: AbortSignal): AsyncGenerator<T> {
  try {
    yield* events;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
