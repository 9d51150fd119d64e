/** Folders of pages with the text that people marked as their main content. */
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";

export interface MarkedPage {
  id: string;
  url: string;
  html: Buffer;
  truth: string;
  /** Of the page, where the set says it. */
  type: string;
}

export interface Corpus {
  name: string;
  pages: MarkedPage[];
  /** How the set is scored: by runs of four words, or by words. */
  measure: "shingles" | "words";
}

/** What `ground-truth.json` says of a page: one of the two public sets. */
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
