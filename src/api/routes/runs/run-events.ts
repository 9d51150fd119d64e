import { isOrbError, OrbError } from "../../../base/errors.ts";
import { EVENT_TYPES, type EventType } from "../../../domain/run/event-catalogue.ts";
import { EVENT_ORDERS } from "../../../domain/run/event-order.ts";
import { suggest } from "../../../domain/text/suggest.ts";
import { TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import { followAll, followRun, type FollowedEvent, requireEvent } from "../../../events/follow.ts";
import { listEvents, showRun } from "../../../orchestrator/runs/read.ts";
import { toEventView } from "../../../orchestrator/runs/view.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { oneOf, problemAnswer, strict } from "../../schemas.ts";
import { sendEvents, type SseEvent, streamAnswer, streamQuery } from "../../sse.ts";
import { Event } from "./run-schemas.ts";
import { RunParams, unknownRun } from "./runs.ts";
import { Type } from "../../type.ts";

export const unknownEvent = problemAnswer("there is no such event to resume after");

export function toSse(event: FollowedEvent): SseEvent {
  return { id: event.id, event: "run_event", data: toEventView(event, event.runId) };
}

async function* asSse(
  events: AsyncIterable<FollowedEvent>,
  { types }: { types?: readonly EventType[] },
): AsyncGenerator<SseEvent> {
  for await (const event of events) if (types?.includes(event.type) ?? true) yield toSse(event);
}

const typeQuery = {
  type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      description: "only events of this type, or of several, separated by commas; docs/events.md lists them",
    }),
  ),
};

function typesOf(text: string | undefined): { types?: EventType[] } {
  if (text === undefined) return {};
  const types = [...new Set(text.split(","))];
  const unknown = types.find((type) => !(EVENT_TYPES as readonly string[]).includes(type));
  if (unknown === undefined) return { types: types as EventType[] };
  const near = suggest(unknown, EVENT_TYPES);
  const message = `there is no event type ${unknown.slice(0, 100)}${near === undefined ? "" : `; did you mean ${near}?`}`;
  throw new OrbError("input_invalid", `invalid request: query.type: ${message}`, {
    fields: [{ path: "query.type", message }],
    hint: "docs/events.md lists all types.",
  });
}

/** Events in order: as lists, and live. */
export function eventRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/jobs/runs/:run_id/events",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The events of a run, oldest or newest first",
        operationId: "listEvents",
        tags: ["events"],
        params: RunParams,
        querystring: strict({
          limit: Type.Integer({ minimum: 1, maximum: 1000, default: 200 }),
          after: Type.Optional(
            Type.String({
              format: "uuid",
              description: "only events after this one, in the requested order",
            }),
          ),
          order: Type.Optional(oneOf(EVENT_ORDERS, { description: "order; default: oldest first" })),
          ...typeQuery,
        }),
        response: { 200: Type.Array(Event), 404: unknownRun, 422: unknownEvent },
      },
    },
    (request) => {
      const { limit, after, order, type } = request.query;
      return listEvents(deps, request.params.run_id, {
        limit,
        ...(after === undefined ? {} : { after }),
        ...(order === undefined ? {} : { order }),
        ...typesOf(type),
      });
    },
  );

  api.get(
    "/jobs/runs/:run_id/events/stream",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The events of a run, live; ends with the run. 204: the run has ended and no events are left",
        operationId: "streamEvents",
        tags: ["events"],
        params: RunParams,
        querystring: strict({ ...streamQuery, ...typeQuery }),
        response: {
          200: streamAnswer("events named run_event"),
          204: Type.Null({ description: "the run has ended and all its events were sent" }),
          404: unknownRun,
          422: unknownEvent,
        },
      },
    },
    async (request, reply) => {
      const id = request.params.run_id;
      const run = await showRun(deps, id);
      const resume = resumePoint(request.headers["last-event-id"], request.query.last_event_id);
      const wanted = typesOf(request.query.type);
      // Fail now, while the response can still be a problem.
      const news = await resume.named((after) =>
        listEvents(deps, id, { limit: 1, ...(after === null ? {} : { after }), ...wanted }),
      );
      if (TERMINAL_RUN_STATES.includes(run.status) && news.length === 0) return reply.code(204).send(null);
      return sendEvents(request, reply, deps, (from) =>
        asSse(followRun(deps, id, from.lastEventId, from.signal), wanted),
      );
    },
  );

  api.get(
    "/events/stream",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The events of all runs, live; from now on, or after Last-Event-ID",
        operationId: "streamAllEvents",
        tags: ["events"],
        querystring: strict({ ...streamQuery, ...typeQuery }),
        response: { 200: streamAnswer("events named run_event"), 422: unknownEvent },
      },
    },
    async (request, reply) => {
      const resume = resumePoint(request.headers["last-event-id"], request.query.last_event_id);
      const wanted = typesOf(request.query.type);
      await resume.named(async (after) => (after === null ? undefined : requireEvent(deps, after)));
      return sendEvents(request, reply, deps, (from) => asSse(followAll(deps, from.lastEventId, from.signal), wanted));
    },
  );
}

/** The event after which a stream resumes; an error names the parameter that the client used. */
export function resumePoint(header: string | string[] | undefined, query: string | undefined) {
  const path = typeof header === "string" ? "header.last-event-id" : "query.last_event_id";
  const after = (typeof header === "string" ? header : undefined) ?? query ?? null;
  return {
    async named<T>(look: (after: string | null) => Promise<T>): Promise<T> {
      try {
        return await look(after);
      } catch (error) {
        if (!isOrbError(error, "input_invalid") || after === null) throw error;
        const message = error.fields[0]?.message ?? "is not the id of an event";
        throw new OrbError("input_invalid", `invalid request: ${path}: ${message}`, {
          cause: error,
          ...(error.hint === undefined ? {} : { hint: error.hint }),
          fields: [{ path, message }],
        });
      }
    },
  };
}
