/** Labels from the user's model: an endpoint that takes a file or an item and returns its label. */
import { sleep } from "../base/clock.ts";
import { FetchFailure, type FailureReason } from "../domain/run/failure.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import { requireSuccess } from "./answers.ts";
import { Semaphore } from "../base/semaphore.ts";
import { contentTypeSaid, hashOf } from "./items/item-keys.ts";
import type { Item, StepContext } from "./step-kind.ts";

export interface LabelEndpoint {
  url: string;
  send?: "file" | "item";
  headers?: Readonly<Record<string, string>>;
  concurrency?: number;
  min_score?: number;
  max_failed_ratio?: number;
}

export const ENDPOINT_SCHEMA: JsonValue = {
  type: "object",
  properties: {
    url: { type: "string", minLength: 1, maxLength: 8192 },
    send: {
      enum: ["file", "item"],
      description: "Request body: the bytes of the file, or the item as JSON. Default: the file, if there is one.",
    },
    headers: { type: "object", additionalProperties: { type: "string", writeOnly: true }, maxProperties: 50 },
    concurrency: { type: "integer", minimum: 1, maximum: 32, description: "Concurrent requests. Default: 4." },
    min_score: { type: "number", description: "Labels with a lower score are ignored." },
    max_failed_ratio: {
      type: "number",
      minimum: 0,
      maximum: 1,
      description: "Share of requests that may fail, from 0 to 1. Default: the step fails only if all requests fail.",
    },
  },
  required: ["url"],
  additionalProperties: false,
  description: 'Your model: it answers each POST with {"label": "cat", "score": 0.93}; label null means no label.',
};

export const ENDPOINT_CONCURRENCY = 4;

const LARGEST_BODY = 64 * 1024 * 1024;
/** Maximum memory for the bodies of all requests in flight. */
const MOST_BYTES_AT_ONCE = 2 * LARGEST_BODY;

/** After this many consecutive failures the endpoint counts as unavailable. */
const MOST_FAILURES = 20;
/** Failures of the item, not of the endpoint. */
const ABOUT_ITEM: ReadonlySet<FailureReason> = new Set<FailureReason>([
  "request_invalid",
  "http_client_error",
  "malformed_response",
]);

/** After Retry-After (429, 503) the endpoint is retried a few times, unless the wait is too long. */
const LONGEST_PATIENCE_MS = 60_000;
const MOST_AGAIN = 3;

interface Judged {
  label: string | null;
  score: number | null;
}

/** The requests of one step. */
export class LabelModel {
  readonly #context: StepContext;
  readonly #endpoint: LabelEndpoint;
  readonly #bytes = new Semaphore(MOST_BYTES_AT_ONCE);
  /** Rate limited until then; all requests wait. */
  #quietUntil = 0;
  #failures = 0;

  constructor(context: StepContext, endpoint: LabelEndpoint) {
    this.#context = context;
    this.#endpoint = endpoint;
  }

  /** Throws a FetchFailure for this item only, or EndpointLost when the endpoint is unavailable. */
  async ask(item: Item): Promise<Judged> {
    try {
      const judged = await this.#askWithRetry(item);
      this.#failures = 0;
      return judged;
    } catch (error) {
      if (!(error instanceof FetchFailure) || ABOUT_ITEM.has(error.failure.reason)) throw error;
      this.#failures += 1;
      if (this.#failures < MOST_FAILURES) throw error;
      throw new EndpointLost(error.failure.reason, `${MOST_FAILURES} requests in a row failed: ${error.message}`);
    }
  }

  async #askWithRetry(item: Item): Promise<Judged> {
    const { clock, signal } = this.#context;
    for (let again = 0; ; again += 1) {
      const wait = this.#quietUntil - clock.now();
      if (wait > 0) await sleep(clock, wait, signal);
      signal.throwIfAborted();
      try {
        return await this.#askOnce(item);
      } catch (error) {
        const patience = error instanceof FetchFailure ? error.failure.retryAfterMs : undefined;
        if (patience === undefined || patience > LONGEST_PATIENCE_MS || again === MOST_AGAIN) throw error;
        this.#quietUntil = Math.max(this.#quietUntil, clock.now() + patience);
      }
    }
  }

  async #askOnce(item: Item): Promise<Judged> {
    const { url, headers = {}, min_score: least = -Infinity } = this.#endpoint;
    const { files, http, clock } = this.#context;
    const hash = hashOf(item);
    const size = hash === null ? 0 : ((await files.sizeOf(hash)) ?? 0);
    using _ = await this.#bytes.acquire({ permits: Math.min(size, LARGEST_BODY) });
    const sent = await bodyOf(this.#context, this.#endpoint, item);
    const answer = await http.fetch({
      url,
      method: "POST",
      headers: { accept: "application/json", "content-type": sent.type, ...headers },
      body: sent.body,
    });
    requireSuccess(answer, "the label endpoint did not answer", clock);
    return read(answer.body, least);
  }
}

/** Ends the step: the other items would only time out one after the other. */
export class EndpointLost extends FetchFailure {}

async function bodyOf(
  { files }: StepContext,
  { send }: LabelEndpoint,
  item: Item,
): Promise<{ body: string | Uint8Array; type: string }> {
  const hash = hashOf(item);
  if (send === "item" || (send === undefined && hash === null))
    return { body: JSON.stringify(item), type: "application/json" };
  const size = hash === null ? null : await files.sizeOf(hash);
  if (hash === null || size === null)
    throw new FetchFailure("request_invalid", "the item has no file for the label endpoint");
  if (size > LARGEST_BODY)
    throw new FetchFailure("request_invalid", `the file has ${size} bytes, too many for a label endpoint`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of files.open(hash)) chunks.push(chunk);
  return { body: Buffer.concat(chunks), type: contentTypeSaid(item) ?? "application/octet-stream" };
}

function read(body: Uint8Array, least: number): Judged {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    // Reported below.
  }
  const { label, score = null } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  const isLabel = label === null || typeof label === "string";
  if (!isLabel || (score !== null && typeof score !== "number"))
    throw new FetchFailure("malformed_response", 'the label endpoint did not answer {"label": "…", "score": 0.5}');
  return score !== null && score < least ? { label: null, score } : { label, score };
}
