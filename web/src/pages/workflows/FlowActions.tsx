/** The actions that a workflow's state allows. */
import { useState } from "react";
import { useLocation } from "wouter";
import type { OperationName } from "../../api/client.ts";
import { useChange } from "../../api/query.ts";
import type { WorkflowProgress } from "../../api/types.ts";
import { actionsOf } from "./logic/flow-steps.ts";
import { Button } from "../../ui/Button.tsx";
import { Confirm } from "../../ui/overlay/Dialog.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/overlay/Menu.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";

export const CHANGED: readonly OperationName[] = [
  "getWorkflow",
  "getWorkflowProgress",
  "getWorkflowTask",
  "listWorkflowTasks",
  "listWorkflows",
  "listRuns",
  "getOverview",
];

export function FlowActions({ flow, onRecover }: { flow: WorkflowProgress; onRecover: () => void }) {
  const [, go] = useLocation();
  const [asks, setAsks] = useState<"cancel" | "delete" | null>(null);
  const params = { workflow_id: flow.workflow_id };
  const withToast = (text: string) => ({ invalidates: CHANGED, onSuccess: () => toast(text), onError: toastError });
  const start = useChange("startWorkflow", withToast("The workflow is started."));
  const pause = useChange("pauseWorkflow", withToast("Running steps finish; no new step starts."));
  const resume = useChange("resumeWorkflow", withToast("The workflow continues."));
  const cancel = useChange("cancelWorkflow", withToast("The workflow is cancelled."));
  const rerun = useChange("rerunWorkflow", {
    invalidates: CHANGED,
    onSuccess: ({ id }) => {
      toast("A new run has started.");
      go(`/workflows/${id}`);
    },
    onError: toastError,
  });
  const remove = useChange("deleteWorkflow", {
    invalidates: ["listWorkflows", "listRuns", "getOverview"],
    onSuccess: () => {
      toast("The workflow is deleted.");
      go("/workflows");
    },
    onError: toastError,
  });
  const can = actionsOf(flow);
  return (
    <>
      {can.start ? (
        <Button
          kind="primary"
          icon="runs"
          needs="startWorkflow"
          busy={start.isPending}
          onClick={() => start.mutate({ params })}
        >
          Start
        </Button>
      ) : null}
      {can.pause ? (
        <Button icon="pause" needs="pauseWorkflow" busy={pause.isPending} onClick={() => pause.mutate({ params })}>
          Pause
        </Button>
      ) : null}
      {can.resume ? (
        <Button
          kind="primary"
          icon="runs"
          needs="resumeWorkflow"
          busy={resume.isPending}
          onClick={() => resume.mutate({ params })}
        >
          Resume
        </Button>
      ) : null}
      {can.recover ? (
        <Button kind="primary" icon="retry" needs="recoverWorkflow" onClick={onRecover}>
          Recover
        </Button>
      ) : null}
      {can.rerun ? (
        <Button
          icon="runs"
          needs="rerunWorkflow"
          busy={rerun.isPending}
          onClick={() => rerun.mutate({ params, body: {} })}
        >
          Run again
        </Button>
      ) : null}
      {can.cancel ? (
        <Button
          kind="danger"
          icon="stop"
          needs="cancelWorkflow"
          busy={cancel.isPending}
          onClick={() => setAsks("cancel")}
        >
          Cancel
        </Button>
      ) : null}
      {can.remove ? (
        <Menu
          label="More"
          trigger={<Icon name="more" />}
          items={[
            {
              name: "Delete",
              icon: "trash",
              danger: true,
              needs: "deleteWorkflow",
              onChoose: () => setAsks("delete"),
            },
          ]}
        />
      ) : null}
      <Confirm
        open={asks === "cancel"}
        onClose={() => setAsks(null)}
        onConfirm={() => {
          setAsks(null);
          cancel.mutate({ params });
        }}
        title="Cancel this workflow?"
        verb="Cancel workflow"
        dismiss="Keep running"
        danger
      >
        Running steps stop, and the runs they started are cancelled. Finished results stay, but a cancelled workflow
        cannot be resumed, only run again from the start.
      </Confirm>
      <Confirm
        open={asks === "delete"}
        onClose={() => setAsks(null)}
        onConfirm={() => {
          setAsks(null);
          remove.mutate({ params });
        }}
        title="Delete this workflow?"
        verb="Delete workflow"
        danger
      >
        Its steps, the runs they started, their results, events and files are deleted, too.
      </Confirm>
    </>
  );
}
