import type { NewTask } from "../port.ts";
import type { Connection } from "./connection.ts";
import { type Context, stampIdleLane, STATE, toJson } from "./context.ts";
import { changeCounters } from "./counters.ts";
import { hasAliases } from "./frontier.ts";

/** Finds or makes the lane; a lane that gets its first work is stamped, so that the audit can tell how long it waits. */
export function laneId({ connection, leaseNow }: Context, lane: string): number {
  const found = connection.sql("SELECT id FROM lanes WHERE lane = ?").get(lane) as { id: number } | undefined;
  if (found !== undefined) return found.id;
  const made = connection.sql("INSERT INTO lanes (lane, lease_until) VALUES (?, ?) RETURNING id").get(lane, leaseNow());
  return (made as { id: number }).id;
}

/** Where work is done: a lane, and the site that is asked; '' is none. */
export interface Place {
  lane: number;
  laneName: string;
  site: string;
}

/** The place of a task. A site is in the lane that it was put in, whatever the task says; one that is new goes where it says. */
export function placeOf(context: Context, lane: string, site: string | null, now: number): Place {
  if (site === null) return { lane: laneId(context, lane), laneName: lane, site: "" };
  const { connection } = context;
  const known = connection
    .sql("SELECT p.lane, l.lane AS name, p.first_seen_at FROM sites p JOIN lanes l ON l.id = p.lane WHERE p.site = ?")
    .get(site) as { lane: number; name: string; first_seen_at: number | null } | undefined;
  if (known !== undefined) {
    if (known.first_seen_at === null)
      connection.sql("UPDATE sites SET first_seen_at = ? WHERE site = ?").run(now, site);
    return { lane: known.lane, laneName: known.name, site };
  }
  return { lane: insertSite(context, site, lane, now), laneName: lane, site };
}

/** Returns its lane. */
export function insertSite(context: Context, site: string, lane: string, firstSeenAt: number | null): number {
  const { connection } = context;
  const id = laneId(context, lane);
  connection.sql("INSERT INTO sites (site, lane, first_seen_at) VALUES (?, ?, ?)").run(site, id, firstSeenAt);
  connection.sql("INSERT INTO site_counts (site) VALUES (?)").run(site);
  return id;
}

/** What a run has at a site had its lane when it had work there last: it goes along when it gets some again. */
export function streamId(
  { connection }: Context,
  run: number,
  { lane, site }: Pick<Place, "lane" | "site">,
  { resolver, aside = false }: Pick<NewTask, "resolver" | "aside">,
): number {
  const found = connection
    .sql(
      // A run may have any number of lanes without a site.
      `SELECT id, lane FROM streams WHERE run = ?1 AND site = ?2 AND resolver = ?3 AND aside = ?4 ${site === "" ? "AND lane = ?5" : ""}`,
    )
    .get(run, site, resolver ?? "", Number(aside), ...(site === "" ? [lane] : [])) as
    | { id: number; lane: number }
    | undefined;
  if (found === undefined) {
    const made = connection
      .sql("INSERT INTO streams (run, lane, site, resolver, aside) VALUES (?, ?, ?, ?, ?) RETURNING id")
      .get(run, lane, site, resolver ?? "", Number(aside));
    return (made as { id: number }).id;
  }
  if (found.lane !== lane) connection.sql("UPDATE streams SET lane = ? WHERE id = ?").run(lane, found.id);
  return found.id;
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
  const streams = new Map<string, Place & { stream: number; added: number }>();
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
    const name = `${kind}\0${task.lane}\0${task.resolver ?? ""}\0${task.site ?? ""}`;
    let target = streams.get(name);
    if (target === undefined) {
      // What is there already must not make a site known by another address.
      if (isKnown(connection, hashes[index] as Uint8Array)) continue;
      const place = placeOf(context, task.lane, task.site, now);
      target = { ...place, stream: streamId(context, run, place, task), added: 0 };
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
