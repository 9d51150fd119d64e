import type { Item, StepContext } from "../step-kind.ts";

/** What came to a step goes on to the next ones; for one entry of a list nothing does, or all of it would for each. */
export function forwardInputs(context: StepContext): { items?: AsyncIterable<Item> } {
  return context.item === undefined ? { items: context.inputs() } : {};
}
