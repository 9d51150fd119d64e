/** The document of a page (docs/documents.md): its summary in a table, and its parts. */
import { bytes, count, plainUrl } from "../../../logic/format.ts";
import { isPlain, lineOf } from "../../../logic/nested.ts";

interface About {
  id: string;
  name: string;
  /** "12 KB", "40 addresses". */
  size: string;
  /** Truncated, because it was too long. */
  isCut: boolean;
}

interface Kept {
  /** File name, type and full content. */
  file: string;
  type: string;
  text: string;
}

export type DocumentPart = About &
  (
    | ({ kind: "text" } & Kept)
    | ({ kind: "html"; note: string } & Kept)
    | ({ kind: "addresses"; addresses: readonly string[] } & Kept)
    | { kind: "pictures"; artifacts: readonly string[] }
    | ({ kind: "facts"; facts: Readonly<Record<string, unknown>> } & Kept)
  );

export type PageDocument = Readonly<Record<string, unknown>> & { metadata: Readonly<Record<string, unknown>> };

/** Null: another value under the same name. */
export function documentIn(value: unknown): PageDocument | null {
  if (!isPlain(value) || !isPlain(value["metadata"])) return null;
  return "source_url" in value["metadata"] && "status_code" in value["metadata"] ? (value as PageDocument) : null;
}

const textOf = (value: unknown) => (typeof value === "string" ? value : null);
const addressesOf = (value: unknown) => (Array.isArray(value) ? value.map(String) : null);
/** The first, if a page repeats it. */
const firstOf = (value: unknown) => textOf(Array.isArray(value) ? value[0] : value)?.trim() ?? "";

function artifactIn(value: unknown): string[] {
  const id = isPlain(value) ? value["artifact_id"] : null;
  return typeof id === "string" ? [id] : [];
}

const FORMATS = [
  ["markdown", "Markdown"],
  ["html", "HTML"],
  ["raw_html", "Raw HTML"],
  ["links", "links"],
  ["images", "images"],
  ["screenshot", "screenshot"],
] as const;

interface DocumentLine {
  title: string;
  /** "12 KB · Markdown, links". */
  note: string;
}

const TITLE = 120;

/** The summary in a table cell. */
export function documentLine(document: PageDocument): DocumentLine {
  const { metadata } = document;
  const words = lineOf((textOf(document["markdown"]) ?? "").replace(/^[#>*\s-]+/, ""), TITLE).trim();
  const title = firstOf(metadata["title"]) || words || plainUrl(firstOf(metadata["url"]));
  const formats = FORMATS.filter(([key]) => document[key] !== undefined).map(([, name]) => name);
  const size = ["markdown", "html", "raw_html"].reduce((sum, key) => sum + (textOf(document[key])?.length ?? 0), 0);
  const parts = [size === 0 ? "" : bytes(size), formats.join(", ")].filter((part) => part !== "");
  return { title: title.length > TITLE ? `${title.slice(0, TITLE)}…` : title, note: parts.join(" · ") };
}

const RECEIVED = "As received, or as rendered by the browser.";
const CLEANED = "Cleaned: without scripts, styles and frames.";

/** The parts that can be opened. */
export function documentParts(document: PageDocument): DocumentPart[] {
  const { metadata } = document;
  const cut = addressesOf(document["truncated"]) ?? [];
  const about = (id: string, name: string, size: string): About => ({ id, name, size, isCut: cut.includes(id) });
  const file = (what: string) => `${fileStem(firstOf(metadata["url"]))}${what}`;
  const parts: DocumentPart[] = [];
  const markdown = textOf(document["markdown"]);
  if (markdown !== null) {
    const kept = { file: file(".md"), type: "text/markdown", text: markdown };
    parts.push({ ...about("markdown", "Markdown", bytes(markdown.length)), kind: "text", ...kept });
  }
  const page = (id: string, name: string, html: string, note: string, end: string) =>
    parts.push({
      ...about(id, name, bytes(html.length)),
      kind: "html",
      note,
      file: file(end),
      type: "text/html",
      text: html,
    });
  const [html, raw] = [textOf(document["html"]), textOf(document["raw_html"])];
  if (html !== null) page("html", "HTML", html, CLEANED, ".html");
  if (raw !== null) page("raw_html", "Raw HTML", raw, RECEIVED, ".raw.html");
  for (const [id, name] of [
    ["links", "Links"],
    ["images", "Images"],
  ] as const) {
    const addresses = addressesOf(document[id]);
    if (addresses === null) continue;
    const text = addresses.map((address) => `${address}\n`).join("");
    const kept = { file: file(`.${id}.txt`), type: "text/plain", text };
    const size = count(addresses.length, "address", "addresses");
    parts.push({ ...about(id, name, size), kind: "addresses", addresses, ...kept });
  }
  const done = isPlain(document["actions"]) ? document["actions"] : {};
  const taken = Array.isArray(done["screenshots"]) ? done["screenshots"] : [];
  const artifacts = [...artifactIn(document["screenshot"]), ...taken.flatMap(artifactIn)];
  if (artifacts.length > 0)
    parts.push({
      ...about(
        "screenshots",
        artifacts.length === 1 ? "Screenshot" : "Screenshots",
        count(artifacts.length, "picture"),
      ),
      kind: "pictures",
      artifacts,
    });
  const scrapes = Array.isArray(done["scrapes"]) ? done["scrapes"].filter(isPlain) : [];
  scrapes.forEach((scrape, n) => {
    const note = `${firstOf(scrape["url"])}, as it was when the action was performed.`;
    page(`scrape-${n + 1}`, `Scrape ${n + 1}`, textOf(scrape["html"]) ?? "", note, `.scrape-${n + 1}.html`);
  });
  parts.push({
    ...about("metadata", "Metadata", count(Object.keys(metadata).length, "entry", "entries")),
    kind: "facts",
    facts: metadata,
    file: file(".metadata.json"),
    type: "application/json",
    text: JSON.stringify(metadata, null, 2),
  });
  return parts.map((part) =>
    part.id.startsWith("scrape-") ? { ...part, isCut: cut.includes("actions.scrapes") } : part,
  );
}

/** "example.com-docs-start": a file name from a URL that is valid on every system. */
export function fileStem(url: string): string {
  const stem = plainUrl(url)
    .replace(/[?#].*$/, "")
    .replace(/\.html?$/i, "")
    .replace(/[^\p{L}\p{N}.]+/gu, "-")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, 80);
  return stem === "" ? "page" : stem;
}
