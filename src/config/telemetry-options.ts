/** Options of OpenTelemetry, with the names of its specification where it has them; part of the table of all options. */
import { SAMPLERS } from "../domain/run/samplers.ts";
import { option, optional } from "./option.ts";
import * as type from "./types.ts";

export const TELEMETRY_OPTIONS = {
  otelEndpoint: optional({
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    type: type.url(["http", "https"]),
    about: "OpenTelemetry collector that gets traces and metrics over HTTP. Without it, nothing is traced or sent.",
    example: "http://localhost:4318",
    secret: "password",
  }),
  otelHeaders: optional({
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    type: type.keyValues,
    about: "Headers for the collector, such as its API key.",
    example: "api-key=0123456789abcdef",
    secret: "whole",
  }),
  otelProtocol: option({
    name: "OTEL_EXPORTER_OTLP_PROTOCOL",
    type: type.oneOf(["http/protobuf", "http/json"]),
    default: "http/protobuf",
    about: "How data is encoded; both go to the HTTP port of a collector (usually 4318). gRPC is not supported.",
    example: "http/json",
  }),
  otelCompression: option({
    name: "OTEL_EXPORTER_OTLP_COMPRESSION",
    type: type.oneOf(["none", "gzip"]),
    default: "none",
    about: "Compression of what is sent to the collector.",
    example: "gzip",
  }),
  otelTimeoutMs: option({
    name: "OTEL_EXPORTER_OTLP_TIMEOUT",
    type: type.integer(1, 600_000),
    default: "10000",
    about: "Time limit for one call to the collector, in milliseconds.",
    example: "5000",
  }),
  otelServiceName: option({
    name: "OTEL_SERVICE_NAME",
    type: type.headerText,
    default: "orbweaver",
    about: "Name of this service in traces and metrics.",
    example: "orbweaver-staging",
  }),
  otelResource: optional({
    name: "OTEL_RESOURCE_ATTRIBUTES",
    type: type.keyValues,
    about: "Further attributes of this service in traces and metrics.",
    example: "deployment.environment=staging",
  }),
  otelTraces: option({
    name: "OTEL_TRACES_EXPORTER",
    type: type.oneOf(["otlp", "none"]),
    default: "otlp",
    about: "`none` sends no traces.",
    example: "none",
  }),
  otelMetrics: option({
    name: "OTEL_METRICS_EXPORTER",
    type: type.oneOf(["otlp", "none"]),
    default: "otlp",
    about: "`none` sends no metrics; `GET /metrics` has them too.",
    example: "none",
  }),
  otelMetricsEveryMs: option({
    name: "OTEL_METRIC_EXPORT_INTERVAL",
    type: type.integer(100, 86_400_000),
    default: "60000",
    about: "Interval between two exports of metrics, in milliseconds.",
    example: "15000",
  }),
  otelSampler: option({
    name: "OTEL_TRACES_SAMPLER",
    type: type.oneOf(SAMPLERS),
    default: "parentbased_always_on",
    about: "Which runs are traced. With `parentbased_`, the caller's `traceparent` decides if there is one.",
    example: "parentbased_traceidratio",
  }),
  otelSamplerArg: option({
    name: "OTEL_TRACES_SAMPLER_ARG",
    type: type.fraction,
    default: "1",
    about: "Share of runs that the `traceidratio` samplers trace.",
    example: "0.1",
  }),
  tracedTasksPerSecond: option({
    name: "APP_TRACED_TASKS_PER_SECOND",
    type: type.integer(0, 1_000_000),
    default: "100",
    about:
      "Tasks per second, and process, whose spans are all sent. Of tasks beyond that, those that fail or are tried again still have spans. 0: no limit.",
    example: "0",
  }),
  otelDisabled: option({
    name: "OTEL_SDK_DISABLED",
    type: type.boolean,
    default: "false",
    about: "Switches OpenTelemetry off, whatever else is set.",
    example: "true",
  }),
} as const;
