import { hashOf } from "./item-keys.ts";
import type { StepContext } from "../step-kind.ts";

/** The files of a step's items, each once. */
export async function* distinctFiles({ inputs }: Pick<StepContext, "inputs">): AsyncGenerator<string> {
  const seen = new Set<string>();
  for await (const item of inputs()) {
    const hash = hashOf(item);
    if (hash === null || seen.has(hash)) continue;
    seen.add(hash);
    yield hash;
  }
}
