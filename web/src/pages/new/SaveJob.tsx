import { useState } from "react";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/overlay/Dialog.tsx";
import { Input } from "../../ui/Field.tsx";
import { ErrorBox } from "../../ui/States.tsx";
import { ScheduleFields } from "../schedules/ScheduleFields.tsx";
import type { NewState } from "./useNew.ts";

/** Fields that only saved jobs have. */
export function JobFields({ state }: { state: NewState }) {
  const { form, change, errors } = state;
  return (
    <div className="stack">
      <Input
        label="Name"
        help="Default: the URL."
        error={errors.name}
        value={form.name}
        onChange={({ target }) => change({ name: target.value })}
      />
      <ScheduleFields form={form} change={change} errors={errors} />
      <Input
        label="Tags"
        help="For filtering, separated by commas."
        error={errors.tags}
        value={form.tags}
        onChange={({ target }) => change({ tags: target.value })}
      />
    </div>
  );
}

const OF_JOBS = ["name", "schedule", "timezone", "tags"] as const;

/** The button, and the dialog for the fields of saved jobs. */
export function SaveJob({ state }: { state: NewState }) {
  const [open, setOpen] = useState(false);
  const save = async (run: boolean) => {
    if (await state.save({ run })) setOpen(false);
  };
  const elsewhere = Object.keys(state.errors).some((key) => !OF_JOBS.includes(key as (typeof OF_JOBS)[number]));
  return (
    <>
      <Button needs="createJob" onClick={() => setOpen(true)}>
        Save as job
      </Button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        title="Save as job"
        actions={
          <>
            <Button busy={state.busy === "save"} onClick={() => void save(true)}>
              Save and run now
            </Button>
            <Button kind="primary" busy={state.busy === "save"} onClick={() => void save(false)}>
              Save job
            </Button>
          </>
        }
      >
        <div
          className="stack"
          onKeyDown={({ key, target }) => {
            // It is inside the page's form, and forms cannot be nested.
            if (key === "Enter" && target instanceof HTMLInputElement && state.busy === null) void save(false);
          }}
        >
          <JobFields state={state} />
          {state.failure === null ? null : <ErrorBox error={state.failure} />}
          {elsewhere ? (
            <p className="field-error" role="alert">
              The form has errors. Close this dialog and correct the marked fields.
            </p>
          ) : null}
        </div>
      </Dialog>
    </>
  );
}
