/** Parses a model's answer to records that satisfy the schema, or to a list of errors. */
import type { LlmRequest } from "../../domain/page/extract-request.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { depthOf, MAX_JSON_DEPTH, parseJson } from "../json.ts";
import type { RecordCheck } from "../schema.ts";
import { givesList } from "../extract-request.ts";
import { LIST_NAME } from "./prompt.ts";

type ReadAnswer = { records: Record<string, JsonValue>[] } | { wrong: string[] };

const MAX_RECORDS = 10_000;
const MAX_NAMED = 10;

export function readAnswer(content: string, request: LlmRequest, check: RecordCheck | null): ReadAnswer {
  const json = jsonIn(content);
  if (json === undefined) return { wrong: ["it is not JSON"] };
  if (depthOf(json) >= MAX_JSON_DEPTH) return { wrong: ["it is nested too deep"] };
  const list = givesList(request);
  const value = list ? listIn(json) : json;
  if (list ? !Array.isArray(value) : !isRecord(value))
    return { wrong: [list ? `it has no list under "${LIST_NAME}"` : "it is not a JSON object"] };
  const problems = check?.(value) ?? [];
  if (problems.length > 0)
    return { wrong: problems.slice(0, MAX_NAMED).map(({ path, message }) => `${path || "the answer"} ${message}`) };
  const entries = Array.isArray(value) ? value : [value];
  if (entries.length > MAX_RECORDS) return { wrong: [`it has more than ${MAX_RECORDS} records`] };
  return { records: entries.map((entry) => (isRecord(entry) ? entry : { value: entry })) };
}

function isRecord(value: JsonValue): value is Record<string, JsonValue> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Some models return the bare list without its wrapper object. */
function listIn(json: JsonValue): JsonValue {
  return isRecord(json) ? (json[LIST_NAME] ?? null) : json;
}

/** Without JSON mode, models prepend their reasoning, or use a code fence. */
function jsonIn(content: string): JsonValue | undefined {
  const text = content.replace(/^\s*<think>[^]*?<\/think>/, "").trim();
  const whole = parseJson(text);
  if (whole !== undefined) return whole;
  const inFence = parseJson(fenced(text) ?? "");
  if (inFence !== undefined) return inFence;
  const [from, to] = [text.indexOf("{"), text.lastIndexOf("}")];
  return from >= 0 && to > from ? parseJson(text.slice(from, to + 1)) : undefined;
}

const FENCE = "```";

/** Without a regular expression: pages can make a model say anything, and backtracking could take forever. */
function fenced(text: string): string | null {
  const from = text.indexOf(FENCE);
  const line = from === -1 ? -1 : text.indexOf("\n", from);
  const to = line === -1 ? -1 : text.indexOf(FENCE, line);
  return to === -1 ? null : text.slice(line + 1, to).trim();
}
