import { merged } from "../../../base/merged.ts";
import { requireEvent } from "../../../events/follow.ts";
import { SharedFeed } from "../../../events/shared-feed.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { strict } from "../../schemas.ts";
import { frameOf, frameOfJson, sendEvents, type StreamFrom, streamAnswer, streamQuery } from "../../sse.ts";
import { Overview } from "./live-schemas.ts";
import { unknownEvent, resumePoint, toSse } from "../runs/run-events.ts";

const EVENTS =
  "hello (once, with the start position of the stream), overview (as in GET /overview, without the series), runs, sites and workers " +
  "(only changed ones), run_event (as in GET /events/stream), heartbeat (after five seconds without other events)";

/** An event, because EventSource hides comments from pages: a client that misses two knows that the connection is dead. */
const SIGNS = { sign: frameOf({ event: "heartbeat", data: {} }), everyMs: 5000 };

/** The dashboard's data, and one stream that keeps it up to date. */
export function liveRoutes(api: ApiInstance, deps: ApiDeps): void {
  const feed = new SharedFeed(deps, (event) => frameOf(toSse(event)));

  api.get(
    "/overview",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Overview: throughput, queue, active runs, sites with problems, failures, workers, and the last hour",
        operationId: "getOverview",
        tags: ["live"],
        response: { 200: Overview },
      },
    },
    () => deps.live.overview(),
  );

  api.get(
    "/live/stream",
    {
      config: { role: "viewer" },
      schema: {
        summary:
          "Everything that a dashboard shows, live. Events of runs have ids and resume after Last-Event-ID; the others carry the current state",
        operationId: "streamLive",
        tags: ["live"],
        querystring: strict(streamQuery),
        response: { 200: streamAnswer(`events named ${EVENTS}`), 422: unknownEvent },
      },
    },
    async (request, reply) => {
      const resume = resumePoint(request.headers["last-event-id"], request.query.last_event_id);
      await resume.named(async (after) => (after === null ? undefined : requireEvent(deps, after)));
      return sendEvents(
        request,
        reply,
        deps,
        (from) => merged(deps.clock, [eventsOf(feed, from, deps), looksOf(deps, from)]),
        SIGNS,
      );
    },
  );
}

/** The first message has an id: a client that disconnects before the first event resumes from there. */
async function* eventsOf(
  feed: SharedFeed,
  { lastEventId, signal }: StreamFrom,
  { settings }: Pick<ApiDeps, "settings">,
): AsyncGenerator<string> {
  let isFirst = true;
  for await (const { text, last } of feed.follow(lastEventId, signal)) {
    yield isFirst ? frameOf({ id: last, event: "hello", data: { version: settings.version } }) + text : text;
    isFirst = false;
  }
}

async function* looksOf({ live }: Pick<ApiDeps, "live">, { signal }: StreamFrom): AsyncGenerator<string> {
  for await (const { event, json } of live.follow(signal)) yield frameOfJson(event, json);
}
