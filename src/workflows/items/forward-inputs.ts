import type { Item, StepContext } from "../step-kind.ts";

/** Forwards the inputs of a step to the next ones; not in `for_each`, where each entry would forward all of them. */
export function forwardInputs(context: StepContext): { items?: AsyncIterable<Item> } {
  return context.item === undefined ? { items: context.inputs() } : {};
}
