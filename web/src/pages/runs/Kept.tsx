import type { Run } from "../../api/types.ts";
import { useCall, useChange } from "../../api/query.ts";
import { exactTime } from "../../logic/format.ts";
import { keptWords } from "./logic/kept.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { Time } from "../../ui/Values.tsx";
import "./kept.css";

/** Retention of a run, and the button that exempts it. */
export function Kept({ run }: { run: Run }) {
  const words = keptWords(run);
  const change = (text: string) => ({
    invalidates: ["getRun", "listRuns", "getCrawl"] as const,
    onSuccess: () => toast(text),
    onError: toastError,
  });
  const keep = useChange("keepRun", change("Kept until you delete it."));
  const unkeep = useChange("unkeepRun", change("The retention rules apply to this run again."));
  // Runs of steps are deleted with their workflow.
  if (words === null || run.parent !== null || run.kind === "queue") return null;
  const params = { run_id: run.id };
  return (
    <p className="kept soft">
      <span>
        <Icon name={words.expires ? "clock" : "check"} size={14} />
        {words.text}
        {words.until === null ? null : (
          <>
            {" "}
            {exactTime(Date.parse(words.until))} (<Time at={words.until} />)
          </>
        )}
      </span>
      {words.expires ? (
        <Button size="small" needs="keepRun" busy={keep.isPending} onClick={() => keep.mutate({ params })}>
          Keep
        </Button>
      ) : run.kept ? (
        <Button
          size="small"
          kind="quiet"
          needs="unkeepRun"
          busy={unkeep.isPending}
          onClick={() => unkeep.mutate({ params })}
        >
          Apply retention again
        </Button>
      ) : null}
    </p>
  );
}

/** For a workflow, which is also a run. */
export function KeptFlow({ id, ended }: { id: string; ended: boolean }) {
  const { data } = useCall("getRun", { params: { run_id: id } }, { enabled: ended });
  return data === undefined ? null : <Kept run={data} />;
}
