import type { Actor } from "../../domain/access/caller.ts";
import type { HealthProfile } from "../../domain/health/profile.ts";
import type { RepairProposal, RepairState } from "../../domain/health/repair.ts";
import type { KeptPage } from "../../domain/page/fixture.ts";
import type { AlertRecord } from "./alert-port.ts";

/** A page of a run, kept until its records are compared; of a degraded run until the next one. */
export interface RunPageRecord extends KeptPage {
  number: number;
  taskId: string;
}

export interface NewRepair {
  /** The degraded run. */
  runId: string;
  /** The job's version that it repairs. */
  version: number;
  state: Extract<RepairState, "open" | "abstained">;
  proposal: RepairProposal;
}

export interface RepairRecord extends Omit<NewRepair, "state"> {
  /** Tells it from the proposal that it replaced. */
  number: number;
  state: RepairState;
  madeAt: number;
  decidedAt: number | null;
  /** Who accepted or rejected it; null: nobody yet, or not known. */
  decidedBy: Actor | null;
}

/** The job with the new rules, and what its degraded run becomes. */
export interface RepairEffect {
  recipe: unknown;
  /** See `rulesOf`: runs of the old rules stay the baseline, since the new ones are to give the same values. */
  rules: { before: string; after: string };
  reread: RereadRun | null;
}

/** Records that replace those of a run, read from its kept pages by the new rules. */
export interface RereadRun {
  generation: number;
  /** Of the run, with the new rules. */
  snapshot: unknown;
  profile: HealthProfile;
  tasks: readonly { taskId: string; records: readonly unknown[] }[];
  /** Pages that were not kept: their records stay. */
  missing: number;
}

export interface RepairStore {
  /** Kept pages of a run, in the order in which they were read. */
  runPages(runId: string, options: { after?: number; limit: number }): Promise<RunPageRecord[]>;
  /** Jobs with a degraded run that was not considered yet. */
  repairsDue(limit: number): Promise<{ jobId: string; runId: string }[]>;
  /** The newest proposal of the job. */
  repair(jobId: string): Promise<RepairRecord | null>;
  /**
   * Stores a proposal in place of the one before, with its event and, with `deliver`, its alert. With an effect it is
   * accepted in the same transaction. Null, and nothing is written: the job was changed or deleted since, or the run is gone.
   */
  recordRepair(
    jobId: string,
    repair: NewRepair,
    options: { deliver?: boolean; effect?: RepairEffect },
    now: number,
  ): Promise<{ repair: RepairRecord; alert: AlertRecord | null } | null>;
  /**
   * Changes the job as proposed: its rules, its version, the state of the proposal and the event are one transaction.
   * Throws `version_conflict` if the job changed since, or the run that was read again; `not_found` if there never was
   * such a proposal; `illegal_transition` unless it is open.
   */
  acceptRepair(jobId: string, number: number, effect: RepairEffect, now: number): Promise<RepairRecord>;
  /** Throws `not_found` if there never was such a proposal, `illegal_transition` unless it is open. */
  rejectRepair(jobId: string, number: number, now: number): Promise<RepairRecord>;
}
