/** Parses pasted lists, one entry per line. */

/** Non-blank lines; those that start with # are comments. */
export function readLines(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}

interface PastedItem {
  artifact_id: string;
  url: string;
  concurrency_key?: string | null;
  /** An alias of `concurrency_key`. */
  resolver?: string | null;
  priority?: number | null;
  payload?: unknown;
  handler?: string | null;
}

interface PastedItems {
  items: PastedItem[];
  mistakes: { line: number; message: string }[];
}

/** A line is a URL, an id and a URL, or an item as JSON. The server checks the rest. */
export function readItems(text: string): PastedItems {
  const found: PastedItems = { items: [], mistakes: [] };
  text.split(/\r?\n/).forEach((raw, index) => {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) return;
    const item = line.startsWith("{") ? fromJson(line) : fromWords(line);
    if (typeof item === "string") found.mistakes.push({ line: index + 1, message: item });
    else found.items.push(item);
  });
  return found;
}

function fromJson(line: string): PastedItem | string {
  try {
    const value = JSON.parse(line) as Partial<PastedItem>;
    if (typeof value.url !== "string") return "url is missing";
    return { ...value, artifact_id: value.artifact_id ?? value.url, url: value.url };
  } catch {
    return "not valid JSON";
  }
}

function fromWords(line: string): PastedItem | string {
  const words = line.split(/[\s,;]+/);
  const url = words.at(-1) ?? "";
  if (words.length > 2 || !/^https?:\/\//i.test(url)) return "expected a URL, or a name and a URL";
  // Without an id, the URL is the id.
  return { artifact_id: words.length === 2 ? (words[0] ?? url) : url, url };
}
