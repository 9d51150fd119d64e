import { isUtf8 } from "node:buffer";
import { messageOf } from "../base/errors.ts";
import { Turns, yieldToEventLoop } from "../base/process/event-loop.ts";
import type { ApiLimits } from "./deps.ts";
import type { ApiInstance, ApiRequest } from "./instance.ts";
import { ApiProblem } from "./problems.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** This bit distinguishes `[` from `{` and `]` from `}`. */
const ROUND = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Nesting depth of a JSON text, counted before parsing: recursive functions walk the parsed value. */
export function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if ((code | ROUND) === OPEN) deepest = Math.max(deepest, (depth += 1));
    else if ((code | ROUND) === CLOSE) depth -= 1;
  }
  return deepest;
}

/** Pages of megabytes are one string: skip it with indexOf. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

/** Bodies are UTF-8 JSON, or YAML where a route accepts it; an empty body counts as absent. */
export function readBodies(api: ApiInstance, limits: ApiLimits): void {
  api.removeAllContentTypeParsers();
  const asBuffer = { parseAs: "buffer" } as const;
  api.addContentTypeParser<Buffer>("application/json", asBuffer, async (request: ApiRequest, body: Buffer) => {
    const turns = await turnsFor(body);
    const text = textOf(request, body);
    await turns.after();
    return text === "" ? undefined : parseJson(text, limits.bodyDepth, turns);
  });
  api.addContentTypeParser<Buffer>(YAML_TYPE, asBuffer, async (request: ApiRequest, body: Buffer) => {
    if (request.routeOptions.config.yaml !== true)
      throw new ApiProblem("media_type_unsupported", "the body is not declared as application/json");
    await turnsFor(body);
    const text = textOf(request, body);
    return text === "" ? undefined : parseYaml(text, limits.bodyDepth);
  });
}

/** Concatenating, decoding, parsing and validating this many bytes takes some milliseconds each. */
const LARGE_BYTES = 1024 * 1024;

/** Processes a large body in slices, so that other requests are answered in between. */
async function turnsFor(body: Buffer): Promise<Turns> {
  if (body.length >= LARGE_BYTES) await yieldToEventLoop();
  return new Turns();
}

/** The error for a body above the limit. */
export function tooLarge(limit: number): string {
  return `the body is larger than ${limit / (1024 * 1024)} MiB`;
}

/** RFC 9512. */
export const YAML_TYPE = "application/yaml";

function textOf(request: ApiRequest, body: Buffer): string {
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(request.headers["content-type"] ?? "")?.[1]?.toLowerCase();
  if (charset !== undefined && charset !== "utf-8" && charset !== "utf8")
    throw new ApiProblem("media_type_unsupported", `the body must be UTF-8; ${charset.slice(0, 40)} is not supported`);
  if (!isUtf8(body)) throw new ApiProblem("body_malformed", "the body is not valid UTF-8");
  return body.toString("utf8");
}

async function parseYaml(text: string, depth: number): Promise<unknown> {
  const { readDefinitionText } = await import("../domain/workflow/read-text.ts");
  const { ok: value, errors } = readDefinitionText(text);
  if (errors !== undefined) throw new ApiProblem("body_malformed", errors[0]?.message ?? "the body is not YAML");
  if (isDeeper(value, depth))
    throw new ApiProblem("body_malformed", `the body is nested more than ${depth} levels deep`);
  return withoutPoison(value);
}

function isDeeper(root: unknown, depth: number): boolean {
  let level: unknown[] = [root];
  for (let left = depth + 1; level.length > 0; left -= 1) {
    if (left < 0) return true;
    level = level.flatMap((value): unknown[] =>
      typeof value === "object" && value !== null ? Object.values(value) : [],
    );
  }
  return false;
}

async function parseJson(text: string, depth: number, turns: Turns): Promise<unknown> {
  if (nestingOf(text) > depth)
    throw new ApiProblem("body_malformed", `the body is nested more than ${depth} levels deep`);
  await turns.after();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The parser quotes what it could not read, which may be a secret: report only the position.
    const at = /position (\d+)/.exec(messageOf(error))?.[1];
    throw new ApiProblem("body_malformed", `the body is not JSON${at === undefined ? "" : `: see character ${at}`}`);
  }
  await turns.after();
  withoutPoison(value);
  await turns.after();
  return value;
}

function withoutPoison(value: unknown): unknown {
  if (holdsPoison(value))
    throw new ApiProblem("body_malformed", "the body contains the key __proto__, or constructor with prototype in it");
  return value;
}

/** Keys that would change the prototype of an object they are copied into. */
function holdsPoison(root: unknown): boolean {
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value !== "object" || value === null) continue;
    if (Object.hasOwn(value, "__proto__")) return true;
    const maker: unknown = Object.hasOwn(value, "constructor") ? (value as { constructor: unknown }).constructor : null;
    if (typeof maker === "object" && maker !== null && Object.hasOwn(maker, "prototype")) return true;
    for (const inner of Object.values(value)) if (typeof inner === "object") stack.push(inner);
  }
  return false;
}
