/** JSONPath by RFC 9535, which has filters but no scripts. */
import { createRequire } from "node:module";
import type * as JsonP3 from "json-p3";
import { withTimeLimit } from "../../base/time-limit.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { compileRegex, type Pattern } from "../../domain/text/regex.ts";

interface JsonQuery {
  select(value: JsonValue, limit: number): JsonValue[];
}

const MAX_LENGTH = 1000;
/** Depth limit of `..`: the library recurses. */
const MAX_DEPTH = 200;

/** In I-Regexp (RFC 9485) `.` excludes `\n` and `\r`; the engine excludes only `\n`. */
function withIRegexpDots(source: string): string {
  return source.replace(/\\[^]|\[(?:\\[^]|[^\]\\])*\]|\./g, (part) => (part === "." ? "[^\\n\\r]" : part));
}

/** Loaded with the first path: most pages are read without one. */
const load = createRequire(import.meta.url);

/** `match` and `search` with the linear-time engine. An invalid pattern matches nothing (RFC 9535). */
function regexFunction({ FunctionExpressionType }: typeof JsonP3, isFullMatch: boolean) {
  let last: { source: string; pattern: Pattern | null } | null = null;
  const compile = (source: string): Pattern | null => {
    if (last?.source === source) return last.pattern;
    let pattern: Pattern | null = null;
    try {
      pattern = compileRegex(isFullMatch ? `^(?:${withIRegexpDots(source)})$` : `(?:${withIRegexpDots(source)})`);
    } catch {
      // An invalid pattern matches nothing.
    }
    last = { source, pattern };
    return pattern;
  };
  return {
    argTypes: [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType],
    returnType: FunctionExpressionType.LogicalType,
    call: (text: unknown, source: unknown): boolean =>
      typeof text === "string" && typeof source === "string" && compile(source)?.test(text) === true,
  };
}

/** The library counts UTF-16 code units; RFC 9535 counts characters. */
function lengthFunction({ FunctionExpressionType, Nothing }: typeof JsonP3) {
  return {
    argTypes: [FunctionExpressionType.ValueType],
    returnType: FunctionExpressionType.ValueType,
    call(value: unknown): number | typeof Nothing {
      if (typeof value === "string")
        return value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
      if (Array.isArray(value)) return value.length;
      return typeof value === "object" && value !== null ? Object.keys(value).length : Nothing;
    },
  };
}

let environment: JsonP3.JSONPathEnvironment | null = null;

function openEnvironment(): JsonP3.JSONPathEnvironment {
  const library = load("json-p3") as typeof JsonP3;
  const opened = new library.JSONPathEnvironment({ maxRecursionDepth: MAX_DEPTH });
  opened.functionRegister.set("length", lengthFunction(library));
  opened.functionRegister.set("match", regexFunction(library, true));
  opened.functionRegister.set("search", regexFunction(library, false));
  return opened;
}

export function compileJsonPath(path: string): JsonQuery {
  if (path.length > MAX_LENGTH) throw new Error(`is longer than ${MAX_LENGTH} characters`);
  const query = (environment ??= openEnvironment()).compile(path);
  // Paths of names and indexes are cheap; others run with a time limit.
  const isCheap = !/\.\.|\?/.test(path);
  return {
    select(value, limit) {
      const read = () => {
        const found: JsonValue[] = [];
        for (const node of query.lazyQuery(value as never)) {
          found.push(node.value as JsonValue);
          if (found.length >= limit) break;
        }
        return found;
      };
      return isCheap ? read() : withTimeLimit(read);
    },
  };
}
