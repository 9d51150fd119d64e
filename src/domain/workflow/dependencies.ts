/** Dependencies as people write them, by name or index, to indices of earlier steps; or what is wrong with them. */
import { type Faults, nearest, shortened } from "./faults.ts";

export interface WrittenStep {
  /** null: it has none that could be meant. */
  readonly name: string | null;
  /** null: neither a name nor an index, which was said elsewhere. */
  readonly dependencies: readonly (string | number | null)[];
}

interface Edge {
  to: number;
  path: string;
}

interface ResolvedStep {
  /** Indices of earlier steps, without repetitions, in the order they were written; of a misspelt name what it is like. */
  readonly dependencies: number[];
  /** Whether these are all that it depends on: there are none but these, and what those depend on is known, too. */
  readonly isSound: boolean;
}

export function resolveDependencies(steps: readonly WrittenStep[], faults: Faults): ResolvedStep[] {
  const names = steps.map(({ name }) => shortened(name ?? ""));
  const indexOf = new Map<string, number>();
  for (const [index, { name }] of steps.entries()) if (name !== null && !indexOf.has(name)) indexOf.set(name, index);
  const meant: number[][] = steps.map(() => []);
  const edges: Edge[][] = steps.map(({ dependencies }, step) =>
    dependencies.flatMap((dependency, position) => {
      if (dependency === null) return [];
      const path = `steps[${step}].dependencies[${position}]`;
      if (typeof dependency === "string") {
        const to = indexOf.get(dependency);
        if (to !== undefined) return { to, path };
        faults.add(path, () => {
          const near = nearest(dependency, indexOf.keys());
          if (near === undefined) return `there is no step "${shortened(dependency)}"`;
          meant[step]?.push(indexOf.get(near) ?? step);
          return `there is no step "${shortened(dependency)}", did you mean "${near}"?`;
        });
        return [];
      }
      if (dependency >= 0 && dependency < steps.length) return { to: dependency, path };
      faults.add(path, `there is no step ${dependency}: the steps are 0 to ${steps.length - 1}`);
      return [];
    }),
  );
  const groups = cyclesOf(edges);
  for (const first of new Set(groups)) if (first !== null) reportCycle(first, edges, groups, names, faults);
  for (const [step, out] of edges.entries()) {
    for (const { to, path } of out) {
      const inCycle = groups[step] !== null && groups[step] === groups[to];
      if (to <= step || inCycle) continue;
      faults.add(path, `"${names[to]}" comes later: a step can only depend on earlier steps; move it before this step`);
    }
  }
  const resolved: ResolvedStep[] = [];
  for (const [step, out] of edges.entries()) {
    const all = [...out.map(({ to }) => to), ...(meant[step] ?? [])];
    const dependencies = [...new Set(all.filter((to) => to < step))];
    const isWhole = all.length === steps[step]?.dependencies.length && all.every((to) => to < step);
    resolved.push({ dependencies, isSound: isWhole && dependencies.every((to) => resolved[to]?.isSound === true) });
  }
  return resolved;
}

/**
 * For each step the first step of its cycle, or null (Tarjan's strongly connected components). Iterative, because a chain
 * may be as long as there are steps.
 */
function cyclesOf(edges: readonly (readonly Edge[])[]): (number | null)[] {
  const seen: (number | undefined)[] = [];
  const low: number[] = [];
  const groups: (number | null)[] = edges.map(() => null);
  const closed = new Set<number>();
  const path: number[] = [];
  let count = 0;
  for (const start of edges.keys()) {
    if (seen[start] !== undefined) continue;
    const open = [{ step: start, next: 0 }];
    while (open.length > 0) {
      const top = open[open.length - 1] as { step: number; next: number };
      const { step } = top;
      if (top.next === 0) {
        seen[step] = count;
        low[step] = count;
        count += 1;
        path.push(step);
      }
      const edge = edges[step]?.[top.next];
      top.next += 1;
      if (edge !== undefined) {
        const known = seen[edge.to];
        if (known === undefined) open.push({ step: edge.to, next: 0 });
        else if (!closed.has(edge.to)) low[step] = Math.min(low[step] ?? 0, known);
        continue;
      }
      open.pop();
      const parent = open[open.length - 1];
      if (parent !== undefined) low[parent.step] = Math.min(low[parent.step] ?? 0, low[step] ?? 0);
      if (low[step] !== seen[step]) continue;
      const members = path.splice(path.indexOf(step));
      for (const member of members) closed.add(member);
      const isCycle = members.length > 1 || (edges[step] ?? []).some(({ to }) => to === step);
      if (isCycle) for (const member of members) groups[member] = Math.min(...members);
    }
  }
  return groups;
}

/** Reports the shortest cycle through its first step. */
function reportCycle(
  first: number,
  edges: readonly (readonly Edge[])[],
  groups: readonly (number | null)[],
  names: readonly string[],
  faults: Faults,
): void {
  const cameFrom = new Map<number, { step: number; edge: Edge }>();
  const open = [first];
  for (const step of open) {
    for (const edge of edges[step] ?? []) {
      if (groups[edge.to] !== first || cameFrom.has(edge.to)) continue;
      cameFrom.set(edge.to, { step, edge });
      open.push(edge.to);
    }
  }
  const way = [names[first] ?? ""];
  let path = "";
  for (let at = first; way.length === 1 || at !== first;) {
    const from = cameFrom.get(at) as { step: number; edge: Edge };
    way.unshift(names[from.step] ?? "");
    path = from.edge.path;
    at = from.step;
  }
  faults.add(path, `the dependencies form a cycle: ${way.join(" → ")}`);
}
