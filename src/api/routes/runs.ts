import type { Static } from "typebox";
import { OrbError } from "../../base/errors.ts";
import { RUN_KINDS, RUN_STATES, TASK_STATES } from "../../domain/states.ts";
import { cancelRun, pauseRun, resolveRun, resumeRun } from "../../orchestrator/runs/control.ts";
import { listRuns, listTasks, showRun, viewOf } from "../../orchestrator/runs/read.ts";
import type { ApiDeps } from "../deps.ts";
import type { ApiInstance } from "../instance.ts";
import { cursorFilter, LINK_HEADER, pageQuery, sendPage } from "../paging.ts";
import { IdParam, oneOf, problemAnswer, strict, Uuid } from "../schemas.ts";
import { Run, Task } from "./run-schemas.ts";
import { Type } from "../type.ts";

export const RunParams = strict({ run_id: IdParam });
export const unknownRun = problemAnswer("there is no such run");
export const wrongState = problemAnswer("the run's present state does not allow it");

/** One of the two: of a choice between two shapes, whoever sends neither would be told about one of them only. */
const Answer = strict({
  session_id: Type.Optional(Type.Unsafe<string>({ ...Uuid, description: "go on with this session" })),
  skip: Type.Optional(Type.Literal(true, { description: "leave the page: the run fails as human_skipped" })),
});

function oneAnswer({ session_id, skip }: Static<typeof Answer>): { session_id: string } | { skip: true } {
  if (session_id !== undefined && skip === undefined) return { session_id };
  if (skip === true && session_id === undefined) return { skip };
  const message = "give session_id, or skip: true";
  const why = skip === undefined ? message : `${message}, not both`;
  throw new OrbError("input_invalid", `the body cannot be used: ${why}`, {
    fields: [{ path: "session_id", message: why }],
  });
}

/** What a list of runs may be narrowed by. */
const filters = {
  status: Type.Optional(oneOf(RUN_STATES)),
  kind: Type.Optional(oneOf(RUN_KINDS)),
  site: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: "part of the name or address of one of the newest 10,000 runs, or the id of any run",
    }),
  ),
};

/** Runs of every kind: read them, and steer them. */
export function runRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/runs",
    {
      schema: {
        summary: "Runs of all kinds, newest first",
        operationId: "listRuns",
        tags: ["runs"],
        querystring: pageQuery(filters),
        response: { 200: { ...Type.Array(Run), headers: LINK_HEADER } },
      },
    },
    async (request, reply) => {
      const { limit, status, kind, site, q } = request.query;
      const rows = await listRuns(deps, {
        ...(status === undefined ? {} : { status: [status] }),
        ...(kind === undefined ? {} : { kind }),
        ...(site === undefined ? {} : { site }),
        ...(q === undefined ? {} : { q }),
        ...cursorFilter(request.query),
        limit: limit + 1,
      });
      return sendPage(request, reply, { rows, limit, positionOf: ({ id }) => id });
    },
  );

  api.get(
    "/jobs/runs/:run_id",
    {
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
      schema: {
        summary: "The tasks of a run, oldest first, each with its attempts and files",
        operationId: "listTasks",
        tags: ["runs"],
        params: RunParams,
        querystring: pageQuery({ status: Type.Optional(oneOf(TASK_STATES)) }),
        response: { 200: { ...Type.Array(Task), headers: LINK_HEADER }, 404: unknownRun },
      },
    },
    async (request, reply) => {
      const { limit, status } = request.query;
      const rows = await listTasks(deps, request.params.run_id, {
        ...(status === undefined ? {} : { states: [status] }),
        ...cursorFilter(request.query),
        limit: limit + 1,
      });
      return sendPage(request, reply, { rows, limit, positionOf: ({ id }) => id });
    },
  );

  const actions: readonly [string, string, (id: string) => ReturnType<typeof cancelRun>][] = [
    ["cancel", "Cancel a run: no request starts later than a second after the answer", (id) => cancelRun(deps, id)],
    ["pause", "Let what is under way finish, and begin nothing new", (id) => pauseRun(deps, id)],
    ["resume", "Let a paused run go on", (id) => resumeRun(deps, id)],
  ];
  for (const [name, summary, act] of actions) {
    api.post(
      `/jobs/runs/:run_id/${name}`,
      {
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
      schema: {
        summary: "Answer a run that waits for a person: go on with a session, or skip the page",
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
