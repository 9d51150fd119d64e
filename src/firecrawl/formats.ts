/** The forms in which a page is asked for, and what a page must be read for to give them. */
import type { DocumentFormat } from "../domain/page/page-options.ts";
import type { OptionReader } from "./option-reader.ts";
import { isObject } from "./option-reader.ts";
import { type JsonAsk, readJsonAsk } from "./json-values.ts";

interface FormatsAsk {
  /** As `document.formats` of a recipe has them. */
  formats: DocumentFormat[];
  json: JsonAsk | null;
}

const PLAIN: Readonly<Record<string, DocumentFormat>> = {
  markdown: "markdown",
  html: "html",
  rawHtml: "raw_html",
  links: "links",
  images: "images",
  screenshot: "screenshot",
  "screenshot@fullPage": "screenshot_full",
};

const BY_A_MODEL =
  "is written by a language model, which this server does not do: ask for markdown, or for json with a schema";

/** Why the other formats of Firecrawl are not supported. */
const MISSING: Readonly<Record<string, string>> = {
  summary: BY_A_MODEL,
  question: BY_A_MODEL,
  highlights: BY_A_MODEL,
  query: BY_A_MODEL,
  changeTracking: "is not to be had here: run a saved job on a schedule, and compare its results",
  attributes: "is not to be had here: a job's fields read attributes by CSS selector (docs/jobs.md)",
  branding: "is not to be had here",
  product: "is not to be had here: ask for json with a schema that names what is wanted",
  menu: "is not to be had here",
  audio: "is not to be had here",
  video: "is not to be had here",
  content: "is not to be had here: ask for markdown or html",
};

/** v2 has options of a form beside its name; v1 has them apart, as `jsonOptions` or `extract`. */
export function readFormats(reader: OptionReader, version: "v1" | "v2", llm: boolean): FormatsAsk {
  const asked = reader.list("formats") ?? ["markdown"];
  const formats = new Set<DocumentFormat>();
  let json: JsonAsk | null = null;
  for (const [index, one] of asked.entries()) {
    const path = `formats[${index}]`;
    const type = isObject(one) ? one["type"] : one;
    if (type === "extract" && version === "v1") {
      const ask = readJsonAsk(reader, path, reader.any("extract") ?? reader.any("jsonOptions"), llm);
      json = ask === null ? null : { ...ask, under: "extract" };
    } else if (type === "json")
      json = readJsonAsk(
        reader,
        path,
        version === "v2" ? one : (reader.any("jsonOptions") ?? reader.any("extract")),
        llm,
      );
    else if (typeof type === "string" && PLAIN[type] !== undefined)
      formats.add(type === "screenshot" ? screenshotOf(reader, path, one) : PLAIN[type]);
    else
      reader.wrong(
        path,
        typeof type === "string"
          ? (MISSING[type] ?? `"${type}" is not a form of a page`)
          : "expected the name of a form, or {type}",
      );
  }
  reader.harmless("jsonOptions", "extract");
  if (formats.has("screenshot_full")) formats.delete("screenshot");
  return { formats: [...formats], json };
}

function screenshotOf(reader: OptionReader, path: string, one: unknown): "screenshot" | "screenshot_full" {
  if (!isObject(one)) return "screenshot";
  if (one["viewport"] !== undefined && one["viewport"] !== null)
    reader.wrong(`${path}.viewport`, "cannot be chosen here: leave it out, or ask for mobile");
  return one["fullPage"] === true ? "screenshot_full" : "screenshot";
}
