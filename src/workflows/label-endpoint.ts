/** Labels by a model of the user's own: an address that takes a file or an item, and answers what it is. */
import { classifyStatus } from "../domain/classify.ts";
import { FetchFailure } from "../domain/failure.ts";
import type { JsonValue } from "../domain/queue-item.ts";
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
      description:
        "What is posted: the bytes of the file, or the item as JSON. Unless told, the file where there is one.",
    },
    headers: { type: "object", additionalProperties: { type: "string" }, maxProperties: 50 },
    concurrency: { type: "integer", minimum: 1, maximum: 32, description: "Requests at once; 4 unless told." },
    min_score: { type: "number", description: "Labels with a lower score are left out." },
    max_failed_ratio: {
      type: "number",
      minimum: 0,
      maximum: 1,
      description: "Which part may fail, from 0 to 1; without it the step fails only when no request succeeded.",
    },
  },
  required: ["url"],
  additionalProperties: false,
  description: 'Your model: it answers each POST with {"label": "cat", "score": 0.93}; a label of null is none.',
};

export const ENDPOINT_CONCURRENCY = 4;

const LARGEST_BODY = 64 * 1024 * 1024;

export interface Judged {
  label: string | null;
  score: number | null;
}

export async function askEndpoint(context: StepContext, endpoint: LabelEndpoint, item: Item): Promise<Judged> {
  const { url, headers = {} } = endpoint;
  const sent = await bodyOf(context, endpoint, item);
  const answer = await context.http.fetch({
    url,
    method: "POST",
    headers: { accept: "application/json", "content-type": sent.type, ...headers },
    body: sent.body,
  });
  const refused = classifyStatus(answer.status, null);
  if (refused !== null) {
    const about = refused.httpStatus === undefined ? {} : { httpStatus: refused.httpStatus };
    throw new FetchFailure(refused.reason, `the label endpoint did not answer: ${refused.message}`, about);
  }
  return read(answer.body, endpoint.min_score ?? -Infinity);
}

async function bodyOf(
  { files }: StepContext,
  { send }: LabelEndpoint,
  item: Item,
): Promise<{ body: string | Uint8Array; type: string }> {
  const { hash } = item;
  if (send === "item" || (send === undefined && hash === undefined))
    return { body: JSON.stringify(item), type: "application/json" };
  const size = hash === undefined ? null : files.sizeOf(hash);
  if (hash === undefined || size === null)
    throw new FetchFailure("request_invalid", "the item has no file that could be sent to the label endpoint");
  if (size > LARGEST_BODY)
    throw new FetchFailure("request_invalid", `the file has ${size} bytes, more than are sent to a label endpoint`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of files.open(hash)) chunks.push(chunk);
  return { body: Buffer.concat(chunks), type: item.content_type ?? "application/octet-stream" };
}

function read(body: Uint8Array, least: number): Judged {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    // Said below.
  }
  const { label, score = null } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  const isLabel = label === null || typeof label === "string";
  if (!isLabel || (score !== null && typeof score !== "number"))
    throw new FetchFailure("malformed_response", 'the label endpoint did not answer {"label": "…", "score": 0.5}');
  return score !== null && score < least ? { label: null, score } : { label, score };
}
