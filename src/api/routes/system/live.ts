import { merged } from "../../../base/merged.ts";
import { requireEvent } from "../../../events/follow.ts";
import { SharedFeed } from "../../../events/shared-feed.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { strict } from "../../schemas.ts";
import { frameOf, frameOfJson, sendEvents, type StreamFrom, streamAnswer, streamQuery } from "../../sse.ts";
import { Overview } from "./live-schemas.ts";
import { badPlace, placeOf, toSse } from "../runs/run-events.ts";

const EVENTS =
  "hello (once, with where the stream begins), overview (as GET /overview, without the series), runs, sites and workers " +
  "(those that have changed), run_event (as of GET /events/stream), heartbeat (when there was nothing to tell for five seconds)";

/** An event, because browsers tell their pages of no comments: whoever misses two of them knows that the connection is dead. */
const SIGNS = { sign: frameOf({ event: "heartbeat", data: {} }), everyMs: 5000 };

/** What a dashboard shows, and one stream that keeps it up to date. */
export function liveRoutes(api: ApiInstance, deps: ApiDeps): void {
  const feed = new SharedFeed(deps, (event) => frameOf(toSse(event)));

  api.get(
    "/overview",
    {
      schema: {
        summary:
          "Everything at one glance: pace, queue, runs at work, sites in trouble, failures, workers, and the last hour",
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
      schema: {
        summary:
          "All that a dashboard shows, live. Events of runs have ids, and go on behind Last-Event-ID; the rest tells how it is now",
        operationId: "streamLive",
        tags: ["live"],
        querystring: strict(streamQuery),
        response: { 200: streamAnswer(`events named ${EVENTS}`), 422: badPlace },
      },
    },
    async (request, reply) => {
      const place = placeOf(request.headers["last-event-id"], request.query.last_event_id);
      await place.named(async (after) => (after === null ? undefined : requireEvent(deps, after)));
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

/** The first thing said has an id: whoever is cut off before the first event goes on from there. */
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
