import { isOrbError, messageOf } from "../../base/errors.ts";
import { type ApiDeps, limitsOf } from "../deps.ts";
import type { ApiInstance } from "../instance.ts";
import type { ApiMetrics } from "../metrics.ts";
import { ApiProblem } from "../problems.ts";
import { oneOf, problemAnswer, problemWith, strict, textAnswer } from "../schemas.ts";
import { Type } from "../type.ts";

const Check = strict({
  name: Type.String(),
  status: oneOf(["ok", "failed"]),
  latency_ms: Type.Number({ minimum: 0 }),
  message: Type.Optional(Type.String()),
});

interface CheckResult {
  name: string;
  status: "ok" | "failed";
  latency_ms: number;
  message?: string;
}

/** Is it up, can it work, what does it do: for whoever looks after the server. */
export function healthRoutes(api: ApiInstance, deps: ApiDeps, metrics: ApiMetrics): void {
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
            uptime_seconds: Type.Number({ minimum: 0 }),
          }),
        },
      },
    },
    async () => ({
      status: "ok" as const,
      version: deps.settings.version,
      uptime_seconds: Math.floor((deps.clock.monotonic() - started) / 1000),
    }),
  );

  api.get(
    "/ready",
    {
      schema: {
        summary: "Whether everything the server needs can be used",
        operationId: "getReady",
        tags: ["server"],
        response: {
          200: strict({ status: Type.Literal("ready"), checks: Type.Array(Check) }),
          503: problemAnswer("a part cannot be used", problemWith({ checks: Type.Optional(Type.Array(Check)) })),
        },
      },
    },
    async () => {
      const checks = await Promise.all(Object.entries(deps.probes).map(([name, probe]) => tryOut(deps, name, probe)));
      const failed = checks.filter(({ status }) => status === "failed");
      if (failed.length === 0) return { status: "ready" as const, checks };
      const list = failed.map(({ name, message }) => `${name}: ${message}`).join("; ");
      throw new ApiProblem("unready", list, { headers: { "retry-after": "10" }, more: { checks } });
    },
  );

  api.get(
    "/metrics",
    {
      schema: {
        summary: "Numbers for Prometheus",
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

async function tryOut(deps: ApiDeps, name: string, probe: () => Promise<void>): Promise<CheckResult> {
  const { clock } = deps;
  const begun = clock.monotonic();
  const { probeMs } = limitsOf(deps);
  const message = await new Promise<string | null>((resolve) => {
    const late = clock.after(probeMs, () => resolve(`no answer within ${probeMs / 1000} s`));
    probe()
      // What nobody foresaw may say anything about the machine: the log has it.
      .then(
        () => resolve(null),
        (error: unknown) => {
          deps.log.warn("a probe failed", { probe: name, error: messageOf(error) });
          resolve(isOrbError(error) ? error.message : "cannot be used; the log says why");
        },
      )
      .finally(() => late.cancel());
  });
  const latency = Math.max(0, Math.round((clock.monotonic() - begun) * 10) / 10);
  if (message === null) return { name, status: "ok", latency_ms: latency };
  return { name, status: "failed", latency_ms: latency, message };
}
