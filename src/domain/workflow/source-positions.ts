/** Positions of the parts of a definition in its text, for error messages. */
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";

interface SourcePosition {
  line: number;
  column: number;
}

/** The position of a path such as `steps[2].params.url`, or of its nearest ancestor; null: none. */
export function sourcePositions(text: string): (path: string) => SourcePosition | null {
  const lines = new LineCounter();
  const root = contentsOf(text, lines);
  return (path) => {
    const offset = root === null ? null : offsetOf(root, keysOf(path));
    if (offset === null) return null;
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
}

function contentsOf(text: string, lines: LineCounter): Node | null {
  try {
    const options = { schema: "core", uniqueKeys: false, logLevel: "silent", lineCounter: lines } as const;
    return parseDocument(text, options).contents;
  } catch {
    // Lists within lists without end: there is no place for a mistake in them.
    return null;
  }
}

/** `steps`, `2`, `params`, `url`. */
function keysOf(path: string): string[] {
  return [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(
    ([, quoted, index, name]) => quoted ?? index ?? name ?? "",
  );
}

function offsetOf(root: Node, keys: readonly string[]): number | null {
  let node: Node | null = root;
  let found: number | null = null;
  for (const key of keys) {
    const next = childOf(node, key);
    if (next === null) break;
    found = next.at;
    node = next.node;
  }
  return found ?? (keys.length === 0 ? 0 : null);
}

/** What stands under the key; a long value is shown by its key, a short one by itself. */
function childOf(node: Node | null, key: string): { node: Node | null; at: number } | null {
  if (isSeq(node)) {
    const entry = node.items[Number(key)] as Node | null | undefined;
    const at = entry?.range?.[0];
    return entry === undefined || entry === null || at === undefined ? null : { node: entry, at };
  }
  if (!isMap(node)) return null;
  const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
  if (pair === undefined || !isScalar(pair.key)) return null;
  const value = pair.value as Node | null;
  const at = (isScalar(value) && value.source !== "" ? value : pair.key).range?.[0];
  return at === undefined ? null : { node: value, at };
}
