import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Reading } from "../orchestrator/reading.ts";
import type { ApiDeps } from "./deps.ts";
import type { ApiInstance } from "./instance.ts";

/** Metrics of one server; servers in one process share nothing. */
export class ApiMetrics {
  readonly #registry = new Registry();
  readonly #durations = new Histogram({
    name: "orb_http_request_duration_seconds",
    help: "Time from the first byte of a request to the end of its response.",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10],
    registers: [this.#registry],
  });
  readonly #streams: () => number;

  constructor(openStreams: () => number) {
    this.#streams = openStreams;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Labels are routes, not URLs, whose number is unlimited. */
  watch(api: ApiInstance): void {
    api.addHook("onResponse", async (request, reply) => {
      const route = request.routeOptions.url ?? "none";
      const labels = { method: request.method, route, status: String(reply.statusCode) };
      this.#durations.observe(labels, reply.elapsedTime / 1000);
    });
  }

  async text(deps: ApiDeps): Promise<string> {
    const scrape = new Registry();
    const streams = { name: "orb_http_open_streams", help: "Open event streams.", value: this.#streams() };
    for (const [name, readings] of Map.groupBy([streams, ...(await deps.metrics())], (reading) => reading.name))
      addReadings(scrape, name, readings);
    return Registry.merge([this.#registry, scrape]).metrics();
  }
}

/** Counted elsewhere, line by line: prom-client's histograms only take single observations. */
function addHistogram(registry: Registry, name: string, readings: readonly Reading[]): void {
  const help = readings[0]?.help ?? name;
  const values = readings.map(({ part, labels = {}, value }) => ({
    metricName: `${name}_${part ?? "count"}`,
    labels: { ...labels },
    value,
  }));
  const metric = { name, help, type: "histogram", aggregator: "sum", reset: () => {} };
  registry.registerMetric({ ...metric, get: async () => ({ ...metric, values }) } as unknown as Histogram);
}

function addReadings(registry: Registry, name: string, readings: readonly Reading[]): void {
  if (readings[0]?.kind === "histogram") return addHistogram(registry, name, readings);
  const labelNames = [...new Set(readings.flatMap((reading) => Object.keys(reading.labels ?? {})))];
  const options = { name, help: readings[0]?.help ?? name, labelNames, registers: [registry] };
  if (readings[0]?.kind === "counter") {
    const counter = new Counter(options);
    for (const { labels, value } of readings) counter.inc({ ...labels }, value);
    return;
  }
  const gauge = new Gauge(options);
  for (const { labels, value } of readings) gauge.set({ ...labels }, value);
}
