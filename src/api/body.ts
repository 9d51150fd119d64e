import { isUtf8 } from "node:buffer";
import { messageOf } from "../base/errors.ts";
import type { ApiLimits } from "./deps.ts";
import type { ApiInstance, ApiRequest } from "./instance.ts";
import { ApiProblem } from "./problems.ts";

const BRACES = { open: new Set(["[", "{"]), close: new Set(["]", "}"]) };

/** The deepest nesting of a JSON text, counted before it is parsed: what is parsed is walked by recursive functions. */
export function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (inString) {
      if (char === "\\") at += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (BRACES.open.has(char)) deepest = Math.max(deepest, (depth += 1));
    else if (BRACES.close.has(char)) depth -= 1;
  }
  return deepest;
}

/** Bodies are JSON, or YAML where a route takes that as well, in UTF-8; an empty one is none. */
export function readBodies(api: ApiInstance, limits: ApiLimits): void {
  api.removeAllContentTypeParsers();
  const asBuffer = { parseAs: "buffer" } as const;
  api.addContentTypeParser<Buffer>("application/json", asBuffer, async (request: ApiRequest, body: Buffer) => {
    const text = textOf(request, body);
    return text === "" ? undefined : parseJson(text, limits.bodyDepth);
  });
  api.addContentTypeParser<Buffer>(YAML_TYPE, asBuffer, async (request: ApiRequest, body: Buffer) => {
    if (request.routeOptions.config.yaml !== true)
      throw new ApiProblem("media_type_unsupported", "the body is not declared as application/json");
    const text = textOf(request, body);
    return text === "" ? undefined : parseYaml(text, limits.bodyDepth);
  });
}

/** What is wrong with a body of more than these bytes. */
export function tooLarge(limit: number): string {
  return `the body is larger than ${limit / (1024 * 1024)} MiB`;
}

/** RFC 9512. */
export const YAML_TYPE = "application/yaml";

function textOf(request: ApiRequest, body: Buffer): string {
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(request.headers["content-type"] ?? "")?.[1]?.toLowerCase();
  if (charset !== undefined && charset !== "utf-8" && charset !== "utf8")
    throw new ApiProblem("media_type_unsupported", `bodies are UTF-8; ${charset.slice(0, 40)} is not read`);
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

function parseJson(text: string, depth: number): unknown {
  if (nestingOf(text) > depth)
    throw new ApiProblem("body_malformed", `the body is nested more than ${depth} levels deep`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The parser quotes what it could not read, which may be a secret: the place is enough.
    const at = /position (\d+)/.exec(messageOf(error))?.[1];
    throw new ApiProblem("body_malformed", `the body is not JSON${at === undefined ? "" : `: see character ${at}`}`);
  }
  return withoutPoison(value);
}

function withoutPoison(value: unknown): unknown {
  if (holdsPoison(value))
    throw new ApiProblem("body_malformed", "the body holds the key __proto__, or constructor with prototype in it");
  return value;
}

/** Keys that would change the prototype of an object that they are copied into. */
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
