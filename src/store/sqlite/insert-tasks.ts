import type { NewTask } from "../port.ts";
import type { Connection } from "./connection.ts";
import { changeCounters, type Context, stampIdleLane, STATE, toJson } from "./context.ts";

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

export function streamId({ connection }: Context, run: number, lane: number, resolver: string | null): number {
  const found = connection
    .sql("SELECT id FROM streams WHERE run = ? AND lane = ? AND resolver = ?")
    .get(run, lane, resolver ?? "") as { id: number } | undefined;
  return (
    found?.id ??
    (
      connection
        .sql("INSERT INTO streams (run, lane, resolver) VALUES (?, ?, ?) RETURNING id")
        .get(run, lane, resolver ?? "") as { id: number }
    ).id
  );
}

const INSERT_TASK = `INSERT INTO tasks (stream, state, priority, created_at, key_hash, key, url, handler, payload)
  VALUES (?, ${STATE.queued}, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key_hash) DO NOTHING`;

function isKnown(connection: Connection, hash: Uint8Array): boolean {
  return connection.sql("SELECT 1 FROM tasks WHERE key_hash = ?").get(hash) !== undefined;
}

/** Adds what is not there yet, at most `room` of it, with counters and lanes. Within a transaction of the caller's. */
export function insertTasks(
  context: Context,
  run: number,
  tasks: readonly NewTask[],
  hashes: readonly Uint8Array[],
  now: number,
  room: number = Number.POSITIVE_INFINITY,
): { added: number; lanes: string[]; leftOut: boolean } {
  const { connection } = context;
  const streams = new Map<string, { stream: number; lane: number; laneName: string; added: number }>();
  const insert = connection.sql(INSERT_TASK);
  let added = 0;
  let leftOut = false;
  for (const [index, task] of tasks.entries()) {
    if (added >= room) {
      leftOut ||= !isKnown(connection, hashes[index] as Uint8Array);
      if (leftOut) break;
      continue;
    }
    // A lane may hold several sites; each of them must become known.
    const name = `${task.lane}\0${task.resolver ?? ""}\0${task.site ?? ""}`;
    let target = streams.get(name);
    if (target === undefined) {
      // What is there already must not make a site known by another address.
      if (isKnown(connection, hashes[index] as Uint8Array)) continue;
      const lane = laneId(context, task.lane, task.site);
      target = { stream: streamId(context, run, lane, task.resolver), lane, laneName: task.lane, added: 0 };
      streams.set(name, target);
    }
    const { changes } = insert.run(
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
      added += 1;
    }
  }
  const grown = [...streams.values()].filter((target) => target.added > 0);
  for (const target of grown) {
    changeCounters(context, target.stream, { queued: target.added });
    stampIdleLane(context, target.lane);
  }
  return { added, lanes: [...new Set(grown.map((target) => target.laneName))], leftOut };
}
