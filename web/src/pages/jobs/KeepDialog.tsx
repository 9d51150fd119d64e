import { type FormEvent, useState } from "react";
import { useCall, useChange } from "../../api/query.ts";
import type { Job } from "../../api/types.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/overlay/Dialog.tsx";
import { Input } from "../../ui/Field.tsx";
import { toast } from "../../ui/overlay/Toast.tsx";

const asText = (value: number | null) => (value === null ? "" : String(value));
const asNumber = (text: string) => (text.trim() === "" ? null : Number(text));

/** Retention of a job's runs. */
export function KeepDialog({ job, onClose }: { job: Job | null; onClose: () => void }) {
  const [runs, setRuns] = useState(asText(job?.keep_runs ?? null));
  const [days, setDays] = useState(asText(job?.keep_days ?? null));
  const config = useCall("getConfig", undefined, { enabled: job !== null });
  const change = useChange("changeJob", { invalidates: ["listJobs", "getJob", "listRuns", "getRun"] });
  if (job === null) return null;
  const valueOf = (name: string) => config.data?.find((row) => row.name === name)?.value ?? "";
  const errorOf = (path: string) => change.error?.fields.find((field) => field.path === path)?.message;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(
      { params: { job_id: job.id }, body: { keep_runs: asNumber(runs), keep_days: asNumber(days) } },
      {
        onSuccess: () => {
          toast("Saved. Runs over these limits are deleted within minutes.");
          onClose();
        },
      },
    );
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Retention of runs: ${job.name ?? "this job"}`}
      unsaved={runs !== asText(job.keep_runs) || days !== asText(job.keep_days)}
      actions={
        <Button kind="primary" type="submit" form="keep" busy={change.isPending}>
          Save
        </Button>
      }
    >
      <form id="keep" className="stack" onSubmit={onSubmit}>
        <p className="soft">
          Older runs are removed with their results and files. The last completed run and runs marked “Keep” stay.
        </p>
        <Input
          label="Newest runs"
          type="number"
          min={0}
          step={1}
          value={runs}
          placeholder={valueOf("APP_KEEP_RUNS")}
          help="How many of the newest runs to keep. 0: all. Empty: the value of APP_KEEP_RUNS."
          error={errorOf("keep_runs")}
          onChange={({ target }) => setRuns(target.value)}
        />
        <Input
          label="Days"
          type="number"
          min={0}
          step={1}
          value={days}
          placeholder={valueOf("APP_KEEP_DAYS")}
          help="How many days to keep runs. 0: no time limit. Empty: the value of APP_KEEP_DAYS."
          error={errorOf("keep_days") ?? (change.error?.fields.length === 0 ? change.error.message : undefined)}
          onChange={({ target }) => setDays(target.value)}
        />
      </form>
    </Dialog>
  );
}
