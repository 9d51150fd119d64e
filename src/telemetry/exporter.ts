/** Sends payloads to an OpenTelemetry collector over HTTP. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type Clock, sleep } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { OutageLogger } from "../base/outage-logger.ts";
import { parseRetryAfter } from "../domain/lane/retry-after.ts";
import { BufferSink } from "../net/buffer-sink.ts";
import { createHttpClient, type HttpClient } from "../net/http-client.ts";

interface ExporterOptions {
  clock: Clock;
  log: Log;
  userAgent: string;
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  compress: boolean;
  contentType: string;
}

const compressed = promisify(gzip);
/** The answers after which the specification asks for another try. */
const RETRYABLE = new Set([429, 502, 503, 504]);
const TRIES = 4;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

export class Exporter {
  readonly #options: ExporterOptions;
  readonly #http: HttpClient;
  readonly #outages: OutageLogger;
  readonly #stop = new AbortController();
  #failed = 0;

  constructor(options: ExporterOptions) {
    const { clock, log, userAgent, timeoutMs } = options;
    this.#options = options;
    // The address is the operator's, as those of the database and the alert webhook are.
    const policy = { privateNetworks: true, listed: [] };
    this.#http = createHttpClient({ policy, clock, userAgent, limits: { connectMs: timeoutMs, totalMs: timeoutMs } });
    this.#outages = new OutageLogger(log);
  }

  /** Payloads that were dropped because the collector did not accept them. */
  get failed(): number {
    return this.#failed;
  }

  /** Never throws: lost telemetry must not disturb the work. */
  async send(url: string, payload: Buffer): Promise<boolean> {
    const body = this.#options.compress ? await compressed(payload) : payload;
    for (let tried = 1; ; tried += 1) {
      const { problem, waitMs } = await this.#try(url, body);
      if (problem === null) {
        this.#outages.ends("the OpenTelemetry collector accepts data again");
        return true;
      }
      if (waitMs === null || tried === TRIES || this.#stop.signal.aborted) {
        this.#failed += 1;
        this.#outages.begins("the OpenTelemetry collector does not accept data; spans and metrics are dropped", {
          url,
          error: problem,
        });
        return false;
      }
      const backoffMs = Math.min(LONGEST_WAIT_MS, Math.max(waitMs, FIRST_WAIT_MS * 2 ** (tried - 1)));
      await sleep(this.#options.clock, backoffMs, this.#stop.signal);
    }
  }

  /** `waitMs` null: another try would not help. */
  async #try(url: string, body: Buffer): Promise<{ problem: string | null; waitMs: number | null }> {
    const { headers, compress, clock, contentType } = this.#options;
    const sink = new BufferSink();
    const encoding = compress ? { "content-encoding": "gzip" } : {};
    try {
      const answer = await this.#http.fetch(
        {
          url,
          method: "POST",
          headers: { "content-type": contentType, ...encoding, ...headers },
          body,
          followRedirects: () => false,
        },
        sink,
      );
      if (answer.status >= 200 && answer.status < 300) return { problem: null, waitMs: null };
      const problem = `it answered ${answer.status}: ${sink.text().slice(0, 200)}`;
      if (!RETRYABLE.has(answer.status)) return { problem, waitMs: null };
      return { problem, waitMs: parseRetryAfter(answer.headers["retry-after"] ?? "", clock.now()) ?? 0 };
    } catch (error) {
      return { problem: messageOf(error), waitMs: 0 };
    }
  }

  /** Ends waits between tries; what is being sent ends within its time limit. */
  hurry(): void {
    this.#stop.abort();
  }

  async close(): Promise<void> {
    this.hurry();
    await this.#http.close();
  }
}
