import { hash } from "node:crypto";
import { OrbError } from "../../../base/errors.ts";
import type { EventLevel, EventType } from "../../../domain/run/event-catalogue.ts";
import { decodeId, encodeId } from "../../../domain/run/ids.ts";
import type { RunFacts } from "../../../domain/run/run-facts.ts";
import { TASK_STATES, type TaskState } from "../../../domain/run/states.ts";
import type { Collector, Connection, ForEach, Value } from "./connection.ts";

/** The environment of every store method. */
export interface Context {
  connection: Connection;
  instance: string;
  /** One process at a time may own lanes. */
  singleEngine: boolean;
  /** The lease clock, in milliseconds. */
  leaseNow(): number;
  /** The wall clock, only for the audit and work scans: other methods take the time as an argument. */
  wallNow(): number;
}

/** The order of what transactions write at their end; see `Connection.atEnd`. */
export const RANK = {
  orphanedFiles: 0,
  budgets: 1,
  sites: 2,
  siteCounts: 3,
  lanes: 4,
  throughput: 5,
  events: 6,
  proxies: 7,
  control: 8,
  trackedPages: 9,
} as const;

/** The query determines the type of its rows. */
export function rows<T>(list: unknown[]): T[] {
  return list as T[];
}

export const STATE = Object.fromEntries(TASK_STATES.map((name, index) => [name, index])) as Record<TaskState, number>;

export function parseJson<T>(text: string | null | undefined, fallback: T): T {
  return text === null || text === undefined ? fallback : (JSON.parse(text) as T);
}

/** JSON for storage; null and undefined become NULL. */
export function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

/** An unknown cursor: silently starting over would make the reader loop. */
export function badPosition(id: string, what: string, path = "after"): OrbError {
  return new OrbError("input_invalid", `${id} is not the id of ${what}`, {
    hint: "Omit this parameter to start from the beginning.",
    fields: [{ path, message: `is not the id of ${what}` }],
  });
}

/** The number and id for the next row, within a transaction; never used before. */
export function nextRow({ connection, instance }: Context, kind: "job" | "session"): { n: number; id: string } {
  const n = connection.dialect.nextNumber(connection, `${kind}s`);
  return { n, id: encodeId(instance, kind, n) };
}

/** The cursor position in a list that is newest first. The row itself may be gone. */
export function positionOf(
  { instance }: Context,
  kind: "job" | "session" | "alert" | "proxy" | "delivery",
  after: string | undefined,
): number {
  if (after === undefined) return Number.MAX_SAFE_INTEGER;
  const n = decodeId(instance, kind, after);
  if (n === null) throw badPosition(after, `a ${kind}`);
  return n;
}

export function keyHash(runId: string, key: string): Uint8Array {
  return hash("sha256", `${runId}\0${key}`, "buffer").subarray(0, 16);
}

/** Notifies all processes that something they act on has changed. */
export function bumpControl({ connection }: Context): void {
  connection.atEnd(CONTROL, null);
}

const CONTROL: Collector<null> = {
  rank: RANK.control,
  write: (connection) => void connection.sql("UPDATE control SET version = version + 1").run(),
};

/**
 * A queued crawl waits for admission and a queued workflow for its start; others start with their first task. A held
 * run waits in any state.
 */
export const RUN_MAY_WORK =
  "(r.hold IS NULL AND (r.status = 'running' OR (r.status = 'queued' AND r.kind <> 'crawl' AND r.kind <> 'workflow')))";

/** `ready_at` of a task that no time wakes: the maximum of a Date. */
export const NEVER = 8_640_000_000_000_000;

/** Pages in flight plus counted pages stay within the crawl's limit. */
export const HAS_QUOTA =
  "(s.auxiliary = 1 OR r.pages_limit IS NULL OR r.pages_counted + r.pages_in_flight < r.pages_limit)";

interface NewEvent {
  run: number;
  type: EventType;
  level: EventLevel;
  message: string;
  meta?: unknown;
  terminal?: boolean;
  at: number;
}

export function appendEvent(
  { connection }: Context,
  run: number,
  event: { type: EventType; level: EventLevel; message: string; meta?: unknown; terminal?: boolean },
  now: number,
): void {
  connection.atEnd(EVENTS, { ...event, run, at: now });
}

const COUNT_EVENTS: ForEach = {
  text: "UPDATE runs SET last_seq = last_seq + new.added FROM new WHERE runs.n = new.run",
  columns: { added: "bigint", run: "bigint" },
};

const INSERT_EVENT: ForEach = {
  text: `INSERT INTO events (run, seq, generation, terminal, type, level, message, meta, created_at)
    SELECT r.n, r.last_seq - new.later, r.generation, new.terminal, new.type, new.level, new.message, new.meta, new.at
    FROM runs r, new WHERE r.n = new.run ORDER BY new.row_index`,
  columns: {
    run: "bigint",
    later: "bigint",
    terminal: "bigint",
    type: "text",
    level: "text",
    message: "text",
    meta: "text",
    at: "bigint",
  },
};

/**
 * Events get their numbers under a lock that is held until the commit, so that the numbers follow the commits: a reader
 * that has seen an event never finds an earlier one later.
 */
const EVENTS: Collector<NewEvent> = {
  rank: RANK.events,
  write(connection, events) {
    const { dialect } = connection;
    const later = new Map<number, number>();
    const list = events
      .toReversed()
      .map(({ run, terminal, type, level, message, meta, at }): Value[] => {
        const count = later.get(run) ?? 0;
        later.set(run, count + 1);
        return [run, count, terminal === true ? 1 : 0, type, level, message, toJson(meta), at];
      })
      .toReversed();
    const added = [...later].map(([run, count]): Value[] => [count, run]);
    dialect.each(connection, COUNT_EVENTS, added);
    dialect.lockName(connection, "events");
    dialect.each(connection, INSERT_EVENT, list);
  },
};

/** Merges facts of a run key by key. */
export function mergeFacts({ connection }: Context, run: number, facts: RunFacts): void {
  const row = connection.sql("SELECT facts FROM runs WHERE n = ?").get(run) as { facts: string | null };
  const before = parseJson<RunFacts>(row.facts, {});
  const merged = { ...before, ...facts };
  // Several tasks add to this list.
  if (facts.moved_starts !== undefined)
    merged.moved_starts = [...new Set([...(before.moved_starts ?? []), ...facts.moved_starts])];
  connection.sql("UPDATE runs SET facts = ? WHERE n = ?").run(JSON.stringify(merged), run);
}

/** The audit reads from `lease_until` how long an unowned lane has waited; whatever makes work ready refreshes it. */
export function stampIdleLanes({ connection, leaseNow }: Context, lanes: readonly number[]): void {
  if (lanes.length === 0) return;
  const at = leaseNow();
  for (const lane of lanes) connection.atEnd(STAMPS, { at, lane });
}

const STAMPS: Collector<{ at: number; lane: number }> = {
  rank: RANK.lanes,
  write(connection, stamps) {
    const byLane = new Map(stamps.map(({ at, lane }) => [lane, at]));
    const list = [...byLane].toSorted(([a], [b]) => a - b).map(([lane, at]): Value[] => [at, lane]);
    connection.dialect.each(connection, connection.dialect.isShared ? STAMP_UNLOCKED : STAMP, list);
  },
};

const STAMP: ForEach = {
  // A lane created in this transaction has its stamp already.
  text: `UPDATE lanes SET lease_until = new.at FROM new
    WHERE lanes.id = new.id AND lanes.owner IS NULL AND lanes.lease_until <> new.at`,
  columns: { at: "double precision", id: "bigint" },
};

/** A lane that another transaction takes at this moment does not wait, so it needs no stamp. */
const STAMP_UNLOCKED: ForEach = {
  text: `${STAMP.text} AND lanes.id IN (SELECT l.id FROM lanes l WHERE l.id = new.id FOR NO KEY UPDATE SKIP LOCKED)`,
  columns: STAMP.columns,
};

export function stampIdleLane(context: Context, lane: number): void {
  stampIdleLanes(context, [lane]);
}

export function stampIdleLanesOfRun(context: Context, run: number): void {
  const { connection, leaseNow } = context;
  const idle = "owner IS NULL AND id IN (SELECT lane FROM streams WHERE run = ?)";
  if (connection.dialect.isShared) {
    const lanes = rows<{ id: number }>(connection.sql(`SELECT id FROM lanes WHERE ${idle}`).all(run));
    stampIdleLanes(
      context,
      lanes.map(({ id }) => id),
    );
  } else connection.sql(`UPDATE lanes SET lease_until = ? WHERE ${idle}`).run(leaseNow(), run);
}
