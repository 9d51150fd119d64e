/** Every expression of a definition, read and looked at before anything runs. */
import type { JsonValue } from "../lane/queue-item.ts";
import { compileTemplate, compileWhen } from "./expression.ts";
import { type NameScope, itemsSource, wrongNames } from "./expression-names.ts";
import { ExpressionError, type Node } from "./expression-syntax.ts";
import type { Faults } from "./faults.ts";
import { dependenceOf } from "./graph.ts";

export interface StepExpressions {
  readonly name: string;
  /** Indices of earlier steps. */
  readonly dependencies: readonly number[];
  /** Whether these are known to be all. */
  readonly isSound: boolean;
  /** The keys of what it gives; null: not known. */
  readonly output: readonly string[] | null;
  readonly params: Readonly<Record<string, JsonValue>>;
  readonly when: string | null;
  /** What its `for_each` goes through, and where that stands; null: it has none. */
  readonly list: { readonly value: JsonValue; readonly path: string } | null;
}

/** `params` are the names of the workflow's params, null: any. */
export function findExpressionFaults(
  steps: readonly StepExpressions[],
  params: readonly string[] | null,
  faults: Faults,
): void {
  const indexOf = new Map(steps.map(({ name }, index) => [name, index]));
  const depends = dependenceOf(steps);
  const names = new Set(indexOf.keys());
  for (const [index, { name, isSound, when, list, params: stepParams }] of steps.entries()) {
    const path = `steps[${index}]`;
    const scope: NameScope = {
      step: name,
      steps: names,
      dependsOn: (other) => !isSound || depends(index, indexOf.get(other) ?? index),
      outputOf: (other) => steps[indexOf.get(other) ?? -1]?.output ?? null,
      params,
      hasItem: false,
      takesItems: false,
    };
    const inParams = { ...scope, hasItem: list !== null };
    const note = (at: string, look: () => readonly ExpressionError[]): void => {
      if (faults.isFull) return;
      for (const { message } of mistakesOf(look)) faults.add(at, message);
    };
    if (when !== null) note(`${path}.when`, () => wrongNames(compileWhen(when), scope));
    const { value: entries, path: at } = list ?? { value: null, path: "" };
    if (typeof entries === "string") note(`${path}.${at}`, () => listMistakes(entries, scope));
    else eachText(entries, `${path}.${at}`, (text, where) => note(where, () => textMistakes(text, scope)));
    eachText(stepParams, `${path}.params`, (text, at) => note(at, () => textMistakes(text, inParams)));
  }
}

function mistakesOf(look: () => readonly ExpressionError[]): readonly ExpressionError[] {
  try {
    return look();
  } catch (error) {
    if (error instanceof ExpressionError) return [error];
    throw error;
  }
}

function listMistakes(text: string, scope: NameScope): ExpressionError[] {
  const template = compileTemplate(text);
  const node = template?.whole ?? null;
  if (node === null) return [new ExpressionError("expected a list, or one expression that returns a list", 0)];
  return wrongNames(node, { ...scope, takesItems: itemsSource(template) !== null });
}

function textMistakes(text: string, scope: NameScope): ExpressionError[] {
  const nodes = (compileTemplate(text)?.parts ?? []).filter((part): part is Node => typeof part !== "string");
  return nodes.flatMap((node) => wrongNames(node, scope));
}

function eachText(
  value: JsonValue | Readonly<Record<string, JsonValue>>,
  path: string,
  look: (text: string, path: string) => void,
): void {
  if (typeof value === "string") look(value, path);
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    eachText(inner, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`, look);
  }
}
