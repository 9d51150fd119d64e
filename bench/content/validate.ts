/** Cross-validation: the model's score on unseen pages. */
import { contentBlocks } from "../../src/extract/main-content/find.ts";
import { print } from "../support/measure.ts";
import { scoreTexts } from "./score.ts";
import { PARTS, partOf } from "./parts.ts";
import { likelihoods, train, type TrainingSet } from "./train.ts";

export function validate(set: TrainingSet): boolean {
  const texts = new Map<string, string>();
  for (let part = 0; part < PARTS; part += 1) {
    print(`part ${part + 1} of ${PARTS} …`);
    const model = train(set, (page) => partOf(page) !== part);
    for (const page of set.pages.filter((one) => partOf(one) === part)) {
      const chosen = contentBlocks(page.surveyed, likelihoods(model, set, page));
      const kept = page.surveyed.blocks.filter((_, index) => chosen[index]).map(({ text }) => text);
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
