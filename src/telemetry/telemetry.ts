/** Spans and metrics for an OpenTelemetry collector. */
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { SpanAttributes } from "../base/tracing.ts";
import type { Reading } from "../orchestrator/reading.ts";
import type { Store } from "../store/ports/port.ts";
import { Exporter } from "./exporter.ts";
import { MetricsPush } from "./metrics-push.ts";
import { otlpJson } from "./otlp-json.ts";
import { otlpProtobuf } from "./otlp-protobuf.ts";
import type { Encoding, Source } from "./payload.ts";
import { RunTracer } from "./run-tracer.ts";
import { RunTraces } from "./run-traces.ts";
import { isSampled, type SamplerName } from "../domain/run/samplers.ts";
import { SpanQueue } from "./span-queue.ts";
import { TaskLimit } from "./task-limit.ts";
import { TaskTracer } from "./task-tracer.ts";

interface TelemetrySettings {
  /** `/v1/traces` and `/v1/metrics` are appended. */
  endpoint: string;
  protocol: "http/protobuf" | "http/json";
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  compress: boolean;
  resource: SpanAttributes;
  sampler: SamplerName;
  ratio: number;
  /** 0: no limit. */
  tasksPerSecond: number;
  traces: boolean;
  metrics: boolean;
  metricsEveryMs: number;
  version: string;
  userAgent: string;
}

const TRACES_EVERY_MS = 2000;

export class Telemetry implements AsyncDisposable {
  /** Null: no traces are wanted. */
  readonly tasks: TaskTracer | null;
  readonly runs: RunTracer | null;
  readonly #settings: TelemetrySettings;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #source: Source;
  readonly #encoding: Encoding;
  readonly #exporter: Exporter;
  readonly #spans: SpanQueue;
  readonly #begunMs: number;
  #push: MetricsPush | null = null;

  constructor(settings: TelemetrySettings, { clock, log, store }: { clock: Clock; log: Log; store: Store }) {
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    this.#source = { resource: settings.resource, version: settings.version };
    this.#encoding = settings.protocol === "http/json" ? otlpJson : otlpProtobuf;
    const { contentType } = this.#encoding;
    this.#exporter = new Exporter({ ...settings, contentType, clock, log });
    this.#begunMs = clock.now();
    const url = addressOf(settings.endpoint, "traces");
    const batch = this.#encoding.batch(this.#source);
    this.#spans = new SpanQueue({
      clock,
      batch,
      send: (body) => this.#exporter.send(url, body),
      delayMs: TRACES_EVERY_MS,
    });
    const decide = (traceId: string, inherited: boolean | null) =>
      isSampled(settings.sampler, settings.ratio, traceId, inherited);
    const traces = new RunTraces(store, decide);
    const limit = new TaskLimit(settings.tasksPerSecond, clock);
    const deps = { limit, store, clock, log, traces, add: this.#spans.add };
    this.tasks = settings.traces ? new TaskTracer(deps) : null;
    this.runs = settings.traces ? new RunTracer(deps) : null;
  }

  /** Sends these metrics at the configured interval. */
  pushMetrics(read: () => Promise<readonly Reading[]>): void {
    if (!this.#settings.metrics || this.#push !== null) return;
    const url = addressOf(this.#settings.endpoint, "metrics");
    this.#push = new MetricsPush({
      clock: this.#clock,
      log: this.#log,
      everyMs: this.#settings.metricsEveryMs,
      read: async () => [...(await read()), ...this.#ownReadings()],
      send: (readings) =>
        this.#exporter.send(url, this.#encoding.metrics(this.#source, readings, this.#begunMs, this.#clock.now())),
    });
  }

  #ownReadings(): Reading[] {
    return [
      {
        name: "orb_telemetry_spans_dropped_total",
        help: "Spans that were dropped because the collector did not keep up.",
        kind: "counter",
        value: this.#spans.dropped,
      },
      {
        name: "orb_telemetry_tasks_thinned_total",
        help: "Tasks that were not traced in full because of APP_TRACED_TASKS_PER_SECOND.",
        kind: "counter",
        value: this.tasks?.thinned ?? 0,
      },
      {
        name: "orb_telemetry_exports_failed_total",
        help: "Batches of spans or metrics that the collector did not accept.",
        kind: "counter",
        value: this.#exporter.failed,
      },
    ];
  }

  /** Stops reading metrics; call it while the database is open. */
  async stopMetrics(): Promise<void> {
    this.#exporter.hurry();
    await this.#push?.stop();
  }

  /** Sends what is left; a collector that is away does not delay it beyond its time limit. */
  async close(): Promise<void> {
    this.#exporter.hurry();
    await this.runs?.stop();
    await this.stopMetrics();
    await this.#spans.close();
    await this.#exporter.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function addressOf(endpoint: string, signal: "traces" | "metrics"): string {
  return `${endpoint.replace(/\/+$/, "")}/v1/${signal}`;
}
