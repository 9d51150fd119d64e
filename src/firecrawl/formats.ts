/** The forms in which a page is asked for, and what a page must be read for to give them. */
import { isDeepStrictEqual } from "node:util";
import type { DocumentFormat } from "../domain/page/page-options.ts";
import { InputReader, isObject } from "../domain/text/input-reader.ts";
import { type JsonAsk, readJsonAsk } from "./json-values.ts";

interface FormatsAsk {
  /** As `document.formats` of a recipe has them. */
  formats: DocumentFormat[];
  json: JsonAsk | null;
  tracking: TrackingAsk | null;
}

/** `changeTracking`: how the page differs from the last time. */
export interface TrackingAsk {
  modes: ("git-diff" | "json")[];
  tag: string | null;
  /** Values that are compared by name, of the mode `json`. */
  json: JsonAsk | null;
}

const PLAIN: ReadonlyMap<unknown, DocumentFormat> = new Map([
  ["markdown", "markdown"],
  ["html", "html"],
  ["rawHtml", "raw_html"],
  ["links", "links"],
  ["images", "images"],
  ["screenshot", "screenshot"],
  ["screenshot@fullPage", "screenshot_full"],
]);

const BY_A_MODEL = "is not supported, because it needs a language model: use markdown, or json with a schema";

/** Why the other formats of Firecrawl are not supported. */
const MISSING: ReadonlyMap<unknown, string> = new Map([
  ["summary", BY_A_MODEL],
  ["question", BY_A_MODEL],
  ["highlights", BY_A_MODEL],
  ["query", BY_A_MODEL],
  ["attributes", "is not supported: fields of a job read attributes by CSS selector (docs/jobs.md)"],
  ["branding", "is not supported"],
  ["product", "is not supported: use json with a schema"],
  ["menu", "is not supported"],
  ["audio", "is not supported"],
  ["video", "is not supported"],
  ["content", "is not supported: use markdown or html"],
]);

/** v2 has options of a form beside its name; v1 has them apart, as `jsonOptions` or `extract`. */
export function readFormats(reader: InputReader, version: "v1" | "v2", llm: boolean): FormatsAsk {
  const asked = reader.list("formats") ?? ["markdown"];
  const formats = new Set<DocumentFormat>();
  let json: JsonAsk | null = null;
  let tracking: TrackingAsk | null = null;
  for (const [index, one] of asked.entries()) {
    const path = `formats[${index}]`;
    const type = isObject(one) ? one["type"] : one;
    const plain = PLAIN.get(type);
    if (type === "extract" && version === "v1") {
      const ask = readJsonAsk(reader, path, reader.value("extract") ?? reader.value("jsonOptions"), llm);
      json = ask === null ? null : { ...ask, under: "extract" };
    } else if (type === "json")
      json = readJsonAsk(
        reader,
        path,
        version === "v2" ? one : (reader.value("jsonOptions") ?? reader.value("extract")),
        llm,
      );
    else if (type === "changeTracking")
      tracking = readTracking(reader, path, version === "v2" ? one : reader.value("changeTrackingOptions"), llm);
    else if (plain !== undefined) formats.add(type === "screenshot" ? screenshotOf(reader, path, one) : plain);
    else
      reader.addError(
        path,
        typeof type === "string"
          ? (MISSING.get(type) ?? `"${type}" is not a format`)
          : "expected the name of a format, or {type}",
      );
  }
  reader.ignore("jsonOptions", "extract", "changeTrackingOptions");
  if (tracking !== null && !formats.has("markdown"))
    reader.addError("formats", "changeTracking compares the Markdown of the page: add markdown");
  if (tracking?.json !== null && tracking !== null && json !== null && !isDeepStrictEqual(tracking.json.ask, json.ask))
    reader.addError("formats", "changeTracking and json read the page once: use the same schema and prompt for both");
  if (formats.has("screenshot_full")) formats.delete("screenshot");
  return { formats: [...formats], json, tracking };
}

const MODES = ["git-diff", "json"] as const;

function readTracking(reader: InputReader, path: string, options: unknown, llm: boolean): TrackingAsk {
  const inner = new InputReader(isObject(options) ? options : {}, reader.at(path), reader.errors);
  const modes = inner.texts("modes") ?? [];
  for (const [index, mode] of modes.entries())
    if (!(MODES as readonly string[]).includes(mode))
      inner.addError(`modes[${index}]`, `expected one of ${MODES.join(", ")}`);
  const tag = inner.text("tag", { max: 200 }) ?? null;
  // Without a schema, the values of the mode json are unknown.
  const json = modes.includes("json") ? readJsonAsk(reader, path, options, llm) : null;
  return { modes: modes as TrackingAsk["modes"], tag, json };
}

function screenshotOf(reader: InputReader, path: string, one: unknown): "screenshot" | "screenshot_full" {
  if (!isObject(one)) return "screenshot";
  const options = new InputReader(one, reader.at(path), reader.errors);
  options.reject("viewport", "cannot be set: remove it, or use mobile", []);
  return options.flag("fullPage") === true ? "screenshot_full" : "screenshot";
}
