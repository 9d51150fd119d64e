/**
 * npm run bench -- content FOLDER …: extracts the main content of annotated pages and scores it as the authors of the
 * sets do, against Readability and defuddle. `--validate` runs a ten-fold cross-validation; `--train` retrains the
 * product's model on all pages.
 */
import { writeFileSync } from "node:fs";
import { parsePage } from "../../src/extract/page.ts";
import { print } from "../support/measure.ts";
import { readCorpus, type Corpus, type MarkedPage } from "./corpus.ts";
import { loadPeers, type Peer } from "./peers.ts";
import { scoreTexts } from "./score.ts";
import { validate } from "./validate.ts";
import { readTrainingSet, train } from "./train.ts";
import { trainTypes } from "./types.ts";
import { writeModel } from "./write-model.ts";

interface ContentOptions {
  folders: readonly string[];
  train?: boolean;
  validate?: boolean;
}

const MODEL = new URL("../../src/extract/main-content/trees.ts", import.meta.url);

export async function run(_rounds: number, { folders, ...options }: ContentOptions): Promise<boolean> {
  if (folders.length === 0) {
    print("usage: npm run bench -- content FOLDER … [--validate | --train], each with ground-truth.json and html/");
    return false;
  }
  const corpora = folders.map(readCorpus);
  if (options.train === true) {
    const set = readTrainingSet(corpora);
    print(`learning from ${set.pages.length} pages …`);
    writeFileSync(
      MODEL,
      writeModel(
        train(set, () => true),
        trainTypes(set.pages, set.types, () => true),
      ),
    );
    print("the model is written; start again to measure it");
    return true;
  }
  if (options.validate === true) return validate(readTrainingSet(corpora));
  const peers = await loadPeers();
  for (const corpus of corpora) {
    print(`\n${corpus.name}: ${corpus.pages.length} pages, F1 of ${corpus.measure}`);
    for (const peer of [OWN, ...peers]) await report(corpus, peer);
  }
  return true;
}

const OWN: Peer = {
  name: "orbweaver",
  textOf: ({ html, url }) => parsePage({ body: html, contentType: "text/html", url }).facts.article?.text ?? "",
};

async function report(corpus: Corpus, { name, textOf }: Peer): Promise<void> {
  const texts = new Map<string, string>();
  const begun = performance.now();
  for (const page of corpus.pages) texts.set(page.id, await textOrNone(page, textOf));
  const each = (performance.now() - begun) / corpus.pages.length;
  const { f1, precision, recall, types } = scoreTexts(corpus, texts);
  const figures = `F1 ${f1.toFixed(4)}  precision ${precision.toFixed(3)}  recall ${recall.toFixed(3)}`;
  print(`  ${name.padEnd(12)} ${figures}  ${each.toFixed(1)} ms a page`);
  if (types.size > 1) print(`    ${[...types].map(([type, value]) => `${type} ${value.toFixed(3)}`).join("  ")}`);
}

/** A page that a peer cannot read counts as empty. */
async function textOrNone(page: MarkedPage, textOf: Peer["textOf"]): Promise<string> {
  try {
    return await textOf(page);
  } catch {
    return "";
  }
}
