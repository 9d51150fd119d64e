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

/** JSON in UTF-8 is the only kind of body; an empty one is none. */
export function readJsonBodies(api: ApiInstance, limits: ApiLimits): void {
  api.removeAllContentTypeParsers();
  api.addContentTypeParser<Buffer>(
    "application/json",
    { parseAs: "buffer" },
    async (request: ApiRequest, body: Buffer) => {
      const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(request.headers["content-type"] ?? "")?.[1]?.toLowerCase();
      if (charset !== undefined && charset !== "utf-8" && charset !== "utf8")
        throw new ApiProblem("media_type_unsupported", `JSON is UTF-8; ${charset.slice(0, 40)} is not read`);
      if (body.length === 0) return undefined;
      if (!isUtf8(body)) throw new ApiProblem("body_malformed", "the body is not valid UTF-8");
      return parseBody(body.toString("utf8"), limits.bodyDepth);
    },
  );
}

function parseBody(text: string, depth: number): unknown {
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
