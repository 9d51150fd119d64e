import { WAIT_REASONS } from "../../../domain/run/waiting.ts";
import { OCCURRENCE_OUTCOMES } from "../../../domain/run/schedule-occurrences.ts";
import {
  listSchedules,
  listOccurrences,
  pauseSchedule,
  previewSchedule,
  resumeSchedule,
  showSchedule,
} from "../../../orchestrator/schedules.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { badCursor, cursorFilter, decodeCursor, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { Count, IdParam, nullable, oneOf, problemAnswer, strict, Time, Uuid } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { waitingParts } from "../runs/run-schemas.ts";

const SlotSchema = strict({
  at: { ...Time, description: "the scheduled time, without jitter" },
  until: { ...Time, description: "for several missed times in a row: the last one" },
  count: { ...Count, description: "for several missed times in a row: their number" },
  outcome: oneOf(OCCURRENCE_OUTCOMES),
  run_id: nullable({ ...Uuid, description: "the run that started; if skipped, the run that was the reason" }),
  message: nullable(Type.String()),
  noted_at: Time,
});

const Schedule = strict({
  job_id: Uuid,
  name: nullable(Type.String()),
  kind: Type.String({ description: "page, crawl or workflow" }),
  cron: Type.String(),
  timezone: Type.String(),
  overlap: oneOf(["skip", "queue", "cancel"]),
  missed: oneOf(["skip", "run_once"]),
  jitter_seconds: Type.Number({ minimum: 0 }),
  paused: Type.Boolean(),
  next_at: nullable({ ...Time, description: "with jitter" }),
  next_times: Type.Array(Time, { description: "the next five scheduled times, without jitter" }),
  waiting_for: nullable(
    strict(
      { reason: oneOf(WAIT_REASONS), ...waitingParts },
      { description: "why no run would start at the next time; null: it would start, or the schedule is paused" },
    ),
  ),
  last: nullable(SlotSchema),
  counts: strict({ started: Count, missed: Count, skipped: Count, refused: Count }),
});

const Params = strict({ job_id: IdParam });
const unknown = problemAnswer("there is no such job, or it has no schedule");

function slotAfter(cursor: string | undefined): { after?: number } {
  const text = decodeCursor(cursor);
  if (text === undefined) return {};
  const after = Date.parse(text);
  if (Number.isNaN(after)) throw badCursor();
  return { after };
}

export function scheduleRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/schedules",
    {
      config: { role: "viewer", limited: true },
      schema: {
        summary: "All jobs with a schedule, newest first: their next times and past outcomes",
        operationId: "listSchedules",
        tags: ["schedules"],
        querystring: pageQuery({}),
        response: { 200: { ...Type.Array(Schedule), headers: LINK_HEADER } },
      },
    },
    async (request, reply) => {
      const { limit } = request.query;
      const rows = await listSchedules(deps, { ...cursorFilter(request.query), limit: limit + 1 });
      return sendPage(request, reply, { rows, limit, positionOf: ({ job_id }) => job_id });
    },
  );

  api.get(
    "/schedules/preview",
    {
      config: { role: "viewer", limited: true },
      schema: {
        summary: "Preview the next times of a schedule",
        operationId: "previewSchedule",
        tags: ["schedules"],
        querystring: strict({
          cron: Type.String({ maxLength: 200, description: "a cron expression, such as 0 6 * * *" }),
          timezone: Type.Optional(Type.String({ maxLength: 100, description: "such as Europe/Berlin; default: UTC" })),
          count: Type.Integer({ minimum: 1, maximum: 50, default: 5 }),
        }),
        response: {
          200: strict({
            cron: Type.String(),
            timezone: Type.String(),
            next_times: Type.Array(
              strict({
                at: Time,
                local: Type.String({ description: "local times in the time zone, with their UTC offset" }),
              }),
            ),
          }),
          422: problemAnswer("the cron expression or the time zone is invalid, or its times are too close together"),
        },
      },
    },
    async (request) => {
      const { cron, timezone, count } = request.query;
      return previewSchedule(deps, { cron, count, ...(timezone === undefined ? {} : { timezone }) });
    },
  );

  api.get(
    "/schedules/:job_id",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The schedule of one job",
        operationId: "getSchedule",
        tags: ["schedules"],
        params: Params,
        response: { 200: Schedule, 404: unknown },
      },
    },
    (request) => showSchedule(deps, request.params.job_id),
  );

  api.get(
    "/schedules/:job_id/slots",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Outcomes of the last 1,000 times of a schedule, newest first",
        operationId: "listSlots",
        tags: ["schedules"],
        params: Params,
        querystring: pageQuery({ outcome: Type.Optional(oneOf(OCCURRENCE_OUTCOMES)) }),
        response: { 200: { ...Type.Array(SlotSchema), headers: LINK_HEADER }, 404: unknown },
      },
    },
    async (request, reply) => {
      const { limit, outcome, cursor } = request.query;
      const rows = await listOccurrences(deps, request.params.job_id, {
        ...(outcome === undefined ? {} : { outcome }),
        ...slotAfter(cursor),
        limit: limit + 1,
      });
      return sendPage(request, reply, { rows, limit, positionOf: ({ at }) => at });
    },
  );

  for (const [name, summary, work] of [
    [
      "pause",
      "Pause a schedule: no runs start until it is resumed, and times in between do not count as missed",
      pauseSchedule,
    ],
    ["resume", "Resume a paused schedule from its next time on", resumeSchedule],
  ] as const)
    api.post(
      `/schedules/:job_id/${name}`,
      {
        config: { role: "operator" },
        schema: {
          summary,
          operationId: `${name}Schedule`,
          tags: ["schedules"],
          params: Params,
          response: { 200: Schedule, 404: unknown },
        },
      },
      (request) => work(deps, request.params.job_id),
    );
}
