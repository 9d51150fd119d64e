/** JSONPath by RFC 9535, which has filters but no scripts. */
import { FunctionExpressionType, JSONPathEnvironment, type JSONPathQuery, Nothing } from "json-p3";
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

/** `match` and `search` with the linear-time engine. An invalid pattern matches nothing (RFC 9535). */
function regexFunction(isFullMatch: boolean) {
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
const lengthFunction = {
  argTypes: [FunctionExpressionType.ValueType],
  returnType: FunctionExpressionType.ValueType,
  call(value: unknown): number | typeof Nothing {
    if (typeof value === "string") return value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
    if (Array.isArray(value)) return value.length;
    return typeof value === "object" && value !== null ? Object.keys(value).length : Nothing;
  },
};

const environment = new JSONPathEnvironment({ maxRecursionDepth: MAX_DEPTH });
environment.functionRegister.set("length", lengthFunction);
environment.functionRegister.set("match", regexFunction(true));
environment.functionRegister.set("search", regexFunction(false));

export function compileJsonPath(path: string): JsonQuery {
  if (path.length > MAX_LENGTH) throw new Error(`is longer than ${MAX_LENGTH} characters`);
  const query: JSONPathQuery = environment.compile(path);
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
