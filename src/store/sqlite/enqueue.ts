import { TERMINAL_RUN_STATES } from "../../domain/states.ts";
import type { Made, Once } from "../job-records.ts";
import type { Enqueued, NewRun, NewTask, Requeued, RunRecord } from "../port.ts";
import {
  bumpControl,
  changeCounters,
  type Context,
  keyHash,
  reopenRun,
  rows,
  stampIdleLane,
  STATE,
  toJson,
} from "./context.ts";
import { makeOnce } from "./once.ts";
import { insertRun, requireRun } from "./runs.ts";

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

export function enqueue(context: Context, runId: string, tasks: readonly NewTask[], now: number): Enqueued {
  // Hashing happens before the lock is taken: other writers wait only for the inserts.
  const hashes = tasks.map((task) => keyHash(runId, task.key));
  return context.connection.write(
    () => {
      const run = requireRun(context, runId);
      const { added, lanes } = insertTasks(context, run.n, tasks, hashes, now);
      const reopened = added > 0 && TERMINAL_RUN_STATES.includes(run.status);
      if (reopened) reopenRun(context, run.n, `Run reopened: ${added} added`, now);
      return { added, existing: tasks.length - added, lanes, reopened };
    },
    { durable: true },
  );
}

/** A run and its first tasks appear together, or not at all. */
export function startRun(
  context: Context,
  run: NewRun,
  tasks: readonly NewTask[],
  now: number,
  once?: Once,
): Promise<Made<RunRecord>> {
  return makeOnce(context, once, now, () => insertRunWithTasks(context, run, tasks, now));
}

/** Within a transaction of the caller's. */
export function insertRunWithTasks(
  context: Context,
  run: NewRun,
  tasks: readonly NewTask[],
  now: number,
): { made: RunRecord; lanes: string[] } {
  const made = insertRun(context, run, now);
  const hashes = tasks.map((task) => keyHash(made.id, task.key));
  const { lanes } = insertTasks(context, requireRun(context, made.id).n, tasks, hashes, now);
  return { made, lanes };
}

function insertTasks(
  context: Context,
  run: number,
  tasks: readonly NewTask[],
  hashes: readonly Uint8Array[],
  now: number,
): { added: number; lanes: string[] } {
  const { connection } = context;
  const streams = new Map<string, { stream: number; lane: number; laneName: string; added: number }>();
  const insert = connection.sql(INSERT_TASK);
  let added = 0;
  for (const [index, task] of tasks.entries()) {
    // A lane may hold several sites; each of them must become known.
    const name = `${task.lane}\0${task.resolver ?? ""}\0${task.site ?? ""}`;
    let target = streams.get(name);
    if (target === undefined) {
      // What is there already must not make a site known by another address.
      if (connection.sql("SELECT 1 FROM tasks WHERE key_hash = ?").get(hashes[index] as Uint8Array) !== undefined)
        continue;
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
  return { added, lanes: [...new Set(grown.map((target) => target.laneName))] };
}

export function retryFailed(
  context: Context,
  runId: string,
  options: { lane?: string; limit: number },
  now: number,
): Requeued {
  const { connection } = context;
  return connection.write(
    () => {
      const run = requireRun(context, runId);
      const streams = rows<{ id: number; lane: number; name: string }>(
        connection
          .sql(
            `SELECT s.id, s.lane, l.lane AS name FROM streams s JOIN lanes l ON l.id = s.lane
             WHERE s.run = ? AND s.failed > 0 AND (? IS NULL OR l.lane = ?)`,
          )
          .all(run.n, options.lane ?? null, options.lane ?? null),
      );
      let requeued = 0;
      const lanes = new Set<string>();
      for (const stream of streams) {
        const { changes } = connection
          .sql(
            `UPDATE tasks SET state = ${STATE.queued}, tries = 0, waits = 0, ready_at = 0, ended_at = NULL WHERE id IN
             (SELECT id FROM tasks WHERE stream = ? AND state = ${STATE.failed} ORDER BY id LIMIT ?)`,
          )
          .run(stream.id, options.limit - requeued);
        const moved = Number(changes);
        if (moved === 0) continue;
        changeCounters(context, stream.id, { failed: -moved, queued: moved });
        stampIdleLane(context, stream.lane);
        // Whoever asks for another try also asks for it at a site that was given up: it gets its probes anew.
        connection.sql("UPDATE sites SET breaker_failed_probes = 0 WHERE lane = ?").run(stream.lane);
        requeued += moved;
        lanes.add(stream.name);
        if (requeued >= options.limit) break;
      }
      if (requeued > 0) {
        if (TERMINAL_RUN_STATES.includes(run.status)) {
          reopenRun(context, run.n, `Run reopened: ${requeued} failed tasks tried again`, now);
        }
        bumpControl(context);
      }
      return { requeued, lanes: [...lanes] };
    },
    { durable: true },
  );
}
