/** A definition as a file or a request body has it: YAML, of which JSON is a part, to plain values that nothing vouches for. */
import { isMap, isScalar, LineCounter, type ParsedNode, parseDocument, visit, type YAMLMap } from "yaml";
import { messageOf } from "../../base/errors.ts";
import type { Parsed } from "../lane/queue-item.ts";
import { shortened } from "./faults.ts";
import { DEFINITION_LIMITS } from "./plain-json.ts";

/** An alias that repeats an alias that repeats an alias is a small file and a huge value. */
const MOST_ALIASES = 100;
/** Reading YAML takes some 10 µs an entry, and nothing can interrupt it; JSON takes a hundredth of that. */
const YAML_LIMITS = { characters: 512 * 1024, parts: 20_000 } as const;
const TOO_DEEP = `is nested more than ${DEFINITION_LIMITS.depth} levels deep`;

/** Mistakes are named with their line and column. What it says is not looked at here. */
export function readDefinitionText(text: string): Parsed<unknown> {
  if (text.length > DEFINITION_LIMITS.characters) {
    return refused(`has ${text.length} characters, at most ${DEFINITION_LIMITS.characters} are allowed`);
  }
  try {
    return { ok: JSON.parse(text) as unknown };
  } catch {
    // The other reader says more about mistakes, in JSON as well.
    return readYaml(text);
  }
}

function readYaml(text: string): Parsed<unknown> {
  const limit = tooMuch(text);
  if (limit !== null) return refused(limit);
  const lines = new LineCounter();
  const positionAt = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `line ${line}, column ${col}`;
  };
  try {
    // Unique keys are looked at below: the library compares each with each.
    const document = parseDocument(text, {
      schema: "core",
      merge: false,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "error",
      lineCounter: lines,
    });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) return refused(`${positionAt(problem.pos[0])}: ${wordsOf(problem)}`);
    const twice = repeatedKey(document.contents);
    if (twice !== null) return refused(`${positionAt(twice.at)}: the key "${shortened(twice.key)}" appears twice`);
    return { ok: document.toJS({ maxAliasCount: MOST_ALIASES }) as unknown };
  } catch (error) {
    return refused(/alias count/i.test(messageOf(error)) ? "uses aliases too often" : messageOf(error));
  }
}

function wordsOf({ code, message }: { code: string; message: string }): string {
  if (code === "MULTIPLE_DOCS") return "there is more than one document";
  // Block lists open no brackets that could have been counted.
  if (message.startsWith("Maximum call stack")) return TOO_DEEP;
  return message.length > 200 ? `${message.slice(0, 200)}…` : message;
}

function refused(message: string): Parsed<unknown> {
  return { errors: [{ path: "", message: `the text is not valid YAML or JSON: ${message}` }] };
}

/** What the library would take long for, or end the stack with: it goes down into lists within lists by recursion. */
function tooMuch(text: string): string | null {
  if (text.length > YAML_LIMITS.characters) {
    return `has ${text.length} characters, at most ${YAML_LIMITS.characters} are allowed as YAML; use JSON instead`;
  }
  let [parts, depth] = [0, 0];
  // What stands in texts counts, too: the limits are far beyond what people write.
  for (const [sign] of text.matchAll(/[\n,[\]{}"']|[-?] /g)) {
    parts += 1;
    if (sign === "[" || sign === "{") depth += 1;
    if (sign === "]" || sign === "}") depth -= 1;
    if (parts > YAML_LIMITS.parts) return `has more than ${YAML_LIMITS.parts} lines and entries; use JSON instead`;
    if (depth > DEFINITION_LIMITS.depth) return TOO_DEEP;
  }
  return null;
}

function repeatedKey(contents: ParsedNode | null): { key: string; at: number } | null {
  let found: { key: string; at: number } | null = null;
  const look = (map: YAMLMap): symbol | undefined => {
    const seen = new Set<unknown>();
    for (const { key } of map.items) {
      if (!isScalar(key)) continue;
      const name = String(key.value);
      if (seen.has(name)) {
        found = { key: name, at: key.range?.[0] ?? 0 };
        return visit.BREAK;
      }
      seen.add(name);
    }
    return undefined;
  };
  if (contents !== null) visit(contents, (_key, node) => (isMap(node) ? look(node) : undefined));
  return found;
}
