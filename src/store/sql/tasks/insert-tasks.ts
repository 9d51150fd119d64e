import { shardOfKey } from "../../../domain/lane/shards.ts";
import type { NewTask } from "../../ports/port.ts";
import { type Context, stampIdleLanes } from "../kernel/context.ts";
import { hasAliases } from "../crawls/frontier.ts";
import {
  type LaneAssignment,
  assignLanes,
  assignShard,
  type KnownSites,
  type KnownStreams,
  streamsOf,
} from "../lanes/lane-assignments.ts";
import type { CounterDeltas } from "./counter-deltas.ts";
import { ScoredTasks } from "./scored-tasks.ts";

/** Numbers of tasks: pages of the run, and auxiliary tasks that only find pages. */
interface KindCounts {
  pages: number;
  auxiliary: number;
}

const UNLIMITED: KindCounts = { pages: Number.POSITIVE_INFINITY, auxiliary: Number.POSITIVE_INFINITY };

/** What is known of a run before tasks are added to it. */
export interface KnownOfRun {
  quota: KindCounts;
  /** Whether there is a task with this key. */
  exists: (hash: Uint8Array) => boolean;
  /** Some pages are known under several URLs. */
  isAliased: boolean;
  sites?: KnownSites;
  streams?: KnownStreams;
}

function readKnown(context: Context, run: number, hashes: readonly Uint8Array[]): KnownOfRun {
  const exists = context.connection.dialect.tasksAmong(context.connection, hashes);
  return { quota: UNLIMITED, exists, isAliased: hasAliases(context, run) };
}

/** Inserts the tasks that do not exist yet, within the quota, with their lanes and streams. The caller applies `deltas` to the counters. */
export function insertTasks(
  context: Context,
  run: number,
  tasks: readonly NewTask[],
  hashes: readonly Uint8Array[],
  deltas: CounterDeltas,
  now: number,
  known: KnownOfRun = readKnown(context, run, hashes),
): { added: KindCounts; lanes: string[]; leftOut: { pages: boolean; auxiliary: boolean } } {
  const { connection } = context;
  const { dialect } = connection;
  const { quota, exists } = known;
  const isAlias = known.isAliased ? dialect.aliasesAmong(connection, run, hashes) : () => false;
  const streams = new Map<string, Target>();
  const chosen: NewRow[] = [];
  const leftOut = { pages: false, auxiliary: false };
  const scored = new ScoredTasks();
  const counter = quota === UNLIMITED ? null : new QuotaCounter(quota);
  for (const [index, task] of tasks.entries()) {
    const hash = hashes[index] as Uint8Array;
    if (isAlias(hash)) continue;
    const kind = task.auxiliary === true ? "auxiliary" : "pages";
    // Without a quota the INSERT itself detects duplicates.
    if (counter !== null) {
      if (exists(hash)) {
        scored.known(hash, task);
        continue;
      }
      const taken = counter.take(kind, hash);
      if (taken === "again") {
        scored.known(hash, task);
        continue;
      }
      if (taken === "full") {
        leftOut[kind] = true;
        scored.leftOut(hash, task);
        continue;
      }
    }
    const name = `${kind}\0${task.lane}\0${task.resolver ?? ""}\0${task.site ?? ""}`;
    let target = streams.get(name);
    if (target === undefined) {
      // A task that exists already must not register a site under another URL.
      if (counter === null && exists(hash)) continue;
      target = { task, kind, lane: 0, laneName: "", stream: 0, added: 0 };
      streams.set(name, target);
    }
    chosen.push({ target, hash, task });
  }
  const targets = findStreams(context, run, [...streams.values()], chosen, known, now);
  const added = insertRows(context, run, chosen, now);
  const extended = targets.filter((target) => target.added > 0);
  for (const target of extended) deltas.add(target.stream, "queued", target.added);
  scored.write(context, run);
  stampIdleLanes(
    context,
    extended.map(({ lane }) => lane),
  );
  return { added, lanes: [...new Set(extended.map((target) => target.laneName))], leftOut };
}

interface Target {
  /** One of its tasks. */
  task: NewTask;
  kind: keyof KindCounts;
  lane: number;
  laneName: string;
  stream: number;
  added: number;
}

/** Assigns lanes and streams to targets. A sharded site gets one target per shard: returns them all. */
function findStreams(
  context: Context,
  run: number,
  wanted: readonly Target[],
  chosen: readonly NewRow[],
  known: KnownOfRun,
  now: number,
): Target[] {
  const assignments = assignLanes(
    context,
    wanted.map(({ task }) => task),
    now,
    known.sites,
  );
  const assigned = new Map(wanted.map((target, index) => [target, assignments[index] as LaneAssignment]));
  if (assignments.some(({ shardCount }) => shardCount > 1)) assignShards(context, assigned, chosen);
  const targets = [...assigned];
  const ids = streamsOf(
    context,
    run,
    targets.map(([{ task }, assignment]) => ({ ...assignment, resolver: task.resolver, auxiliary: task.auxiliary })),
    known.streams,
  );
  return targets.map(([target, { lane, laneName }], index) =>
    Object.assign(target, { lane, laneName, stream: ids[index] as number }),
  );
}

/** Replaces the target of a sharded site by one target per shard. */
function assignShards(context: Context, assigned: Map<Target, LaneAssignment>, chosen: readonly NewRow[]): void {
  const shards = new Map<Target, Map<number, Target>>();
  for (const row of chosen) {
    const unsharded = row.target;
    const assignment = assigned.get(unsharded) as LaneAssignment;
    if (assignment.shardCount === 1) continue;
    const shard = shardOfKey(row.hash, assignment.shardCount);
    const byShard = shards.get(unsharded) ?? new Map<number, Target>();
    shards.set(unsharded, byShard);
    let target = byShard.get(shard);
    if (target === undefined) {
      byShard.set(shard, (target = { ...unsharded }));
      assigned.set(target, assignShard(context, assignment, row.hash));
    }
    row.target = target;
  }
  for (const unsharded of shards.keys()) assigned.delete(unsharded);
}

interface NewRow {
  target: Target;
  hash: Uint8Array;
  task: NewTask;
}

/** Counts down the remaining quota; duplicates of a task count once. */
class QuotaCounter {
  readonly #left: KindCounts;
  readonly #taken = new Set<string>();

  constructor(quota: KindCounts) {
    this.#left = { ...quota };
  }

  take(kind: keyof KindCounts, hash: Uint8Array): "new" | "again" | "full" {
    const name = Buffer.from(hash).toString("latin1");
    if (this.#taken.has(name)) return "again";
    if (this.#left[kind] <= 0) return "full";
    this.#left[kind] -= 1;
    this.#taken.add(name);
    return "new";
  }
}

function insertRows({ connection }: Context, run: number, chosen: readonly NewRow[], now: number): KindCounts {
  const added: KindCounts = { pages: 0, auxiliary: 0 };
  const ids = connection.dialect.insertTasks(connection, chosen, now);
  let first: number | null = null;
  let last: number | null = null;
  for (const [index, id] of ids.entries()) {
    if (id === null) continue;
    const { target } = chosen[index] as NewRow;
    target.added += 1;
    added[target.kind] += 1;
    first ??= id;
    last = id;
  }
  if (last !== null)
    connection
      .sql("UPDATE runs SET first_task = coalesce(first_task, ?), last_task = ? WHERE n = ?")
      .run(first, last, run);
  return added;
}
