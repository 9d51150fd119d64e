/** What the live streams carry; the description knows them as texts only. */
import type { Operations, Overview, SitesProgress, Worker } from "./operations.ts";
import type { StreamEvent } from "./stream.ts";
import type { Route } from "./types.ts";

/** A line in the log of a run. */
export type RunEvent = Operations["get /jobs/runs/{run_id}/events"]["answer"][number];
/** What happened; docs/events.md lists all. */
export type EventType = RunEvent["type"];

export type LiveEvent =
  | StreamEvent<"hello", { version: string }>
  | StreamEvent<"overview", Omit<Overview, "series">>
  | StreamEvent<"runs", { runs: Overview["active_runs"] }>
  | StreamEvent<"sites", { sites: SitesProgress["sites"] }>
  | StreamEvent<"workers", { workers: Omit<Worker, "active">[] }>
  | StreamEvent<"run_event", RunEvent>
  | StreamEvent<"heartbeat", Record<string, never>>;

interface Streams {
  "get /jobs/runs/{run_id}/events/stream": StreamEvent<"run_event", RunEvent>;
  "get /events/stream": StreamEvent<"run_event", RunEvent>;
  "get /sites/progress/stream": StreamEvent<string, SitesProgress>;
  "get /live/stream": LiveEvent;
}

export type StreamRoute = keyof Streams & Route;
export type StreamData<R extends StreamRoute> = Streams[R];
