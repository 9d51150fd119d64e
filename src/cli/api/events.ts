/** Live events, until Ctrl-C. */
import type { OrbweaverClient, RunEvent, SitesProgress } from "../../api-client/client.ts";

const MOST_FAILURES = 10;

/** Events of a run until it has ended and all are sent, or `signal` aborts. */
export function runEvents(
  api: OrbweaverClient,
  runId: string,
  signal: AbortSignal,
  filter: { type?: string } = {},
): AsyncGenerator<RunEvent> {
  return untilStopped(api.followRun(runId, { signal, reconnects: MOST_FAILURES, ...filter }), signal);
}

/**
 * Progress of all sites whenever it changes, until `signal` aborts. Reconnects without limit once the server has
 * answered; calls `note` when the connection is lost and restored.
 */
export function siteChanges(
  api: OrbweaverClient,
  { signal, note }: { signal: AbortSignal; note: (text: string) => void },
): AsyncGenerator<SitesProgress> {
  let isGone = false;
  const sites = api.followSites({
    signal,
    onConnect: () => {
      if (isGone) note("Reconnected to the server.");
      isGone = false;
    },
    onDisconnect: ({ message }) => {
      if (!isGone) note(`Connection to the server lost (${message}). Reconnecting; press Ctrl-C to stop.`);
      isGone = true;
    },
  });
  return untilStopped(sites, signal);
}

/** An abort is not a failure here. */
async function* untilStopped<T>(events: AsyncGenerator<T>, signal: AbortSignal): AsyncGenerator<T> {
  try {
    yield* events;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
