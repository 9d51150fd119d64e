import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { PATIENCE_MS } from "../support/patience.ts";
import { readMetrics, readTraces } from "./otlp-decoder.ts";

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  isError: boolean;
}

interface Value {
  stringValue?: string;
  intValue?: string;
  doubleValue?: number;
  boolValue?: boolean;
}

/** An OpenTelemetry collector's HTTP receiver: takes OTLP in both forms, and refuses what the protocol does not allow. */
export class Collector implements AsyncDisposable {
  readonly spans: ReceivedSpan[] = [];
  readonly metrics = new Map<string, Record<string, unknown>>();
  readonly headers: NodeJS.Dict<string | string[]>[] = [];
  resource: Record<string, unknown> = {};
  /** What the next calls are answered with; when it is empty, they are accepted. */
  readonly answers: number[] = [];
  readonly problems: string[] = [];
  calls = 0;
  readonly #server: Server;
  #heard = Promise.withResolvers<void>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Collector> {
    const server = createServer();
    const collector = new Collector(server);
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        collector.calls += 1;
        const answer = collector.answers.shift() ?? 200;
        if (answer === 200) {
          const sent = Buffer.concat(chunks);
          const bytes = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
          try {
            collector.#take(request.url ?? "", bytes, request.headers["content-type"]);
          } catch (error) {
            collector.problems.push(String(error));
          }
          collector.headers.push(request.headers);
        }
        response.writeHead(answer, { "content-type": "application/json" }).end("{}");
        collector.#heard.resolve();
        collector.#heard = Promise.withResolvers<void>();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.3", resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.3:${(this.#server.address() as AddressInfo).port}`;
  }

  get env(): Record<string, string> {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: this.url, OTEL_METRIC_EXPORT_INTERVAL: "100" };
  }

  named(name: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  async until(enough: () => boolean, what: string): Promise<void> {
    const late = setTimeout(() => this.#heard.reject(new Error(`in vain for ${what}`)), PATIENCE_MS);
    try {
      while (!enough()) await this.#heard.promise;
    } finally {
      clearTimeout(late);
    }
    assert.deepEqual(this.problems, []);
  }

  #take(path: string, bytes: Buffer, type: string | undefined): void {
    assert.ok(type === "application/json" || type === "application/x-protobuf", type);
    const isJson = type === "application/json";
    const json = () => JSON.parse(bytes.toString("utf8")) as Record<string, unknown>;
    if (path === "/v1/traces") this.#takeTraces(isJson ? json() : readTraces(bytes));
    else if (path === "/v1/metrics") this.#takeMetrics(isJson ? json() : readMetrics(bytes));
    else assert.fail(`nothing is received at ${path}`);
  }

  #takeTraces({ resourceSpans }: { resourceSpans?: ResourceSpans[] }): void {
    for (const { resource, scopeSpans } of resourceSpans ?? [])
      for (const { spans } of scopeSpans)
        for (const span of spans) {
          this.resource = attributesOf(resource.attributes);
          assert.match(span.traceId, /^[0-9a-f]{32}$/);
          assert.match(span.spanId, /^[0-9a-f]{16}$/);
          if (span.parentSpanId !== undefined) assert.match(span.parentSpanId, /^[0-9a-f]{16}$/);
          assert.match(`${span.startTimeUnixNano} ${span.endTimeUnixNano}`, /^\d{19} \d{19}$/);
          assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano));
          assert.ok([1, 2, 3, 4, 5].includes(span.kind));
          this.spans.push({
            traceId: span.traceId,
            spanId: span.spanId,
            parentSpanId: span.parentSpanId,
            name: span.name,
            startMs: Number(BigInt(span.startTimeUnixNano) / 1000n) / 1000,
            endMs: Number(BigInt(span.endTimeUnixNano) / 1000n) / 1000,
            attributes: attributesOf(span.attributes),
            isError: span.status.code === 2,
          });
        }
  }

  #takeMetrics({ resourceMetrics }: { resourceMetrics?: ResourceMetrics[] }): void {
    for (const { scopeMetrics } of resourceMetrics ?? [])
      for (const { metrics } of scopeMetrics)
        for (const metric of metrics) {
          const kinds = Object.keys(metric).filter((key) => ["gauge", "sum", "histogram"].includes(key));
          assert.equal(kinds.length, 1, metric.name as string);
          const { dataPoints } = metric[kinds[0]!] as { dataPoints: { timeUnixNano: string }[] };
          for (const point of dataPoints) assert.match(point.timeUnixNano, /^\d{19}$/);
          this.metrics.set(metric.name as string, metric);
        }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

interface Attribute {
  key: string;
  value: Value;
}

interface ResourceSpans {
  resource: { attributes: Attribute[] };
  scopeSpans: {
    spans: {
      traceId: string;
      spanId: string;
      parentSpanId?: string;
      name: string;
      kind: number;
      startTimeUnixNano: string;
      endTimeUnixNano: string;
      attributes: Attribute[];
      status: { code?: number };
    }[];
  }[];
}

interface ResourceMetrics {
  scopeMetrics: { metrics: Record<string, unknown>[] }[];
}

function attributesOf(list: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(
    list.map(({ key, value }) => {
      assert.equal(Object.keys(value).length, 1, `${key} has one value`);
      if (value.intValue !== undefined) assert.equal(typeof value.intValue, "string", "64-bit integers are strings");
      return [key, value.stringValue ?? value.boolValue ?? value.doubleValue ?? Number(value.intValue)];
    }),
  );
}
