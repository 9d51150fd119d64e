/** What expressions may name, looked at before anything runs: a name that will not be there is a mistake of the definition. */
import type { Template } from "./expression.ts";
import { didYouMean, shortened } from "./faults.ts";
import { ExpressionError, type Node, type PathPart } from "./expression-syntax.ts";

/** What is known of the place where an expression stands. */
export interface NameScope {
  readonly step: string;
  /** Every step's name. */
  readonly steps: ReadonlySet<string>;
  /** Whether the step depends on that one, directly or through others. */
  dependsOn(step: string): boolean;
  /** The keys of what that step gives; null: not known. */
  outputOf(step: string): readonly string[] | null;
  /** The names that the workflow's params have; null: any. */
  readonly params: readonly string[] | null;
  /** Whether `item` and `index` stand for something. */
  readonly hasItem: boolean;
  /** Whether `steps.NAME.items` alone may stand here: in the list of a `for_each`. */
  readonly takesItems: boolean;
}

/** The step whose items are all gone through, when that is what the list of a `for_each` asks for. */
export function itemsSource(template: Template | null): string | null {
  const node = template?.whole ?? null;
  if (node?.kind !== "path" || node.root !== "steps" || node.parts.length !== 2) return null;
  const [step, items] = node.parts.map((part) => ("key" in part ? part.key : null));
  return items === "items" && typeof step === "string" ? step : null;
}

/** Every name in it that is not there. */
export function wrongNames(node: Node, scope: NameScope): ExpressionError[] {
  const wrong: ExpressionError[] = [];
  eachName(node, (root, parts, at) => {
    const problem = wrongRoot(root, at, parts, scope);
    if (problem !== null) wrong.push(problem);
  });
  return wrong;
}

/** The steps that it names. */
export function stepsNamed(node: Node): string[] {
  const names: string[] = [];
  eachName(node, (root, [step]) => {
    if (root === "steps" && step !== undefined && "key" in step) names.push(step.key);
  });
  return names;
}

function eachName(node: Node, visit: (root: string, parts: readonly PathPart[], at: number) => void): void {
  const inner = (nodes: readonly Node[]): void => nodes.forEach((one) => eachName(one, visit));
  switch (node.kind) {
    case "value":
      return;
    case "list":
      return inner(node.items);
    case "path":
      if (typeof node.root === "string") visit(node.root, node.parts, node.at);
      else inner([node.root]);
      return inner(node.parts.flatMap((part) => ("index" in part ? part.index : [])));
    case "not":
    case "minus":
      return inner([node.of]);
    case "binary":
      return inner([node.left, node.right]);
    case "choice":
      return inner([node.condition, node.yes, node.no]);
    case "call":
      return inner(node.args);
  }
}

function wrongRoot(root: string, at: number, parts: readonly PathPart[], scope: NameScope): ExpressionError | null {
  if (root === "steps") return wrongStep(at, parts, scope);
  if (root === "params") return wrongParam(parts, scope);
  if (root === "item" || root === "index") {
    if (scope.hasItem) return null;
    return new ExpressionError(`"${root}" is only available in the params of a step with for_each`, at);
  }
  const roots = ["steps", "params", ...(scope.hasItem ? ["item", "index"] : [])];
  return new ExpressionError(
    `unknown name "${shortened(root)}"${didYouMean(root, roots) || `: known are ${roots.join(", ")}`}`,
    at,
  );
}

function wrongParam(parts: readonly PathPart[], { params }: NameScope): ExpressionError | null {
  const [first] = parts;
  if (params === null || first === undefined || !("key" in first) || params.includes(first.key)) return null;
  const hint = didYouMean(first.key, params);
  const rest = params.length === 0 ? ": the workflow declares no params" : hint;
  return new ExpressionError(`the workflow has no param "${shortened(first.key)}"${rest}`, first.at);
}

function wrongStep(at: number, parts: readonly PathPart[], scope: NameScope): ExpressionError | null {
  const [step, field, key] = parts;
  if (step === undefined || !("key" in step)) {
    return new ExpressionError(
      'steps is followed by the name of a step: steps.NAME.output or steps["NAME"].output',
      at,
    );
  }
  const name = step.key;
  if (!scope.steps.has(name)) {
    // `steps.get-list` reads as a difference.
    const cut = [...scope.steps].find((other) => other.startsWith(`${name}-`) || other.startsWith(`${name}.`));
    const hint = cut === undefined ? didYouMean(name, scope.steps) : `, write steps["${shortened(cut)}"]`;
    return new ExpressionError(`there is no step "${shortened(name)}"${hint}`, step.at);
  }
  if (name === scope.step) return new ExpressionError("a step cannot use its own output", step.at);
  if (!scope.dependsOn(name)) {
    return new ExpressionError(`this step does not depend on "${name}": add it to its dependencies`, step.at);
  }
  if (field === undefined || !("key" in field) || field.key !== "output") {
    if (field !== undefined && "key" in field && field.key === "items") return wrongItems(name, field.at, parts, scope);
    return new ExpressionError(`use the output of a step: steps.${name}.output`, field?.at ?? step.at);
  }
  const keys = scope.outputOf(name);
  if (keys === null || key === undefined || !("key" in key) || keys.includes(key.key)) return null;
  const hint = didYouMean(key.key, keys) || `: it has ${keys.join(", ")}`;
  return new ExpressionError(`the output of "${name}" has no "${shortened(key.key)}"${hint}`, key.at);
}

function wrongItems(name: string, at: number, parts: readonly PathPart[], scope: NameScope): ExpressionError | null {
  if (scope.takesItems && parts.length === 2) return null;
  return new ExpressionError(`the items of "${name}" can only be used in for_each.in, as its whole value`, at);
}
