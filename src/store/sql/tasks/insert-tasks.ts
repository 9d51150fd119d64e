import { shardOfKey } from "../../../domain/lane/shards.ts";
import type { NewTask } from "../../ports/port.ts";
import { type Context, stampIdleLanes } from "../kernel/context.ts";
import { hasAliases } from "../crawls/frontier.ts";
import { type Place, placesOf, shardPlace, streamsOf } from "../lanes/places.ts";
import type { CounterDeltas } from "./counter-deltas.ts";

/** How many may be added: of a run's pages, and of what only serves to find them. */
export interface Room {
  pages: number;
  auxiliary: number;
}

const ENDLESS: Room = { pages: Number.POSITIVE_INFINITY, auxiliary: Number.POSITIVE_INFINITY };

/** Adds what is not there yet, as much as there is room for, with its lanes; what counts it is left to the tally. */
export function insertTasks(
  context: Context,
  run: number,
  tasks: readonly NewTask[],
  hashes: readonly Uint8Array[],
  tally: CounterDeltas,
  now: number,
  room: Room = ENDLESS,
): { added: Room; lanes: string[]; leftOut: { pages: boolean; auxiliary: boolean } } {
  const { connection } = context;
  const { dialect } = connection;
  const isOther = hasAliases(context, run) ? dialect.aliasesAmong(connection, run, hashes) : () => false;
  const isThere = dialect.tasksAmong(connection, hashes);
  const streams = new Map<string, Target>();
  const chosen: NewRow[] = [];
  const leftOut = { pages: false, auxiliary: false };
  const places = room === ENDLESS ? null : new Places(room);
  for (const [index, task] of tasks.entries()) {
    const hash = hashes[index] as Uint8Array;
    if (isOther(hash)) continue;
    const kind = task.auxiliary === true ? "auxiliary" : "pages";
    // Where there is no end to the room, adding it shows whether it is there.
    if (places !== null) {
      if (isThere(hash)) continue;
      if (!places.take(kind, hash)) {
        leftOut[kind] = true;
        continue;
      }
    }
    const name = `${kind}\0${task.lane}\0${task.resolver ?? ""}\0${task.site ?? ""}`;
    let target = streams.get(name);
    if (target === undefined) {
      // What is there already must not make a site known by another address.
      if (places === null && isThere(hash)) continue;
      target = { task, kind, lane: 0, laneName: "", stream: 0, added: 0 };
      streams.set(name, target);
    }
    chosen.push({ target, hash, task });
  }
  const targets = findStreams(context, run, [...streams.values()], chosen, now);
  const added = add(context, run, chosen, now);
  const grown = targets.filter((target) => target.added > 0);
  for (const target of grown) tally.add(target.stream, "queued", target.added);
  stampIdleLanes(
    context,
    grown.map(({ lane }) => lane),
  );
  return { added, lanes: [...new Set(grown.map((target) => target.laneName))], leftOut };
}

interface Target {
  /** One of those that go there. */
  task: NewTask;
  kind: keyof Room;
  lane: number;
  laneName: string;
  stream: number;
  added: number;
}

/** Gives targets their lanes and streams. Those of a divided site are one for each shard: returns them all. */
function findStreams(
  context: Context,
  run: number,
  wanted: readonly Target[],
  chosen: readonly NewRow[],
  now: number,
): Target[] {
  const places = placesOf(
    context,
    wanted.map(({ task }) => task),
    now,
  );
  const placed = new Map(wanted.map((target, index) => [target, places[index] as Place]));
  if (places.some(({ shardCount }) => shardCount > 1)) dealOut(context, placed, chosen);
  const targets = [...placed];
  const ids = streamsOf(
    context,
    run,
    targets.map(([{ task }, place]) => ({ ...place, resolver: task.resolver, auxiliary: task.auxiliary })),
  );
  return targets.map(([target, { lane, laneName }], index) =>
    Object.assign(target, { lane, laneName, stream: ids[index] as number }),
  );
}

/** Puts a target for each shard into the place of those whose sites are divided. */
function dealOut(context: Context, placed: Map<Target, Place>, chosen: readonly NewRow[]): void {
  const shards = new Map<Target, Map<number, Target>>();
  for (const row of chosen) {
    const whole = row.target;
    const place = placed.get(whole) as Place;
    if (place.shardCount === 1) continue;
    const shard = shardOfKey(row.hash, place.shardCount);
    const own = shards.get(whole) ?? new Map<number, Target>();
    shards.set(whole, own);
    let target = own.get(shard);
    if (target === undefined) {
      own.set(shard, (target = { ...whole }));
      placed.set(target, shardPlace(context, place, row.hash));
    }
    row.target = target;
  }
  for (const whole of shards.keys()) placed.delete(whole);
}

interface NewRow {
  target: Target;
  hash: Uint8Array;
  task: NewTask;
}

/** The room that is left; what comes twice takes one place. */
class Places {
  readonly #left: Room;
  readonly #taken = new Set<string>();

  constructor(room: Room) {
    this.#left = { ...room };
  }

  take(kind: keyof Room, hash: Uint8Array): boolean {
    const name = Buffer.from(hash).toString("latin1");
    if (this.#taken.has(name)) return true;
    if (this.#left[kind] <= 0) return false;
    this.#left[kind] -= 1;
    this.#taken.add(name);
    return true;
  }
}

function add({ connection }: Context, run: number, chosen: readonly NewRow[], now: number): Room {
  const added: Room = { pages: 0, auxiliary: 0 };
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
