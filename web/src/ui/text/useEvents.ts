/** The newest events of a run, and live ones. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { call, type Problem } from "../../api/client.ts";
import { live, useLive } from "../../api/live.ts";
import { keyOf, queryClient } from "../../api/query.ts";
import { type EventList, MOST_EVENTS, noEvents, type RunEvent, withEvents } from "../../logic/run-events.ts";

const PAGE = 1000;
/** Events within this time are shown together: rendering the table for each would block the page. */
const TOGETHER_MS = 100;

export function useEvents(runId: string) {
  const key = [...keyOf("listEvents", { params: { run_id: runId }, query: {} }), "newest"];
  const query = useQuery<EventList, Problem>({
    queryKey: key,
    queryFn: ({ signal }) => loadEvents(runId, signal),
    // New events arrive live; missed ones are loaded after a reconnect.
    staleTime: Number.POSITIVE_INFINITY,
    // It would compare all events on every refetch.
    structuralSharing: false,
  });
  const waiting = useRef<RunEvent[]>([]);
  const timer = useRef<number | undefined>(undefined);
  const forget = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    waiting.current = [];
  };
  useEffect(() => forget, [runId]);
  const show = () => {
    const received = waiting.current;
    forget();
    queryClient.setQueryData<EventList>(key, (old) => (old === undefined ? old : withEvents(old, received)));
  };
  useLive<RunEvent>("run_event", (event) => {
    if (event.run_id !== runId) return;
    waiting.current.push(event);
    timer.current ??= window.setTimeout(show, TOGETHER_MS);
  });
  // Events between the response and the start of the stream are in neither.
  useLive("hello", () => void queryClient.invalidateQueries({ queryKey: key }));
  return query;
}

/** Events received while the list is loading may be missing from it. */
async function loadEvents(runId: string, signal: AbortSignal): Promise<EventList> {
  const received: RunEvent[] = [];
  const stop = live.on("run_event", (event: RunEvent) => {
    if (event.run_id === runId) received.push(event);
  });
  try {
    const newest: RunEvent[] = [];
    while (newest.length < MOST_EVENTS) {
      const after = newest.at(-1)?.id;
      const query = { order: "newest", limit: PAGE, ...(after === undefined ? {} : { after }) } as const;
      const page = await call("listEvents", { params: { run_id: runId }, query }, { signal });
      newest.push(...page);
      if (page.length < PAGE) break;
    }
    return withEvents(noEvents(), [...newest.toReversed(), ...received]);
  } finally {
    stop();
  }
}
