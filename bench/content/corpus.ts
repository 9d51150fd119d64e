/** Reads folders of pages with their annotated main content. */
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";

export interface MarkedPage {
  id: string;
  url: string;
  html: Buffer;
  truth: string;
  /** Type of the page, if the set has it. */
  type: string;
}

export interface Corpus {
  name: string;
  pages: MarkedPage[];
  /** The scoring of the set: by runs of four words, or by words. */
  measure: "shingles" | "words";
}

/** An entry of `ground-truth.json`, in the format of either public set. */
interface Truth {
  url?: string;
  type?: string;
  articleBody?: string;
  main_content?: string;
}

/** `FOLDER/ground-truth.json` and `FOLDER/html/ID.html` or `.html.gz`. */
export function readCorpus(folder: string): Corpus {
  const file = join(folder, "ground-truth.json");
  if (!existsSync(file)) throw new Error(`${folder} has no ground-truth.json`);
  const truths = JSON.parse(readFileSync(file, "utf8")) as Record<string, Truth>;
  const entries = Object.entries(truths);
  const pages = entries.map(([id, truth]) => ({
    id,
    url: truth.url ?? "https://page.example/",
    html: readHtml(join(folder, "html", id)),
    truth: truth.articleBody ?? truth.main_content ?? "",
    type: truth.type ?? "article",
  }));
  const hasBodies = entries.some(([, truth]) => truth.articleBody !== undefined);
  return { name: basename(folder), pages, measure: hasBodies ? "shingles" : "words" };
}

function readHtml(path: string): Buffer {
  return existsSync(`${path}.html`) ? readFileSync(`${path}.html`) : gunzipSync(readFileSync(`${path}.html.gz`));
}
