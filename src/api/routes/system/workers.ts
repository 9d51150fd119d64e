import { drainWorker, listWorkers, pingWorker, showWorker, stopTask } from "../../../orchestrator/workers/workers.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { Count, IdParam, ShortIdParam, nullable, oneOf, problemAnswer, strict, Time, Uuid } from "../../schemas.ts";
import { Type } from "../../type.ts";

const ActiveTask = strict({
  task_id: Uuid,
  run_id: Uuid,
  lane: Type.String({ description: "the site, group or step that it belongs to" }),
  url: nullable(Type.String()),
  started_at: Time,
});

const RemoteBrowser = strict({
  name: Type.String({ description: "host and port" }),
  state: oneOf(["connecting", "up", "down"]),
  pages: { ...Count, description: "open pages of this worker" },
  max_pages: Count,
  version: nullable(Type.String()),
  problem: nullable(Type.String({ description: "why it is down" })),
  since: nullable(Time),
});

export const Worker = strict({
  id: Uuid,
  machine: Type.String(),
  pid: Type.Integer(),
  command: Type.String({ description: "serve, worker, crawl …; library: a program that uses the library" }),
  version: Type.String(),
  state: oneOf(["working", "draining", "drained", "lost", "stopped"]),
  role: oneOf(["engine", "standby", "stopped"]),
  engine: Type.String({ description: "embedded, or bullmq: several workers, on any machine" }),
  database: oneOf(["sqlite", "postgres"]),
  heartbeat: { ...Time, description: "time of the last heartbeat" },
  in_flight: Count,
  max_workers: Count,
  throughput: Type.Number({ minimum: 0, description: "tasks that ended per second, over the last ten seconds" }),
  completed: Count,
  failed: Count,
  memory: { ...Count, description: "bytes" },
  paused: nullable(Type.String({ description: "why it accepts no work; null: it does" })),
  drain_asked: Type.Boolean(),
  active: Type.Array(ActiveTask, { description: "the 100 longest running tasks" }),
  browsers: Type.Array(RemoteBrowser, { description: "the browsers of APP_BROWSER_URL, as this worker sees them" }),
  started_at: Time,
  stopped_at: nullable(Time),
});

const Params = strict({ id: IdParam });
const unknownWorker = problemAnswer("there is no such worker");
const hasStopped = problemAnswer("it has stopped");

export function workerRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/workers",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The workers, also those on standby, newest first",
        operationId: "listWorkers",
        tags: ["workers"],
        querystring: strict({
          all: Type.Optional(
            Type.Boolean({ default: false, description: "also workers that stopped in the last day" }),
          ),
        }),
        response: { 200: Type.Array(Worker) },
      },
    },
    (request) => listWorkers(deps, { all: request.query.all ?? false }),
  );

  api.get(
    "/workers/:id",
    {
      config: { role: "viewer" },
      schema: {
        summary: "One worker, with its current tasks",
        operationId: "getWorker",
        tags: ["workers"],
        params: Params,
        response: { 200: Worker, 404: unknownWorker },
      },
    },
    (request) => showWorker(deps, request.params.id),
  );

  for (const [name, drain, summary] of [
    ["drain", true, "Drain a worker: finish its tasks and accept no more"],
    ["resume", false, "Resume a drained worker"],
  ] as const)
    api.post(
      `/workers/:id/${name}`,
      {
        config: { role: "admin", audit: drain ? "worker.drained" : "worker.resumed" },
        schema: {
          summary,
          operationId: `${name}Worker`,
          tags: ["workers"],
          params: Params,
          response: { 200: Worker, 404: unknownWorker, 409: hasStopped },
        },
      },
      (request) => drainWorker(deps, request.params.id, drain),
    );

  api.post(
    "/workers/:id/ping",
    {
      config: { role: "operator" },
      schema: {
        summary: "Ping a worker, and wait up to five seconds for its response",
        operationId: "pingWorker",
        tags: ["workers"],
        params: Params,
        response: {
          200: strict({ id: Uuid, answered: Type.Boolean(), latency_ms: Count }),
          404: unknownWorker,
          409: hasStopped,
        },
      },
    },
    (request) => pingWorker(deps, request.params.id),
  );

  api.post(
    "/jobs/runs/:run_id/tasks/:task_id/stop",
    {
      config: { role: "operator", audit: "run.task_stopped" },
      schema: {
        summary: "Stop a task: it fails as task_stopped, and the rest of its run continues",
        operationId: "stopTask",
        tags: ["runs"],
        params: strict({ run_id: ShortIdParam, task_id: IdParam }),
        response: {
          202: strict({
            task_id: Uuid,
            run_id: Uuid,
            state: oneOf(["failed", "running"], { description: "running: its worker is notified and stops it" }),
          }),
          404: problemAnswer("there is no such run, or it has no such task"),
          409: problemAnswer("the task has ended, or has not started"),
        },
      },
    },
    async (request, reply) => {
      const stopped = await stopTask(deps, request.params.run_id, request.params.task_id);
      return reply.code(202).send(stopped);
    },
  );
}
