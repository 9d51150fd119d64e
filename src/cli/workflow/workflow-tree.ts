/**
 * Draws the graph of a workflow as lines: a single successor goes below its step, parallel ones below it as branches,
 * and what waits for all branches goes after them at their indentation.
 */
import { dependenceOf, type GraphStep } from "../../domain/workflow/graph.ts";

export interface TreeLine {
  /** Index of the step. */
  step: number;
  /** What is drawn before it: `│  ├─ `. */
  rails: string;
  /** Indices of the steps it waits for, if the tree does not show them; null: it does. */
  after: readonly number[] | null;
}

const ROOT = -1;

/** In topological order. */
export function treeOf(steps: readonly GraphStep[]): TreeLine[] {
  const gates = gatesOf(steps);
  const stages = stagesOf(steps, gates);
  const depends = dependenceOf(steps);
  const needed = steps.map(({ dependencies }) => {
    const parents: number[] = [];
    // Latest first: dependencies of a listed step need not be named.
    for (const parent of dependencies.toSorted((a, b) => b - a))
      if (!parents.some((other) => depends(other, parent))) parents.push(parent);
    return parents.reverse();
  });
  const lines: TreeLine[] = [];
  const draw = (gate: number, rails: string): number[] => {
    let ends = gate === ROOT ? [] : [gate];
    for (const stage of stages.get(gate) ?? []) {
      const before = new Set(ends);
      ends = stage.flatMap((step, at) => {
        const [lead, below] = stage.length === 1 ? ["", ""] : at === stage.length - 1 ? ["└─ ", "   "] : ["├─ ", "│  "];
        const parents = needed[step] ?? [];
        const isPlain = parents.length === before.size && parents.every((one) => before.has(one));
        lines.push({ step, rails: `${rails}${lead}`, after: isPlain ? null : parents });
        return draw(step, `${rails}${below}`);
      });
    }
    return ends;
  };
  draw(ROOT, "");
  return lines;
}

/** The dominator of each step: the last step that every path to it passes. */
function gatesOf(steps: readonly GraphStep[]): number[] {
  const gates: number[] = [];
  const depths: number[] = [];
  const depth = (step: number) => (step === ROOT ? 0 : (depths[step] ?? 0));
  for (const { dependencies } of steps) {
    const [first = ROOT, ...others] = dependencies;
    const gate = others.reduce((one, other) => {
      let [a, b] = [one, other];
      while (a !== b) {
        if (depth(a) >= depth(b)) a = gates[a] ?? ROOT;
        else b = gates[b] ?? ROOT;
      }
      return a;
    }, first);
    gates.push(gate);
    depths.push(depth(gate) + 1);
  }
  return gates;
}

/** The steps behind each gate, independent ones first. */
function stagesOf(steps: readonly GraphStep[], gates: readonly number[]): Map<number, number[][]> {
  const stages = new Map<number, number[][]>();
  const levels: number[] = [];
  for (const [step, { dependencies }] of steps.entries()) {
    const gate = gates[step] ?? ROOT;
    let level = 0;
    for (const dependency of dependencies) {
      let beside = dependency;
      while (beside !== gate && gates[beside] !== gate) beside = gates[beside] ?? ROOT;
      if (beside !== gate) level = Math.max(level, (levels[beside] ?? 0) + 1);
    }
    levels.push(level);
    const list = stages.get(gate) ?? [];
    (list[level] ??= []).push(step);
    stages.set(gate, list);
  }
  return stages;
}
