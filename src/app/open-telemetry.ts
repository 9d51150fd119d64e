import { systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { machineName } from "../base/machine.ts";
import { systemRandom } from "../base/random.ts";
import { productVersion } from "../base/version.ts";
import type { Config } from "../config/options.ts";
import type { Store } from "../store/ports/port.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";

/** Null: no collector is configured; then its code is not even loaded. */
export async function openTelemetry(config: Config, { store }: { store: Store }, log: Log): Promise<Telemetry | null> {
  const { otelEndpoint: endpoint, otelDisabled, otelTraces, otelMetrics } = config;
  const traces = otelTraces === "otlp";
  const metrics = otelMetrics === "otlp";
  if (endpoint === null || otelDisabled || (!traces && !metrics)) return null;
  const { Telemetry } = await import("../telemetry/telemetry.ts");
  const version = productVersion();
  const settings = {
    endpoint,
    protocol: config.otelProtocol,
    headers: config.otelHeaders ?? {},
    timeoutMs: config.otelTimeoutMs,
    compress: config.otelCompression === "gzip",
    resource: {
      "service.name": config.otelServiceName,
      "service.version": version,
      "service.instance.id": systemRandom.uuid(),
      "host.name": machineName(),
      ...config.otelResource,
    },
    sampler: config.otelSampler,
    ratio: config.otelSamplerArg,
    tasksPerSecond: config.tracedTasksPerSecond,
    traces,
    metrics,
    metricsEveryMs: config.otelMetricsEveryMs,
    version,
    userAgent: config.userAgent,
  };
  return new Telemetry(settings, { clock: systemClock, log, store });
}
