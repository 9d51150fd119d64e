/** Whether transactions that run at the same time can wait for each other in a circle, judged by the locks that each took. */

export type Key = readonly (string | number | null)[];

/** As Postgres has them for rows, weakest first. */
const MODES = ["key share", "share", "no key update", "update"] as const;
export type LockMode = (typeof MODES)[number];

export interface Acquired {
  /** A table, or a kind of advisory lock. */
  type: string;
  key: Key;
  mode: LockMode;
  /** False: it leaves out what others have locked. */
  waits: boolean;
  /** The statement, or the last one before. */
  sql: string;
  /** The row was inserted: only others that insert the same key wait for it. */
  isNew?: boolean;
  /** Of the run that the row belongs to. */
  partition?: number;
  /** A lock, by type and key, that whoever writes the row is to hold. */
  guard?: readonly [type: string, key: string];
  /** The row belongs to a run that this transaction inserted. */
  own?: boolean;
  run?: number;
}

export interface Traced {
  scope: "row" | "runs" | "all";
  acquired: readonly Acquired[];
}

const CONFLICTS: Record<LockMode, readonly LockMode[]> = {
  "key share": ["update"],
  share: ["no key update", "update"],
  "no key update": ["share", "no key update", "update"],
  update: MODES,
};

export interface Verdict {
  /** Each a sentence; empty: no transactions can wait for each other in a circle. */
  problems: string[];
  /** In an order in which all transactions lock them. */
  order: string[];
  /** Locked only under the lock of their run, or under another lock: nobody waits for them. */
  guarded: Map<string, string>;
}

/**
 * Of transactions that exclude everybody else (scope `all`) one runs at a time, and only beside those that take no lock of
 * the deployment. So each of them is judged with these, and all others together.
 */
export function judge(list: readonly Traced[]): Verdict {
  const shared = distinct(list.filter(({ scope }) => scope !== "all"));
  const rows = shared.filter(({ scope }) => scope === "row");
  const verdict = judgeTogether(shared);
  for (const one of distinct(list.filter(({ scope }) => scope === "all")))
    verdict.problems.push(...judgeTogether([one, ...rows]).problems);
  verdict.problems = [...new Set(verdict.problems)];
  return verdict;
}

/** Most transactions take the same kinds of locks as others before. */
function distinct(list: readonly Traced[]): Traced[] {
  const known = new Map<string, Traced>();
  for (const traced of list) {
    const last = new Map<string, Key>();
    const shape = traced.acquired.map((one) => {
      const before = last.get(one.type);
      last.set(one.type, one.key);
      const step = before === undefined ? "" : Math.sign(compareKeys(before, one.key));
      return [one.type, one.isNew, one.mode, one.waits, one.own, isGuarded(traced, one), step].join();
    });
    const name = `${traced.scope} ${shape.join(" ")}`;
    if (!known.has(name)) known.set(name, traced);
  }
  return [...known.values()];
}

/** Whether it held the lock of the row's run, or of what else the row belongs to. */
function isGuarded({ acquired, scope }: Traced, one: Acquired): boolean {
  if (one.own === true) return true;
  const { partition, guard } = one;
  if (partition !== undefined && scope === "all") return true;
  const before = acquired.slice(0, acquired.indexOf(one));
  return before.some(
    ({ type, key }) =>
      (partition !== undefined && type === "partition" && key[0] === partition) ||
      (guard !== undefined && type === guard[0] && key[0] === guard[1]),
  );
}

const isLock = (type: string) => type === "partition" || type === "the deployment" || type.startsWith("name ");

/** Locks of which there is one, that every transaction holds whenever it locks such a row. */
function guardsOf(list: readonly Traced[]): Map<string, string> {
  const possible = new Map<string, Set<string>>();
  const owned = new Map<string, string | null>();
  for (const traced of list) {
    const held = new Set<string>();
    for (const one of traced.acquired) {
      const name = `${one.type} ${one.key.join(":")}`.trim();
      if (isLock(one.type)) {
        // Of which there is one.
        if (one.mode === "update" && (one.key[0] ?? "") === "") held.add(name);
        continue;
      }
      const own = isGuarded(traced, one) ? (one.guard?.[0] ?? "partition") : null;
      owned.set(one.type, owned.get(one.type) === null ? null : own);
      const before = possible.get(one.type);
      possible.set(one.type, new Set([...held].filter((one) => before === undefined || before.has(one))));
    }
  }
  const guards = new Map<string, string>();
  for (const [type, guard] of owned) if (guard !== null) guards.set(type, guard);
  for (const [type, names] of possible) for (const name of names) if (!guards.has(type)) guards.set(type, name);
  return guards;
}

interface Edge {
  first: Acquired;
  second: Acquired;
}

/** Inserts that exclude each other by a lock concern nobody; others are like any lock of the row. */
function withoutInserts(list: readonly Traced[]): Traced[] {
  const named = list.map((traced) => ({
    ...traced,
    acquired: traced.acquired.map((one) => (one.isNew === true ? { ...one, type: `new ${one.type}` } : one)),
  }));
  const guarded = guardsOf(named);
  return named.map((traced) => ({
    ...traced,
    acquired: traced.acquired
      .filter((one) => one.isNew !== true || !guarded.has(one.type))
      .map((one) => (one.isNew === true ? { ...one, type: one.type.slice("new ".length) } : one)),
  }));
}

function judgeTogether(together: readonly Traced[]): Verdict {
  const problems: string[] = [];
  const list = withoutInserts(together);
  const guarded = guardsOf(list);
  // One that excludes all others does not meet itself.
  const modesOf = (scopes: (scope: Traced["scope"]) => boolean) => {
    const modes = new Map<string, Set<LockMode>>();
    for (const { acquired, scope } of list)
      if (scopes(scope))
        for (const { type, mode } of acquired) modes.set(type, (modes.get(type) ?? new Set()).add(mode));
    return modes;
  };
  const modes = { any: modesOf(() => true), others: modesOf((scope) => scope !== "all") };
  const edges = new Map<string, Map<string, Edge>>();
  for (const { acquired, scope } of list) {
    const met = scope === "all" ? modes.others : modes.any;
    const mayWait = ({ type, mode, waits }: Acquired) =>
      waits && !guarded.has(type) && CONFLICTS[mode].some((other) => met.get(type)?.has(other));
    const held = new Map<string, Acquired>();
    for (const one of acquired) {
      if (guarded.has(one.type)) continue;
      const name = `${one.type} ${JSON.stringify(one.key)}`;
      const before = held.get(name);
      if (before !== undefined) {
        // To hold a row that others may hold as well, and then to want it alone: two would wait for each other.
        if (one.mode === "update" && before.mode.endsWith("share") && mayWait(one))
          problems.push(
            `${name} is locked for ${before.mode} and then for ${one.mode}: ${sqlOf(before)} THEN ${sqlOf(one)}`,
          );
        continue;
      }
      if (mayWait(one))
        for (const first of held.values()) {
          if (first.type !== one.type) {
            const from = edges.get(first.type) ?? new Map<string, Edge>();
            edges.set(first.type, from);
            if (!from.has(one.type)) from.set(one.type, { first, second: one });
          } else if (compareKeys(first.key, one.key) > 0)
            problems.push(
              `${one.type} are locked out of order, ${JSON.stringify(first.key)} before ${JSON.stringify(one.key)}: ${sqlOf(first)} THEN ${sqlOf(one)}`,
            );
        }
      held.set(name, one);
    }
  }
  const { order, circle } = sorted(edges);
  if (circle !== null)
    problems.push(
      `these are locked in a circle:\n${circle
        .map((type, index) => {
          const next = circle[(index + 1) % circle.length] as string;
          const edge = edges.get(type)?.get(next) as Edge;
          return `  ${type} before ${next}: ${sqlOf(edge.first)} THEN ${sqlOf(edge.second)}`;
        })
        .join("\n")}`,
    );
  return { problems, order, guarded };
}

const sqlOf = ({ sql, type, mode }: Acquired) => `[${type} for ${mode}, in or after: ${sql.slice(0, 160)}]`;

/** An order of all types, or a circle of them. */
function sorted(edges: ReadonlyMap<string, ReadonlyMap<string, Edge>>): { order: string[]; circle: string[] | null } {
  const order: string[] = [];
  const state = new Map<string, "open" | "done">();
  const path: string[] = [];
  const visit = (type: string): string[] | null => {
    if (state.get(type) === "done") return null;
    if (state.get(type) === "open") return path.slice(path.indexOf(type));
    state.set(type, "open");
    path.push(type);
    for (const next of edges.get(type)?.keys() ?? []) {
      const circle = visit(next);
      if (circle !== null) return circle;
    }
    path.pop();
    state.set(type, "done");
    order.unshift(type);
    return null;
  };
  for (const type of [...edges.keys()].toSorted()) {
    const circle = visit(type);
    if (circle !== null) return { order: [], circle };
  }
  return { order, circle: null };
}

export function compareKeys(a: Key, b: Key): number {
  for (const [index, one] of a.entries()) {
    const other = b[index] ?? null;
    if (one === other) continue;
    if (one === null || other === null) return one === null ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return 0;
}
