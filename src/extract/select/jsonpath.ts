/** JSONPath by RFC 9535. Filters compare and match; there are no scripts in it. */
import { FunctionExpressionType, JSONPathEnvironment, type JSONPathQuery, Nothing } from "json-p3";
import { withTimeLimit } from "../../base/time-limit.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { compileRegex, type Pattern } from "../../domain/text/regex.ts";

interface JsonQuery {
  select(value: JsonValue, limit: number): JsonValue[];
}

const MAX_LENGTH = 1000;
/** Deeper documents are searched down to here by `..`; the library itself recurses. */
const MAX_DEPTH = 200;

/** In I-Regexp (RFC 9485) `.` is anything but `\n` and `\r`; the engine knows only the first as a line end. */
function withDots(source: string): string {
  return source.replace(/\\[^]|\[(?:\\[^]|[^\]\\])*\]|\./g, (part) => (part === "." ? "[^\\n\\r]" : part));
}

/** `match` and `search` with the linear engine instead of the built-in one. A bad pattern matches nothing (RFC 9535). */
function regexFunction(whole: boolean) {
  let last: { source: string; pattern: Pattern | null } | null = null;
  const compile = (source: string): Pattern | null => {
    if (last?.source === source) return last.pattern;
    let pattern: Pattern | null = null;
    try {
      pattern = compileRegex(whole ? `^(?:${withDots(source)})$` : `(?:${withDots(source)})`);
    } catch {
      // Stays null.
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

/** The library counts the halves of characters beyond U+FFFF; RFC 9535 counts characters. */
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
  // A path of names and indices takes no time; the rest is watched.
  const harmless = !/\.\.|\?/.test(path);
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
      return harmless ? read() : withTimeLimit(read);
    },
  };
}
