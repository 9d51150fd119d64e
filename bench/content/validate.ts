/** Cross-validation: the model's score on unseen pages. */
import { contentBlocks } from "../../src/extract/main-content/find.ts";
import { print } from "../support/measure.ts";
import { scoreTexts } from "./score.ts";
import { likelihoods, train, type TrainingPage, type TrainingSet } from "./train.ts";

const PARTS = 10;

/** Pages of one site are all in the training set, or all in the test set. */
export function validate(set: TrainingSet): boolean {
  const texts = new Map<string, string>();
  for (let part = 0; part < PARTS; part += 1) {
    print(`part ${part + 1} of ${PARTS} …`);
    const model = train(set, (page) => partOf(page) !== part);
    for (const page of set.pages.filter((one) => partOf(one) === part)) {
      const chosen = contentBlocks(page, likelihoods(model, set, page));
      const kept = page.blocks.filter((_, index) => chosen[index]).map(({ text }) => text);
      texts.set(page.id, kept.join("\n"));
    }
  }
  for (const corpus of new Set(set.pages.map((page) => page.corpus))) {
    const { f1, precision, recall, types } = scoreTexts(corpus, texts);
    print(`${corpus.name}: F1 ${f1.toFixed(4)}  precision ${precision.toFixed(3)}  recall ${recall.toFixed(3)}`);
    if (types.size > 1) print(`  ${[...types].map(([type, value]) => `${type} ${value.toFixed(3)}`).join("  ")}`);
  }
  return true;
}

function partOf({ url }: TrainingPage): number {
  const site = new URL(url).hostname.split(".").slice(-2).join(".");
  let hash = 7;
  for (const character of site) hash = (hash * 31 + character.charCodeAt(0)) >>> 0;
  return hash % PARTS;
}
