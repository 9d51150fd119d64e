import { isoOrNull } from "../base/iso.ts";
import { type DiskBudget, NEAR_BUDGET } from "../domain/run/retention.ts";
import type { OrchestratorDeps } from "./deps.ts";

/** Storage usage and its limit. */
interface StorageView {
  /** The last measurement; null: none yet. */
  used_bytes: number | null;
  measured_at: string | null;
  /** Null: no budget. */
  budget_bytes: number | null;
  action: DiskBudget["action"];
  /** Usage is near or above the budget. */
  is_near: boolean;
  warned_at: string | null;
}

export async function showStorage({
  store,
  diskBudget,
}: OrchestratorDeps & { diskBudget: DiskBudget }): Promise<StorageView> {
  const use = await store.diskUse();
  const { bytes, action } = diskBudget;
  return {
    used_bytes: use?.bytes ?? null,
    measured_at: isoOrNull(use?.measuredAt ?? null),
    budget_bytes: bytes === 0 ? null : bytes,
    action,
    is_near: use !== null && bytes > 0 && use.bytes >= bytes * NEAR_BUDGET,
    warned_at: isoOrNull(use?.warnedAt ?? null),
  };
}
