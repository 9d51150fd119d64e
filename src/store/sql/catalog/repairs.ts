/** Proposals that repair the rules of a job after its pages changed. */
import { type Actor, currentCaller } from "../../../domain/access/caller.ts";
import { actingAs, logChange } from "../kernel/audit-entry.ts";
import { OrbError } from "../../../base/errors.ts";
import { isoOf } from "../../../base/iso.ts";
import type { RepairProposal, RepairState } from "../../../domain/health/repair.ts";
import { decodeId } from "../../../domain/run/ids.ts";
import type { AlertRecord, NewAlert } from "../../ports/alert-port.ts";
import type { NewRepair, RepairEffect, RepairRecord, RepairStore, RereadRun } from "../../ports/repair-port.ts";
import { appendEvent, type Context, parseJson, rows, toJson } from "../kernel/context.ts";
import type { ForEach } from "../kernel/connection.ts";
import { dropPagesOf } from "../runs/retention.ts";
import { readRunPages } from "../runs/run-pages.ts";
import { INSERT_RESULT } from "../tasks/write-outputs.ts";
import { insertAlerts } from "./alerts.ts";
import { keepVersion, newestVersion } from "./job-versions.ts";

interface RepairRow {
  number: number;
  run: number;
  run_id: string;
  made_at: number;
  version: number;
  state: RepairState;
  decided_at: number | null;
  decided_by: string | null;
  proposal: string;
}

interface JobRow {
  n: number;
  id: string;
  name: string | null;
}

export function repairStore(context: Context): RepairStore {
  return {
    runPages: async (runId, options) => readRunPages(context, runId, options),
    repairsDue: async (limit) => repairsDue(context, limit),
    async repair(jobId) {
      const row = repairRow(context, jobId);
      return row === undefined ? null : toRecord(row);
    },
    recordRepair: async (jobId, repair, options, now) => recordRepair(context, jobId, repair, options, now),
    acceptRepair: async (jobId, number, effect, now) => acceptRepair(context, jobId, number, effect, now),
    rejectRepair: async (jobId, number, now) => rejectRepair(context, jobId, number, now),
  };
}

const toRecord = (row: RepairRow): RepairRecord => ({
  number: row.number,
  runId: row.run_id,
  version: row.version,
  state: row.state,
  madeAt: row.made_at,
  decidedAt: row.decided_at,
  decidedBy: parseJson<Actor | null>(row.decided_by, null),
  proposal: JSON.parse(row.proposal) as RepairProposal,
});

function repairRow({ connection }: Context, jobId: string): RepairRow | undefined {
  return connection.sql("SELECT p.* FROM jobs j JOIN repairs p ON p.job = j.n WHERE j.id = ?").get(jobId) as
    | RepairRow
    | undefined;
}

function jobRow({ connection }: Context, jobId: string): JobRow | undefined {
  return connection.sql("SELECT n, id, name FROM jobs WHERE id = ?").get(jobId) as JobRow | undefined;
}

/** Worded like the partial index, so that it applies. */
export const REPAIR_IS_DUE = "repair_due = 1";

function repairsDue({ connection }: Context, limit: number): { jobId: string; runId: string }[] {
  const list = connection.sql(
    `SELECT h.job, r.id FROM run_health h JOIN runs r ON r.n = h.run WHERE h.${REPAIR_IS_DUE}
       AND r.removing_at IS NULL AND r.finished_at IS NOT NULL AND r.health_generation = r.generation
       AND NOT EXISTS (SELECT 1 FROM run_health newer WHERE newer.job = h.job AND newer.run > h.run)
     ORDER BY h.run DESC LIMIT ?`,
  );
  return rows<{ job: string; id: string }>(list.all(limit)).map(({ job, id }) => ({ jobId: job, runId: id }));
}

function recordRepair(
  context: Context,
  jobId: string,
  repair: NewRepair,
  { deliver, effect }: { deliver?: boolean; effect?: RepairEffect },
  now: number,
): { repair: RepairRecord; alert: AlertRecord | null } | null {
  const { connection } = context;
  return connection.write(
    () => {
      const job = jobRow(context, jobId);
      const run = connection
        .sql("SELECT n FROM runs WHERE id = ? AND job = ? AND removing_at IS NULL")
        .get(repair.runId, jobId) as { n: number } | undefined;
      if (job === undefined || run === undefined || newestVersion(context, job.n) !== repair.version) return null;
      if (!isWanted(context, jobId, run.n, repair)) return null;
      if (effect?.reread !== null && effect !== undefined && !isAsRead(context, run.n, effect.reread)) return null;
      const before = repairRow(context, jobId);
      // What a person has seen already is not told again after each run, and what was rejected stays so.
      const isKnown =
        deliver !== undefined &&
        before !== undefined &&
        (effect === undefined || before.state === "rejected") &&
        isRepeated(before, repair);
      const [state, decidedAt, decidedBy] = isKnown
        ? [before.state, before.decided_at, before.decided_by]
        : [repair.state, null, null];
      const row = connection
        .sql(
          `INSERT INTO repairs (job, number, run, run_id, made_at, version, state, decided_at, decided_by, proposal)
           VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (job) DO UPDATE SET number = repairs.number + 1, run = excluded.run, run_id = excluded.run_id,
             made_at = excluded.made_at, version = excluded.version, state = excluded.state, decided_at = excluded.decided_at,
             decided_by = excluded.decided_by, proposal = excluded.proposal
           RETURNING *`,
        )
        .get(
          job.n,
          run.n,
          repair.runId,
          now,
          repair.version,
          state,
          decidedAt,
          decidedBy,
          JSON.stringify(repair.proposal),
        );
      connection
        .sql(`UPDATE run_health SET repair_due = 0 WHERE job = ? AND run <= ? AND ${REPAIR_IS_DUE}`)
        .run(jobId, run.n);
      const stored = row as unknown as RepairRow;
      if (repair.state !== "open" || isKnown) return { repair: toRecord(stored), alert: null };
      if (effect === undefined) proposed(context, job, stored, now);
      const actor = { kind: "repair", id: jobId, name: job.name ?? jobId } as const;
      const after =
        effect === undefined ? stored : actingAs(actor, () => applyAndLog(context, job, stored, effect, now));
      const record = toRecord(after);
      if (deliver === undefined) return { repair: record, alert: null };
      const alert = alertOf(job, after, effect !== undefined);
      return { repair: record, alert: insertAlerts(context, [alert], { deliver }, now)[0] ?? null };
    },
    { durable: true },
  );
}

/** Whether the run is the newest that was compared, and for new rules: is degraded, and nobody has accepted its records. */
function isWanted({ connection }: Context, jobId: string, run: number, { state }: { state: RepairState }): boolean {
  const newest = connection
    .sql("SELECT run, reasons, accepted_at FROM run_health WHERE job = ? ORDER BY run DESC LIMIT 1")
    .get(jobId) as { run: number; reasons: string | null; accepted_at: number | null } | undefined;
  if (newest?.run !== run) return false;
  return state === "abstained" || (newest.reasons !== null && newest.accepted_at === null);
}

/** The same rules for the same version of the job as a proposal that waits, or was rejected. */
function isRepeated(before: RepairRow, { state, version, proposal }: NewRepair): boolean {
  if (state !== "open" || before.version !== version || (before.state !== "open" && before.state !== "rejected"))
    return false;
  const rulesIn = ({ fields }: RepairProposal) =>
    JSON.stringify(fields.map(({ field, new_rule }) => [field, new_rule]));
  return rulesIn(JSON.parse(before.proposal) as RepairProposal) === rulesIn(proposal);
}

const repairedIn = ({ proposal }: RepairRow): string[] =>
  (JSON.parse(proposal) as RepairProposal).fields
    .filter(({ new_rule }) => new_rule !== null)
    .map(({ field }) => field ?? "items");

function proposed(context: Context, job: JobRow, repair: RepairRow, now: number): void {
  const fields = repairedIn(repair);
  const message = `Repair proposed: new rules for ${fields.join(", ")}`;
  appendEvent(
    context,
    repair.run,
    { type: "repair.proposed", level: "info", message, meta: { job_id: job.id, fields } },
    now,
  );
}

/** Values stay in the store: alerts leave it. */
function alertOf(job: JobRow, repair: RepairRow, isAccepted: boolean): NewAlert {
  const fields = repairedIn(repair);
  const what = isAccepted ? "Rules repaired" : "Repair proposed";
  return {
    kind: isAccepted ? "repair_accepted" : "repair_proposed",
    subject: job.id,
    message: `${what}: ${job.name ?? job.id}: ${fields.join(", ")}`,
    detail: {
      event_type: isAccepted ? "repair.accepted" : "repair.proposed",
      job_id: job.id,
      name: job.name,
      run_id: repair.run_id,
      fields,
    },
    key: `repair:${job.id}:${repair.number}`,
  };
}

function openRepair(context: Context, jobId: string, number: number): { job: JobRow; repair: RepairRow } {
  const job = jobRow(context, jobId);
  const repair = repairRow(context, jobId);
  if (job === undefined || repair === undefined)
    throw new OrbError("not_found", `there is no repair proposal of a job with the id ${jobId}`);
  if (repair.number < number)
    throw new OrbError("not_found", `the job has no repair proposal ${number}: the newest is ${repair.number}`, {
      hint: `Read it: orb jobs repair ${jobId}`,
    });
  if (repair.number === number && repair.state === "open") return { job, repair };
  const why = repair.number === number ? `is ${repair.state}` : `was replaced by a newer one, ${repair.number}`;
  throw new OrbError("illegal_transition", `the repair proposal ${why}, so it cannot be decided`, {
    hint: `Read it again: orb jobs repair ${jobId}`,
  });
}

function acceptRepair(
  context: Context,
  jobId: string,
  number: number,
  effect: RepairEffect,
  now: number,
): RepairRecord {
  return context.connection.write(
    () => {
      const { job, repair } = openRepair(context, jobId, number);
      const newest = newestVersion(context, job.n);
      if (newest !== repair.version)
        throw new OrbError(
          "version_conflict",
          `the job was changed since the proposal of ${isoOf(repair.made_at)}: it repairs version ${repair.version}, and the job is at version ${newest}`,
          {
            fields: [{ path: "version", message: `is ${newest} now, the proposal is of ${repair.version}` }],
            hint: `See what changed: orb jobs versions ${jobId} ${newest}. Run the job, then ask for another proposal.`,
          },
        );
      const { reread } = effect;
      if (reread !== null && !(isWanted(context, jobId, repair.run, repair) && isAsRead(context, repair.run, reread)))
        throw new OrbError(
          "version_conflict",
          "the degraded run was continued or accepted, or another run was compared, while its pages were read again",
          { fields: [{ path: "reread", message: "the run is not as it was read" }], hint: "Accept without reread." },
        );
      return toRecord(applyAndLog(context, job, repair, effect, now));
    },
    { durable: true },
  );
}

/** The caller accepts the proposal. */
function applyAndLog(context: Context, job: JobRow, repair: RepairRow, effect: RepairEffect, now: number): RepairRow {
  const accepted = apply(context, job, repair, effect, now);
  logChange(context, "job.repaired", { kind: "job", id: job.id }, { after: { proposal: repair.number } });
  return accepted;
}

/** The whole effect of an accepted proposal, within the caller's transaction. */
function apply(context: Context, job: JobRow, repair: RepairRow, effect: RepairEffect, now: number): RepairRow {
  const { connection } = context;
  connection
    .sql("UPDATE jobs SET recipe = ?, updated_at = ? WHERE n = ?")
    .run(JSON.stringify(effect.recipe), now, job.n);
  keepVersion(context, job.n, { author: "repair" }, now);
  const { reread } = effect;
  connection
    .sql("UPDATE run_health SET rules = ? WHERE job = ? AND rules = ? AND baseline = 1")
    .run(effect.rules.after, job.id, effect.rules.before);
  if (reread !== null) replaceRecords(context, repair.run, { ...reread, rules: effect.rules.after }, now);
  const fields = repairedIn(repair);
  const records = reread === null ? null : reread.tasks.reduce((sum, task) => sum + task.records.length, 0);
  const again =
    reread === null ? "" : `; its ${reread.tasks.length} pages were read again from their copies, nothing was fetched`;
  // The run may have been removed since; its event goes with it.
  appendEvent(
    context,
    repair.run,
    {
      type: "repair.accepted",
      level: "info",
      message: `Repair accepted: new rules for ${fields.join(", ")}${again}`,
      meta: {
        job_id: job.id,
        version: newestVersion(context, job.n),
        fields,
        decided_by: currentCaller()?.actor ?? null,
        ...(reread === null ? {} : { pages: reread.tasks.length, pages_missing: reread.missing, records }),
      },
    },
    now,
  );
  const row = connection
    .sql("UPDATE repairs SET state = 'accepted', decided_at = ?, decided_by = ? WHERE job = ? RETURNING *")
    .get(now, toJson(currentCaller()?.actor), job.n);
  return row as unknown as RepairRow;
}

/** Whether the run is still the one whose pages were read again. */
function isAsRead({ connection }: Context, run: number, { generation }: RereadRun): boolean {
  const found = connection
    .sql(
      `SELECT 1 FROM runs WHERE n = ? AND generation = ? AND health_generation = ? AND finished_at IS NOT NULL
         AND removing_at IS NULL`,
    )
    .get(run, generation, generation);
  return found !== undefined;
}

const DELETE_SURPLUS: ForEach = {
  text: `DELETE FROM results WHERE n IN
    (SELECT r.n FROM results r, new WHERE r.task = new.task AND r.ordinal >= new.count)`,
  columns: { task: "bigint", count: "bigint" },
};

const DELETE_COPY: ForEach = {
  text: "DELETE FROM page_copies WHERE task IN (SELECT new.task FROM new)",
  columns: { task: "bigint" },
};

const REPLACE_RESULT: ForEach = {
  text: `INSERT INTO results (task, ordinal, data, created_at, run)
    SELECT new.task, new.ordinal, new.data, new.created_at, new.run FROM new WHERE true ORDER BY new.row_index
    ON CONFLICT (task, ordinal) DO UPDATE SET data = excluded.data`,
  columns: INSERT_RESULT.columns,
};

function replaceRecords(context: Context, run: number, reread: RereadRun & { rules: string }, now: number): void {
  const { connection, instance } = context;
  const list = reread.tasks.flatMap(({ taskId, records }) => {
    const task = decodeId(instance, "task", taskId);
    return task === null ? [] : [{ task, records }];
  });
  const { dialect } = connection;
  // Records keep their ids, so that cursors stay valid.
  dialect.each(
    connection,
    DELETE_SURPLUS,
    list.map(({ task, records }) => [task, records.length]),
  );
  // A later run must not repeat the records of the old rules.
  dialect.each(
    connection,
    DELETE_COPY,
    list.map(({ task }) => [task]),
  );
  const values = list.flatMap(({ task, records }) =>
    records.map((data, ordinal) => [task, ordinal, JSON.stringify(data ?? null), now, run]),
  );
  dialect.each(connection, REPLACE_RESULT, values);
  connection.sql("UPDATE runs SET snapshot = ? WHERE n = ?").run(JSON.stringify(reread.snapshot), run);
  connection
    .sql("UPDATE run_health SET rules = ?, profile = ?, reasons = NULL, baseline = 1, accepted_at = NULL WHERE run = ?")
    .run(reread.rules, JSON.stringify(reread.profile), run);
  dropPagesOf(context, run);
}

function rejectRepair(context: Context, jobId: string, number: number, now: number): RepairRecord {
  const { connection } = context;
  return connection.write(
    () => {
      const { job } = openRepair(context, jobId, number);
      const row = connection
        .sql("UPDATE repairs SET state = 'rejected', decided_at = ?, decided_by = ? WHERE job = ? RETURNING *")
        .get(now, toJson(currentCaller()?.actor), job.n);
      logChange(context, "job.repair_rejected", { kind: "job", id: jobId }, { after: { proposal: number } });
      return toRecord(row as unknown as RepairRow);
    },
    { durable: true },
  );
}
