/** Storage usage, and a notice before runs are deleted. */
import { Link } from "wouter";
import { useCall } from "../../api/query.ts";
import { bytes, exactTime, percent } from "../../logic/format.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Meter } from "../../ui/chart/Progress.tsx";

const DAY = 86_400_000;
const LOOK_MS = 60_000;

function useStorage() {
  return useCall("getStorage", undefined, { refetchInterval: LOOK_MS }).data;
}

/** Shown near the budget. */
export function StorageNotice() {
  const storage = useStorage();
  if (storage === undefined || !storage.is_near || storage.used_bytes === null || storage.budget_bytes === null)
    return null;
  const { used_bytes: used, budget_bytes: budget, action, warned_at: warned } = storage;
  const from = warned === null ? null : exactTime(Date.parse(warned) + DAY);
  return (
    <p className="storage-notice tone-warn" role="status">
      <Icon name="warning" />
      <span>
        Stored data takes {bytes(used)}, {percent(used / budget)} of its budget of {bytes(budget)}.{" "}
        {action === "warn"
          ? "Nothing is removed automatically. "
          : `When the budget is used up, the oldest runs are removed${from === null ? "" : ` (not before ${from})`}. Runs marked “Keep” are not removed. `}
        <Link className="link" href="/runs">
          Delete old runs
        </Link>
        , or change APP_DISK_BUDGET_MB.
      </span>
    </p>
  );
}

export function StorageGauge() {
  const storage = useStorage();
  if (storage === undefined || storage.used_bytes === null) return null;
  const { used_bytes: used, budget_bytes: budget } = storage;
  return (
    <li>
      <div className="spread">
        <span>Stored data</span>
        <span className="num">{bytes(used)}</span>
      </div>
      {budget === null ? (
        <span className="soft">no budget is set (APP_DISK_BUDGET_MB)</span>
      ) : (
        <>
          <Meter part={used / budget} label="Share of the disk budget in use" warnAt={0.8} />
          <span className="soft">of {bytes(budget)}</span>
        </>
      )}
    </li>
  );
}
