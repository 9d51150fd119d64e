/** The registry of worker processes. */
import { OrbError } from "../../../base/errors.ts";
import type { NewWorker, WorkerHeartbeat, WorkerRecord, WorkerState, WorkerRequests } from "../../ports/worker-port.ts";
import { type Context, parseJson, rows } from "../kernel/context.ts";
import { dropExpiredOwners, hasExpiredOwners } from "../lanes/owners.ts";

interface WorkerRow {
  id: string;
  machine: string;
  boot: string;
  pid: number;
  pid_start: string;
  version: string;
  command: string;
  max_workers: number;
  heartbeat_ms: number;
  state: WorkerState;
  state_now?: WorkerState;
  heartbeat: string | null;
  drain_requested: number;
  started_at: number;
  heartbeat_at: number;
  stopped_at: number | null;
}

const MISSED_HEARTBEATS = 3;
const MIN_SILENCE_MS = 10_000;

/** A monotonic time in the future is from before a reboot. */
const IS_SILENT = `state IN ('working', 'draining', 'drained')
  AND (heartbeat_lease_at > ?1 OR ?1 - heartbeat_lease_at > max(${MIN_SILENCE_MS}, ${MISSED_HEARTBEATS} * heartbeat_ms))`;

/** Readers see lost workers even if no process is left to mark them. */
const READ = `SELECT *, CASE WHEN ${IS_SILENT} THEN 'lost' ELSE state END AS state_now FROM workers`;

/** Before the first heartbeat. */
const NO_HEARTBEAT: WorkerHeartbeat = {
  role: "standby",
  engine: "embedded",
  inFlight: 0,
  completed: 0,
  failed: 0,
  tasksPerSecond: 0,
  memoryBytes: 0,
  paused: null,
  troubles: [],
  attempts: [],
  active: [],
};

function toRecord(row: WorkerRow): WorkerRecord {
  const heartbeat = parseJson<WorkerHeartbeat>(row.heartbeat, NO_HEARTBEAT);
  return {
    ...heartbeat,
    // For a lost worker, the last heartbeat is all that is known.
    ...(row.state === "stopped" ? { role: "stopped", inFlight: 0, tasksPerSecond: 0, active: [] } : {}),
    id: row.id,
    machine: row.machine,
    identity: { boot: row.boot, pid: row.pid, pidStart: row.pid_start },
    version: row.version,
    command: row.command,
    maxWorkers: row.max_workers,
    heartbeatMs: row.heartbeat_ms,
    state: row.state_now ?? row.state,
    drainRequested: row.drain_requested === 1,
    startedAt: row.started_at,
    heartbeatAt: row.heartbeat_at,
    stoppedAt: row.stopped_at,
  };
}

export function registerWorker(context: Context, worker: NewWorker, now: number, keyMark?: string): boolean {
  const { id, machine, identity, version, command, maxWorkers, heartbeatMs } = worker;
  const { connection, leaseNow } = context;
  return connection.write(
    () => {
      if (keyMark !== undefined && !acceptKeyMark(context, keyMark)) return false;
      connection
        .sql(
          `INSERT INTO workers (id, machine, boot, pid, pid_start, version, command, max_workers, heartbeat_ms, state,
             started_at, heartbeat_at, heartbeat_lease_at)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'working', ?10, ?10, ?11)
           ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at, heartbeat_lease_at = excluded.heartbeat_lease_at`,
        )
        .run(
          id,
          machine,
          identity.boot,
          identity.pid,
          identity.pidStart,
          version,
          command,
          maxWorkers,
          heartbeatMs,
          now,
          leaseNow(),
        );
      return true;
    },
    { durable: true },
  );
}

function unknownWorker(id: string): OrbError {
  return new OrbError("not_found", `there is no worker with the id ${id}`, {
    hint: "orb workers lists all workers.",
  });
}

const REQUEST_COLUMNS = "drain_requested, ping > ping_answered AS ping";

function toRequests(row: unknown, id: string): WorkerRequests {
  if (row === undefined) throw unknownWorker(id);
  const { drain_requested: drain, ping } = row as { drain_requested: number; ping: number };
  return { drain: drain === 1, ping: ping === 1 };
}

export function recordHeartbeat(
  { connection, leaseNow }: Context,
  id: string,
  state: WorkerState,
  heartbeat: WorkerHeartbeat,
  now: number,
): WorkerRequests {
  return connection.write(() =>
    toRequests(
      connection
        .sql(
          `UPDATE workers SET state = ?, heartbeat = ?, heartbeat_at = ?, heartbeat_lease_at = ?, stopped_at = NULL, ping_answered = ping
           WHERE id = ?
           RETURNING ${REQUEST_COLUMNS}`,
        )
        .get(state, JSON.stringify(heartbeat), now, leaseNow(), id),
      id,
    ),
  );
}

export function workerRequests({ connection }: Context, id: string): WorkerRequests {
  return toRequests(connection.sql(`SELECT ${REQUEST_COLUMNS} FROM workers WHERE id = ?`).get(id), id);
}

export function workerStopped({ connection }: Context, id: string, now: number): void {
  connection.write(() =>
    connection
      .sql("UPDATE workers SET state = 'stopped', heartbeat_at = ?1, stopped_at = ?1 WHERE id = ?2")
      .run(now, id),
  );
}

export function readWorkers(
  { connection, leaseNow }: Context,
  filter: { live?: boolean; limit: number },
): WorkerRecord[] {
  const list = connection
    .sql(`${READ} WHERE (?2 = 0 OR state <> 'stopped') ORDER BY n DESC LIMIT ?3`)
    .all(leaseNow(), Number(filter.live ?? false), filter.limit);
  return rows<WorkerRow>(list).map(toRecord);
}

export function readWorker({ connection, leaseNow }: Context, id: string): WorkerRecord | null {
  const row = connection.sql(`${READ} WHERE id = ?2`).get(leaseNow(), id) as WorkerRow | undefined;
  return row === undefined ? null : toRecord(row);
}

/** A stopped worker receives no requests. */
function requireListening(context: Context, id: string): WorkerRecord {
  const worker = readWorker(context, id);
  if (worker === null) throw unknownWorker(id);
  if (worker.state !== "stopped") return worker;
  throw new OrbError("illegal_transition", `worker ${id} has stopped and cannot be drained or resumed`, {
    hint: "orb workers lists all workers.",
  });
}

export function askDrain(context: Context, id: string, drain: boolean): WorkerRecord {
  return context.connection.write(
    () => {
      requireListening(context, id);
      context.connection.sql("UPDATE workers SET drain_requested = ? WHERE id = ?").run(Number(drain), id);
      return readWorker(context, id) as WorkerRecord;
    },
    { durable: true },
  );
}

/** One answer serves all concurrent pings. */
export function askPing(context: Context, id: string): number {
  return context.connection.write(() => {
    requireListening(context, id);
    const row = context.connection.sql("UPDATE workers SET ping = ping + 1 WHERE id = ? RETURNING ping").get(id);
    return (row as { ping: number }).ping;
  });
}

/** An answer counts as a heartbeat. */
export function answerPings({ connection, leaseNow }: Context, id: string, now: number): void {
  connection.write(() =>
    connection
      .sql("UPDATE workers SET ping_answered = ping, heartbeat_at = ?, heartbeat_lease_at = ? WHERE id = ?")
      .run(now, leaseNow(), id),
  );
}

export function pingAnswered({ connection }: Context, id: string, ping: number): boolean {
  return connection.sql("SELECT 1 FROM workers WHERE id = ? AND ping_answered >= ?").get(id, ping) !== undefined;
}

export function loseWorkers(context: Context, now: number): WorkerRecord[] {
  const { connection, leaseNow } = context;
  if (hasExpiredOwners(context)) connection.write(() => dropExpiredOwners(context));
  // Usually none is lost, and then nothing is written.
  if (connection.sql(`SELECT 1 FROM workers WHERE ${IS_SILENT} LIMIT 1`).get(leaseNow()) === undefined) return [];
  return connection.write(
    () =>
      rows<WorkerRow>(
        connection
          .sql(`UPDATE workers SET state = 'lost', stopped_at = ?2 WHERE ${IS_SILENT} RETURNING *`)
          .all(leaseNow(), now),
      ).map(toRecord),
    { durable: true },
  );
}

export function forgetWorkers({ connection }: Context, before: number): number {
  return Number(
    connection.write(() =>
      connection.sql("DELETE FROM workers WHERE state IN ('stopped', 'lost') AND stopped_at < ?").run(before),
    ).changes,
  );
}

export function agreeOnKey(context: Context, mark: string): boolean {
  if (keyMarkOf(context) === mark) return true;
  return context.connection.write(() => acceptKeyMark(context, mark), { durable: true });
}

function keyMarkOf({ connection }: Context): string | undefined {
  const row = connection.sql("SELECT value FROM meta WHERE name = 'key_mark'").get();
  return (row as { value: string } | undefined)?.value;
}

/** Within a transaction. */
function acceptKeyMark(context: Context, mark: string): boolean {
  const { connection, leaseNow } = context;
  const currentMark = keyMarkOf(context);
  if (currentMark === mark) return true;
  const liveWorker = `SELECT 1 FROM workers WHERE state IN ('working', 'draining', 'drained') AND NOT (${IS_SILENT}) LIMIT 1`;
  if (currentMark !== undefined && connection.sql(liveWorker).get(leaseNow()) !== undefined) return false;
  const text =
    "INSERT INTO meta (name, value) VALUES ('key_mark', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
  connection.sql(text).run(mark);
  return true;
}
