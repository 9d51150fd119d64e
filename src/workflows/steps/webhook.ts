import { hash } from "node:crypto";
import { currentTraceparent } from "../../base/tracing.ts";
import { webhookHeaders } from "../../base/webhook-signature.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { requireSuccess } from "../answers.ts";
import { forwardInputs } from "../items/forward-inputs.ts";
import type { StepContext, StepKind } from "../step-kind.ts";

interface WebhookParams {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: JsonValue;
}

const LONGEST_ANSWER = 4096;

/** Calls a webhook. */
export function webhookStep(secret: string | null): StepKind<WebhookParams> {
  return {
    kind: "webhook",
    about: "Sends a request to your URL; a response other than 2xx, such as a redirect, fails the step.",
    params: {
      type: "object",
      properties: {
        url: { type: "string", minLength: 1, maxLength: 8192 },
        method: { enum: ["POST", "PUT", "PATCH", "GET", "DELETE"], description: "Default: POST." },
        headers: { type: "object", additionalProperties: { type: "string", writeOnly: true } },
        body: { description: "Sent as JSON. Default: a summary of the run and of its step outputs." },
      },
      required: ["url"],
      additionalProperties: false,
    },
    check: ({ method, body }) =>
      method === "GET" && body !== undefined ? [{ path: "params.body", message: "a GET has no body: remove it" }] : [],
    targets: ({ url }) => (typeof url === "string" ? [{ path: "params.url", url }] : []),
    async run(context, params) {
      const method = params.method ?? "POST";
      const bodiless = method === "GET" || (method === "DELETE" && params.body === undefined);
      const body = bodiless ? "" : JSON.stringify(params.body === undefined ? summaryOf(context) : params.body);
      const traceparent = currentTraceparent();
      const answer = await context.http.fetch({
        url: params.url,
        method,
        headers: {
          ...(traceparent === null ? {} : { traceparent }),
          ...(bodiless ? {} : { "content-type": "application/json" }),
          ...lowerCased(params.headers ?? {}),
          ...signed(context, body, secret),
        },
        ...(bodiless ? {} : { body }),
      });
      requireSuccess(answer, "the webhook was rejected", context.clock);
      return {
        kind: "done",
        output: { status: answer.status, answer: readAnswer(answer.body) },
        ...forwardInputs(context),
      };
    },
  };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function signed(context: StepContext, body: string, secret: string | null): Record<string, string> {
  const { run, step, item } = context;
  const entry = item === undefined ? "" : `#${hash("sha256", JSON.stringify(item), "hex")}`;
  const id = hash("sha256", `${run.id}/${step.name}${entry}`, "hex").slice(0, 32);
  return webhookHeaders({ id, body, now: context.clock.now() }, secret);
}

function summaryOf({ run, step, outputs }: StepContext): JsonValue {
  return { workflow_id: run.id, name: run.name, job_id: run.jobId, step: step.name, steps: { ...outputs } };
}

/** The response, if short and JSON, for later steps. */
function readAnswer(body: Uint8Array): JsonValue {
  if (body.byteLength > LONGEST_ANSWER) return null;
  const text = Buffer.from(body).toString("utf8");
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text === "" ? null : text;
  }
}
