/** Repairs of the rules of a job: proposed after a degraded run, accepted or rejected by a person or by `auto_repair`. */
import type { Actor } from "../../domain/access/caller.ts";
import { isOrbError, messageOf, OrbError } from "../../base/errors.ts";
import { isoOf, isoOrNull } from "../../base/iso.ts";
import { type RepairProposal, type RepairState, SURE } from "../../domain/health/repair.ts";
import { rulesOf } from "../../domain/health/run-records.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { AlertRecord } from "../../store/ports/alert-port.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { NewRepair, RepairEffect, RepairRecord } from "../../store/ports/repair-port.ts";
import type { JobRecord } from "../../store/records/job-records.ts";
import type { JobDeps } from "./deps.ts";
import { type FixtureDeps, pageRulesOf } from "./fixtures.ts";
import { requireJob } from "./manage.ts";
import {
  type Computed,
  computeProposal,
  type Degraded,
  recipeWith,
  requireDegraded,
  snapshotWith,
} from "./repair-proposal.ts";
import { rereadRun } from "./repair-reread.ts";

interface RepairView extends RepairProposal {
  job_id: string;
  /** Tells it from the proposal that it replaced. */
  number: number;
  state: RepairState;
  /** The degraded run. */
  run_id: string;
  /** The version of the job that it repairs. */
  version: number;
  made_at: string;
  decided_at: string | null;
  /** Who accepted or rejected it. */
  decided_by: Actor | null;
}

const toView = (
  jobId: string,
  { number, state, runId, version, madeAt, decidedAt, decidedBy, proposal }: RepairRecord,
): RepairView => ({
  job_id: jobId,
  number,
  state,
  run_id: runId,
  version,
  made_at: isoOf(madeAt),
  decided_at: isoOrNull(decidedAt),
  decided_by: decidedBy,
  ...proposal,
});

async function requireRepair(deps: JobDeps, jobId: string): Promise<RepairRecord> {
  await requireJob(deps, jobId);
  const repair = await deps.store.repair(jobId);
  if (repair !== null) return repair;
  throw new OrbError("not_found", "the job has no repair proposal", {
    hint: `One is computed after a degraded run, or by POST /jobs/${jobId}/repair.`,
  });
}

export async function showRepair(deps: JobDeps, jobId: string): Promise<RepairView> {
  return toView(jobId, await requireRepair(deps, jobId));
}

/** Computes a proposal from the newest degraded run, in place of the one before. */
export async function proposeRepair(deps: FixtureDeps, jobId: string, signal: AbortSignal): Promise<RepairView> {
  // The version first: a change in between makes the job newer than the version, and nothing is written.
  const version = await newestVersion(deps, jobId);
  const job = await requireJob(deps, jobId);
  const degraded = await requireDegraded(deps, job);
  const computed = await computeProposal(deps, degraded, signal);
  const recorded = await deps.store.recordRepair(jobId, toNew(degraded, version, computed), {}, deps.clock.now());
  if (recorded !== null) return toView(jobId, recorded.repair);
  throw new OrbError(
    "version_conflict",
    "the job was changed, or another run was compared, while the repair was computed",
    {
      fields: [{ path: "job_id", message: "was changed meanwhile" }],
      hint: "Try again.",
    },
  );
}

async function newestVersion({ store }: JobDeps, jobId: string): Promise<number> {
  return (await store.jobVersions(jobId, { limit: 1 }))[0]?.version ?? 0;
}

function toNew({ run }: Degraded, version: number, { proposal, rules }: Computed): NewRepair {
  return { runId: run.id, version, state: rules === null ? "abstained" : "open", proposal };
}

interface AcceptOptions {
  /** The number of the proposal that is meant. */
  number?: number;
  /** The degraded run is read again from its kept pages by the new rules. */
  reread?: boolean;
}

/** Rejected with a conflict if the job was changed since the proposal. */
export async function acceptRepair(
  deps: FixtureDeps,
  jobId: string,
  { number, reread = false }: AcceptOptions,
  signal: AbortSignal,
): Promise<RepairView> {
  const repair = await requireRepair(deps, jobId);
  const job = await requireJob(deps, jobId);
  const isMeant = repair.state === "open" && (number ?? repair.number) === repair.number;
  const effect: RepairEffect = {
    ...(await changeOf(deps, job, repair)),
    // Of another proposal, or one that was decided, the store says so.
    reread: reread && isMeant ? await readAgainFor(deps, job, repair, signal) : null,
  };
  return toView(jobId, await deps.store.acceptRepair(jobId, number ?? repair.number, effect, deps.clock.now()));
}

async function readAgainFor(deps: FixtureDeps, job: JobRecord, repair: RepairRecord, signal: AbortSignal) {
  const degraded = await requireDegraded(deps, job);
  const read: Awaited<ReturnType<typeof rereadRun>> =
    degraded.run.id === repair.runId
      ? await rereadRun(deps, degraded, acceptedRules(job, repair), signal)
      : { why: `a newer run ${degraded.run.id} was compared` };
  if ("reread" in read) return read.reread;
  throw new OrbError("nothing_to_repair", `the degraded run cannot be read again: ${read.why}`, {
    hint: "Accept without reread: the job gets the new rules, and its next run uses them.",
  });
}

/** The job by the proposed rules, and what its earlier runs are compared by. */
async function changeOf({ store }: JobDeps, job: JobRecord, repair: RepairRecord) {
  const rules = acceptedRules(job, repair);
  const run = await store.run(repair.runId);
  const recipe = recipeWith(job, rules);
  // Without the run nothing is known of those before.
  return { recipe, rules: run === null ? { before: "", after: "" } : comparedBy(run, rules) };
}

function comparedBy(run: RunRecord, rules: Parameters<typeof snapshotWith>[1]): { before: string; after: string } {
  const { kind, snapshot } = run;
  return {
    before: rulesOf({ kind, snapshot }) ?? "",
    after: rulesOf({ kind, snapshot: snapshotWith(run, rules) }) ?? "",
  };
}

function acceptedRules(job: JobRecord, { proposal }: RepairRecord) {
  const { fields, items } = pageRulesOf(job);
  const rules = { fields: { ...(fields as Record<string, JsonValue>) }, items: (items ?? null) as JsonValue };
  for (const { field, new_rule: rule } of proposal.fields) {
    if (rule === null) continue;
    if (field === null) rules.items = rule;
    else rules.fields[field] = rule;
  }
  return rules;
}

export async function rejectRepair(deps: JobDeps, jobId: string, seen?: number): Promise<RepairView> {
  const { number } = await requireRepair(deps, jobId);
  return toView(jobId, await deps.store.rejectRepair(jobId, seen ?? number, deps.clock.now()));
}

/**
 * Considers a degraded run once: a proposal, the reason why there is none, or an accepted repair. Returns the alert that
 * it raised. After a crash it is computed again, and written once.
 */
export async function considerRepair(
  deps: FixtureDeps,
  { jobId, runId }: { jobId: string; runId: string },
  { deliver }: { deliver: boolean },
  signal: AbortSignal,
): Promise<AlertRecord | null> {
  const version = await newestVersion(deps, jobId);
  const job = await deps.store.job(jobId);
  if (job === null) return null;
  const result = await considered(deps, job, runId, version, signal);
  if (result === null) return null;
  const { repair, effect } = result;
  const options = { deliver, ...(effect === undefined ? {} : { effect }) };
  const recorded = await deps.store.recordRepair(jobId, repair, options, deps.clock.now());
  return recorded?.alert ?? null;
}

async function considered(
  deps: FixtureDeps,
  job: JobRecord,
  runId: string,
  version: number,
  signal: AbortSignal,
): Promise<Considered | null> {
  const nothing = (reason: string): Considered => ({
    repair: { runId, version, state: "abstained", proposal: { fields: [], pages: { paired: 0, others: 0 }, reason } },
    effect: undefined,
  });
  try {
    const degraded = await requireDegraded(deps, job);
    // Together with the newest one.
    if (degraded.run.id !== runId) return null;
    const computed = await computeProposal(deps, degraded, signal);
    const repair = toNew(degraded, version, computed);
    return (await automatic(deps, degraded, computed, repair, signal)) ?? { repair, effect: undefined };
  } catch (error) {
    signal.throwIfAborted();
    if (passes(error)) throw error;
    // A page that cannot be read would fail the same way each time.
    return nothing(messageOf(error));
  }
}

/** Whether it may work later. */
const passes = (error: unknown) => isOrbError(error) && (error.reaction === "retry" || error.reaction === "wait");

interface Considered {
  repair: NewRepair;
  effect: RepairEffect | undefined;
}

/** Null: a person decides. */
async function automatic(
  deps: FixtureDeps,
  degraded: Degraded,
  { proposal, rules }: Computed,
  repair: NewRepair,
  signal: AbortSignal,
): Promise<Considered | null> {
  if (!degraded.job.autoRepair || rules === null) return null;
  const left = (reason: string): Considered => ({
    repair: { ...repair, proposal: { ...proposal, reason: `not accepted automatically: ${reason}` } },
    effect: undefined,
  });
  const unsure = proposal.fields.find(({ confidence }) => (confidence ?? 0) < SURE);
  if (unsure !== undefined) return left(`the new rule of ${unsure.field ?? "items"} is not certain enough`);
  const read = await rereadRun(deps, degraded, rules, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    if (passes(error)) throw error;
    return { why: messageOf(error) };
  });
  if ("why" in read) return left(read.why);
  const recipe = recipeWith(degraded.job, rules);
  return { repair, effect: { recipe, rules: comparedBy(degraded.run, rules), reread: read.reread } };
}
