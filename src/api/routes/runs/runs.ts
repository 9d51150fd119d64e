import type { Static } from "typebox";
import { OrbError } from "../../../base/errors.ts";
import { TASK_STATES, type TaskState } from "../../../domain/run/states.ts";
import { TASK_ORDERS } from "../../../domain/lane/task-order.ts";
import { cancelRun, pauseRun, resolveRun, resumeRun } from "../../../orchestrator/runs/control.ts";
import { countListed, listRuns, listTasks, showRun, showTask, viewOf } from "../../../orchestrator/runs/read.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { cursorFilter, LINK_HEADER, pageQuery, sendPage, TOTAL_HEADER } from "../../paging.ts";
import { IdParam, ShortIdParam, oneOf, problemAnswer, strict } from "../../schemas.ts";
import { SessionName } from "../pages/header-schemas.ts";
import { filterOf, runQuery, statesOf } from "./run-filters.ts";
import { Run, Task } from "./run-schemas.ts";
import { Type } from "../../type.ts";

export const RunParams = strict({ run_id: ShortIdParam });
export const unknownRun = problemAnswer("there is no such run");
export const wrongState = problemAnswer("the current state of the run does not allow it");

/** Exactly one of the two. Not a union: if neither matches, its error would name only one of them. */
const Answer = strict({
  session_id: Type.Optional(
    Type.Unsafe<string>({ ...SessionName, description: "continue with this session: id or name" }),
  ),
  skip: Type.Optional(Type.Literal(true, { description: "give up the page; the run fails as human_skipped" })),
});

function oneAnswer({ session_id, skip }: Static<typeof Answer>): { session_id: string } | { skip: true } {
  if (session_id !== undefined && skip === undefined) return { session_id };
  if (skip === true && session_id === undefined) return { skip };
  const message = "expected session_id, or skip: true";
  const why = skip === undefined ? message : `${message}, not both`;
  throw new OrbError("input_invalid", `invalid body: ${why}`, {
    fields: [{ path: "session_id", message: why }],
  });
}

/** An exact count beyond this is not worth its cost. */
const MOST_COUNTED = 10_000;

export function runRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/runs",
    {
      config: { role: "viewer", limited: true },
      schema: {
        summary: "Runs of all kinds, newest first",
        operationId: "listRuns",
        tags: ["runs"],
        querystring: pageQuery({
          ...runQuery,
          total: Type.Optional(
            Type.Boolean({ default: false, description: "also return the total number, in the header x-total-count" }),
          ),
        }),
        response: { 200: { ...Type.Array(Run), headers: { ...LINK_HEADER, ...TOTAL_HEADER } } },
      },
    },
    async (request, reply) => {
      const { limit, status, total = false } = request.query;
      const filter = { ...statesOf(status), ...filterOf(request.query), limit: limit + 1 };
      const rows = await listRuns(deps, { ...filter, ...cursorFilter(request.query) });
      if (total) reply.header("x-total-count", await countListed(deps, filter, MOST_COUNTED));
      return sendPage(request, reply, { rows, limit, positionOf: ({ id }) => id });
    },
  );

  api.get(
    "/jobs/runs/:run_id",
    {
      config: { role: "viewer" },
      schema: {
        summary: "One run",
        operationId: "getRun",
        tags: ["runs"],
        params: RunParams,
        response: { 200: Run, 404: unknownRun },
      },
    },
    (request) => showRun(deps, request.params.run_id),
  );

  api.get(
    "/jobs/runs/:run_id/tasks",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The tasks of a run, each with its attempts and files",
        operationId: "listTasks",
        tags: ["runs"],
        params: RunParams,
        querystring: pageQuery({
          status: Type.Optional(
            oneOf([...TASK_STATES, "retryable"], {
              description: "retryable: a retry is scheduled, or a retry may fix the failure",
            }),
          ),
          q: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 200,
              description: "part of the URL; the next 50,000 tasks are searched",
            }),
          ),
          order: Type.Optional(
            oneOf(TASK_ORDERS, {
              description:
                "order; default: oldest first. slowest: by duration of the last attempt, largest: by its bytes, both among the newest 50,000 tasks",
            }),
          ),
        }),
        response: { 200: { ...Type.Array(Task), headers: LINK_HEADER }, 404: unknownRun },
      },
    },
    async (request, reply) => {
      const { limit, status, q, order } = request.query;
      const rows = await listTasks(deps, request.params.run_id, {
        ...statusFilter(status),
        ...(q === undefined ? {} : { q }),
        ...(order === undefined ? {} : { order }),
        ...cursorFilter(request.query),
        limit: limit + 1,
      });
      return sendPage(request, reply, { rows, limit, positionOf: ({ id }) => id });
    },
  );

  api.get(
    "/jobs/runs/:run_id/tasks/:task_id",
    {
      config: { role: "viewer" },
      schema: {
        summary: "One task of a run, with its attempts and files",
        operationId: "getTask",
        tags: ["runs"],
        params: strict({ run_id: ShortIdParam, task_id: IdParam }),
        response: { 200: Task, 404: problemAnswer("there is no such run, or it has no such task") },
      },
    },
    (request) => showTask(deps, request.params.run_id, request.params.task_id),
  );

  const actions: readonly [string, string, (id: string) => ReturnType<typeof cancelRun>][] = [
    ["cancel", "Cancel a run: no request starts later than a second after the response", (id) => cancelRun(deps, id)],
    ["pause", "Pause a run: finish tasks in flight and start no new ones", (id) => pauseRun(deps, id)],
    ["resume", "Resume a paused run", (id) => resumeRun(deps, id)],
  ];
  for (const [name, summary, act] of actions) {
    api.post(
      `/jobs/runs/:run_id/${name}`,
      {
        config: { role: "operator" },
        schema: {
          summary,
          operationId: `${name}Run`,
          tags: ["runs"],
          params: RunParams,
          response: { 200: Run, 404: unknownRun, 409: wrongState },
        },
      },
      async (request) => viewOf(deps, await act(request.params.run_id)),
    );
  }

  api.post(
    "/jobs/runs/:run_id/resolve",
    {
      config: { role: "operator" },
      schema: {
        summary: "Resolve a run that waits for a person: continue with a session, or skip the page",
        operationId: "resolveRun",
        tags: ["runs"],
        params: RunParams,
        body: Answer,
        response: { 200: Run, 404: unknownRun, 409: wrongState },
      },
    },
    async (request) => viewOf(deps, await resolveRun(deps, request.params.run_id, oneAnswer(request.body))),
  );
}

function statusFilter(status: TaskState | "retryable" | undefined) {
  if (status === undefined) return {};
  return status === "retryable" ? { states: ["retrying", "failed"] as const, retryable: true } : { states: [status] };
}
