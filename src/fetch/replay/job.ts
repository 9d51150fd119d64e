/** Converts a recorded exchange to a job. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { firstPage, nextAddress } from "./guess-pagination.ts";
import { isObject } from "./json-body.ts";
import { withValueAt, writePath, writePointer } from "./path.ts";
import type { RankedExchange } from "./ranked.ts";
import { formSlot, querySlot, recordedRequest, type ReplayRequest } from "./request.ts";
import { isSecret, secretPaths } from "./secrets.ts";

interface WrittenJob {
  job: {
    target_url: string;
    strategy: "api_replay";
    replay: { request: Record<string, JsonValue>; items?: string; pagination?: Record<string, JsonValue> };
    fields?: Record<string, { jsonpath: string }>;
  };
  /** Apparent secrets of the recording; the job's owner supplies them if needed. */
  left_out: { in: "headers" | "query" | "body"; name: string }[];
}

const MAX_FIELDS = 40;
/** Headers of the browser, the connection or a proxy: no API needs them. */
const BROWSER_HEADERS =
  /^(?:accept-encoding|accept-charset|cache-control|connection|content-length|dnt|expect|host|if-.*|keep-alive|origin|pragma|priority|proxy-.*|purpose|range|referer|save-data|sec-.*|te|trailer|transfer-encoding|upgrade.*|user-agent|via|x-forwarded-.*)$/;

export function writeJob(ranked: RankedExchange): WrittenJob {
  const { exchange, items, pagination, json } = ranked;
  const leftOut: WrittenJob["left_out"] = [];
  const request = withoutSecrets(ranked, leftOut);
  const replay: WrittenJob["job"]["replay"] = {
    request: {
      method: request.method,
      url: request.url,
      headers: headersFor(exchange.request.headers, leftOut),
      ...(request.body === null ? {} : { body: "json" in request.body ? request.body.json : request.body.text }),
    },
  };
  if (items !== null) replay.items = items.path;
  if (pagination !== null) replay.pagination = { ...pagination };
  const fields = suggestFields(items?.samples ?? (isObject(json) ? [json] : []));
  return {
    job: {
      target_url: request.url,
      strategy: "api_replay",
      replay,
      ...(Object.keys(fields).length === 0 ? {} : { fields }),
    },
    left_out: leftOut.filter(
      ({ name, in: location }, index) =>
        index === leftOut.findIndex((other) => other.in === location && other.name === name),
    ),
  };
}

function headersFor(
  recorded: Readonly<Record<string, string>>,
  leftOut: WrittenJob["left_out"],
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(recorded)) {
    if (BROWSER_HEADERS.test(name) || name.startsWith(":")) continue;
    if (isSecret(name, value)) leftOut.push({ in: "headers", name });
    else headers[name] = value;
  }
  return headers;
}

function withoutSecrets(ranked: RankedExchange, leftOut: WrittenJob["left_out"]): ReplayRequest {
  const { exchange, pagination, json } = ranked;
  const { username, password } = new URL(exchange.request.url);
  if (username !== "" || password !== "") leftOut.push({ in: "headers", name: "authorization" });
  const next = nextAddress(exchange, json, pagination);
  let request = firstPage(recordedRequest(exchange.request), pagination, next);
  // Many APIs call their cursor a token; it is not a secret.
  const cursor = pagination?.["param"] ?? pagination?.["pointer"];
  for (const [name, value] of new URL(request.url).searchParams) {
    if (name === cursor || !isSecret(name, value)) continue;
    request = querySlot(name).write(request, undefined);
    leftOut.push({ in: "query", name });
  }
  return bodyWithoutSecrets(request, cursor, leftOut);
}

function bodyWithoutSecrets(
  request: ReplayRequest,
  cursor: string | number | undefined,
  leftOut: WrittenJob["left_out"],
): ReplayRequest {
  const { body } = request;
  if (body !== null && "json" in body) {
    for (const names of secretPaths(body.json)) {
      const pointer = writePointer(names);
      if (pointer === cursor) continue;
      leftOut.push({ in: "body", name: pointer });
      body.json = withValueAt(body.json, names, undefined);
    }
    return request;
  }
  if (body === null || !/^[^\s=&{[<]+=/.test(body.text)) return request;
  let cleaned = request;
  for (const [name, value] of new URLSearchParams(body.text)) {
    if (name === cursor || !isSecret(name, value)) continue;
    cleaned = formSlot(name).write(cleaned, undefined);
    leftOut.push({ in: "body", name });
  }
  return cleaned;
}

/** Scalars and lists of them, also one level down: `price.amount` becomes `price_amount`. */
function suggestFields(samples: readonly Record<string, JsonValue>[]): Record<string, { jsonpath: string }> {
  const paths = new Map<string, string[]>();
  for (const sample of samples) {
    for (const [key, value] of Object.entries(sample)) {
      if (isPlain(value)) paths.set(writePath([key]), [key]);
      else if (isObject(value)) {
        for (const [inner, deep] of Object.entries(value)) {
          if (isPlain(deep)) paths.set(writePath([key, inner]), [key, inner]);
        }
      }
    }
  }
  const fields: Record<string, { jsonpath: string }> = {};
  for (const [jsonpath, names] of paths) {
    if (Object.keys(fields).length >= MAX_FIELDS) break;
    const name = names
      .join("_")
      .replace(/[^\p{L}\p{N}_]+/gu, "_")
      .slice(0, 100);
    if (/^_*$/.test(name) || name === "__proto__" || Object.hasOwn(fields, name)) continue;
    fields[name] = { jsonpath };
  }
  return fields;
}

function isPlain(value: JsonValue): boolean {
  if (value === null) return false;
  return (
    typeof value !== "object" || (Array.isArray(value) && value.length > 0 && value.every((item) => !isObject(item)))
  );
}
