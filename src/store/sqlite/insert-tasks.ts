import type { NewTask } from "../port.ts";
import type { Connection } from "./connection.ts";
import { type Context, stampIdleLane, STATE, toJson } from "./context.ts";
import { changeCounters } from "./counters.ts";
import { hasAliases } from "./frontier.ts";

/** Finds or makes the lane; a lane that gets its first work is stamped, so that the audit can tell how long it waits. */
export function laneId({ connection, leaseNow }: Context, lane: string, site: string | null): number {
  const found = connection.sql("SELECT id FROM lanes WHERE lane = ?").get(lane) as { id: number } | undefined;
  const id =
    found?.id ??
    (
      connection.sql("INSERT INTO lanes (lane, lease_until) VALUES (?, ?) RETURNING id").get(lane, leaseNow()) as {
        id: number;
      }
    ).id;
  if (site !== null)
    connection.sql("INSERT INTO sites (site, lane) VALUES (?, ?) ON CONFLICT DO NOTHING").run(site, id);
  return id;
}

export function streamId(
  { connection }: Context,
  run: number,
  lane: number,
  { resolver, aside = false }: Pick<NewTask, "resolver" | "aside">,
): number {
  const found = connection
    .sql("SELECT id FROM streams WHERE run = ? AND lane = ? AND resolver = ? AND aside = ?")
    .get(run, lane, resolver ?? "", Number(aside)) as { id: number } | undefined;
  return (
    found?.id ??
    (
      connection
        .sql("INSERT INTO streams (run, lane, resolver, aside) VALUES (?, ?, ?, ?) RETURNING id")
        .get(run, lane, resolver ?? "", Number(aside)) as { id: number }
    ).id
  );
}

const INSERT_TASK = `INSERT INTO tasks (stream, state, priority, created_at, key_hash, key, url, handler, payload)
  VALUES (?, ${STATE.queued}, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key_hash) DO NOTHING`;

export function isKnown(connection: Connection, hash: Uint8Array): boolean {
  return connection.sql("SELECT 1 FROM tasks WHERE key_hash = ?").get(hash) !== undefined;
}

function isAlias(connection: Connection, run: number, hash: Uint8Array): boolean {
  return connection.sql("SELECT 1 FROM aliases WHERE run = ? AND key_hash = ?").get(run, hash) !== undefined;
}

/** How many may be added: of a run's pages, and of what only serves to find them. */
export interface Room {
  pages: number;
  aside: number;
}

const ENDLESS: Room = { pages: Number.POSITIVE_INFINITY, aside: Number.POSITIVE_INFINITY };

/** Adds what is not there yet, as much as there is room for, with counters and lanes. Within a transaction of the caller's. */
export function insertTasks(
  context: Context,
  run: number,
  tasks: readonly NewTask[],
  hashes: readonly Uint8Array[],
  now: number,
  room: Room = ENDLESS,
): { added: Room; lanes: string[]; leftOut: { pages: boolean; aside: boolean } } {
  const { connection } = context;
  const streams = new Map<string, { stream: number; lane: number; laneName: string; added: number }>();
  const insert = connection.sql(INSERT_TASK);
  const aliases = hasAliases(context, run);
  const added: Room = { pages: 0, aside: 0 };
  const leftOut = { pages: false, aside: false };
  const ids: number[] = [];
  for (const [index, task] of tasks.entries()) {
    if (aliases && isAlias(connection, run, hashes[index] as Uint8Array)) continue;
    const kind = task.aside === true ? "aside" : "pages";
    if (added[kind] >= room[kind]) {
      leftOut[kind] ||= !isKnown(connection, hashes[index] as Uint8Array);
      continue;
    }
    // A lane may hold several sites; each of them must become known.
    const name = `${kind}\0${task.lane}\0${task.resolver ?? ""}\0${task.site ?? ""}`;
    let target = streams.get(name);
    if (target === undefined) {
      // What is there already must not make a site known by another address.
      if (isKnown(connection, hashes[index] as Uint8Array)) continue;
      const lane = laneId(context, task.lane, task.site);
      target = { stream: streamId(context, run, lane, task), lane, laneName: task.lane, added: 0 };
      streams.set(name, target);
    }
    const { changes, lastInsertRowid } = insert.run(
      target.stream,
      task.priority,
      now,
      hashes[index] as Uint8Array,
      task.key,
      task.url,
      task.handler,
      toJson(task.payload),
    );
    if (changes === 1) {
      target.added += 1;
      added[kind] += 1;
      ids.push(Number(lastInsertRowid));
    }
  }
  if (ids.length > 0)
    connection
      .sql("UPDATE runs SET first_task = coalesce(first_task, ?), last_task = ? WHERE n = ?")
      .run(ids[0]!, ids.at(-1)!, run);
  const grown = [...streams.values()].filter((target) => target.added > 0);
  for (const target of grown) {
    changeCounters(context, target.stream, { queued: target.added });
    stampIdleLane(context, target.lane);
  }
  return { added, lanes: [...new Set(grown.map((target) => target.laneName))], leftOut };
}
