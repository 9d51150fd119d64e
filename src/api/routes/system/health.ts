import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import type { ApiMetrics } from "../../metrics.ts";
import { ApiProblem } from "../../problems.ts";
import { oneOf, problemAnswer, problemWith, strict, textAnswer } from "../../schemas.ts";
import { Type } from "../../type.ts";

const Check = strict({
  name: Type.String(),
  status: oneOf(["ok", "degraded", "failed"], { description: "degraded: it works with restrictions" }),
  latency_ms: Type.Number({ minimum: 0 }),
  message: Type.Optional(Type.String()),
});

/** Liveness, readiness and metrics, for operators. */
export function healthRoutes(api: ApiInstance, deps: ApiDeps, metrics: ApiMetrics | null): void {
  const started = deps.clock.monotonic();

  api.get(
    "/health",
    {
      config: { open: true },
      schema: {
        summary: "Whether the process is up",
        operationId: "getHealth",
        tags: ["server"],
        security: [],
        response: {
          200: strict({
            status: Type.Literal("ok"),
            version: Type.String(),
            database: oneOf(["sqlite", "postgres"]),
            engine: oneOf(["embedded", "bullmq"], { description: "bullmq: several worker processes, on any machine" }),
            uptime_seconds: Type.Number({ minimum: 0 }),
          }),
        },
      },
    },
    async () => ({
      status: "ok" as const,
      version: deps.settings.version,
      ...(deps.store.capabilities.singleEngine
        ? { database: "sqlite" as const, engine: "embedded" as const }
        : { database: "postgres" as const, engine: "bullmq" as const }),
      uptime_seconds: Math.floor((deps.clock.monotonic() - started) / 1000),
    }),
  );

  api.get(
    "/ready",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Whether everything the server needs is available",
        operationId: "getReady",
        tags: ["server"],
        response: {
          200: strict({
            status: oneOf(["ready", "degraded"], { description: "degraded: one of the checks is degraded" }),
            checks: Type.Array(Check),
          }),
          503: problemAnswer("a part is unavailable", problemWith({ checks: Type.Optional(Type.Array(Check)) })),
        },
      },
    },
    async () => {
      const checks = await deps.health.checks();
      const failed = checks.filter(({ status }) => status === "failed");
      if (failed.length === 0)
        return {
          status: checks.every(({ status }) => status === "ok") ? ("ready" as const) : ("degraded" as const),
          checks,
        };
      // Many checks fail because of the database alone: report its message once.
      const alike = Object.groupBy(failed, ({ message = "" }) => message);
      const list = Object.entries(alike).map(
        ([message, parts = []]) => `${parts.map(({ name }) => name).join(", ")}: ${message}`,
      );
      throw new ApiProblem("unready", list.join("; "), { headers: { "retry-after": "10" }, more: { checks } });
    },
  );

  if (metrics === null) return;
  api.get(
    "/metrics",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Metrics for Prometheus",
        operationId: "getMetrics",
        tags: ["server"],
        response: { 200: textAnswer("Prometheus text format", "text/plain") },
      },
    },
    async (_request, reply) => {
      reply.header("content-type", metrics.contentType);
      return metrics.text(deps);
    },
  );
}
