/** A proposal that repairs the rules of a job, as it is stored and shown. */
import type { JsonValue } from "../lane/queue-item.ts";

/**
 * `open`: waits for a person. `abstained`: no field could be repaired beyond doubt. `outdated`: a later run was good again.
 */
export const REPAIR_STATES = ["open", "abstained", "accepted", "rejected", "outdated"] as const;
export type RepairState = (typeof REPAIR_STATES)[number];

export interface RepairedValue {
  /** Of a page of the degraded run. */
  url: string;
  /** What the saved page gave; null: the page is not among the saved ones, or had none. */
  saved: JsonValue;
  /** What the old and the new rule give on the page as it is now. */
  before: JsonValue;
  after: JsonValue;
}

export interface FieldRepair {
  /** null: the rule `items`, which finds the records. */
  field: string | null;
  old_rule: JsonValue;
  /** null: abstained, see `reason`. */
  new_rule: JsonValue;
  /** From 0 to 1; null: abstained. */
  confidence: number | null;
  /** Why there is no new rule. */
  reason: string | null;
  values: RepairedValue[];
}

export interface RepairProposal {
  fields: FieldRepair[];
  /** Pages of the degraded run: with a saved page of the same URL, and others. */
  pages: { paired: number; others: number };
  /** Why nothing could be tried at all, or why it was not accepted automatically; null: no such reason. */
  reason: string | null;
}

/** From which confidence on a repair is accepted without a person. */
export const SURE = 0.9;
