/** Where a failed workflow resumes, and what that means for every step, before it is confirmed. */
import { useState } from "react";
import { useChange } from "../../api/query.ts";
import type { WorkflowProgress } from "../../api/types.ts";
import { namesOf, recoverableFrom, recoveryPlan } from "./logic/flow-steps.ts";
import { count } from "../../logic/format.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/overlay/Dialog.tsx";
import { Select } from "../../ui/Field.tsx";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { ErrorBox } from "../../ui/States.tsx";
import { toast } from "../../ui/overlay/Toast.tsx";
import { CHANGED } from "./FlowActions.tsx";

const FAILED = "";

export function RecoverDialog({
  flow,
  from,
  open,
  onClose,
}: {
  flow: WorkflowProgress;
  /** Name of the preselected step; null: all incomplete ones. */
  from: string | null;
  open: boolean;
  onClose: () => void;
}) {
  return (
    <Dialog open={open} onClose={onClose} title="Recover workflow">
      {/* State resets each time it is opened. */}
      {open ? <Choice flow={flow} from={from} onClose={onClose} /> : null}
    </Dialog>
  );
}

function Choice({ flow, from, onClose }: { flow: WorkflowProgress; from: string | null; onClose: () => void }) {
  const { steps } = flow;
  const [chosen, setChosen] = useState(from ?? FAILED);
  const recover = useChange("recoverWorkflow", {
    invalidates: CHANGED,
    onSuccess: () => {
      toast("The workflow is recovered and continues.");
      onClose();
    },
  });
  const index = chosen === FAILED ? null : steps.findIndex(({ task_name }) => task_name === chosen);
  const plan = recoveryPlan(steps, index);
  const left = flow.max_recovery_attempts - flow.recovery_attempts;
  return (
    <div className="stack">
      <Select
        label="Repeat"
        value={chosen}
        choices={[
          { value: FAILED, name: "All steps that did not complete" },
          ...recoverableFrom(steps).map((one) => {
            const name = steps[one]?.task_name ?? "";
            return { value: name, name: `${name} and the steps that depend on it` };
          }),
        ]}
        onChange={({ target }) => setChosen(target.value)}
      />
      <ul className="plan">
        <PlanItem icon="retry" tone="info" title={`${count(plan.again.length, "step")} will run again`}>
          {namesOf(steps, plan.again)}
        </PlanItem>
        {plan.kept.length === 0 ? null : (
          <PlanItem
            icon="check"
            tone="good"
            title={plan.kept.length === 1 ? "1 step keeps its result" : `${plan.kept.length} steps keep their results`}
          >
            {namesOf(steps, plan.kept)}
          </PlanItem>
        )}
        {plan.left.length === 0 ? null : (
          <PlanItem
            icon="warning"
            tone="warn"
            title={`${count(plan.left.length, "step is unchanged", "steps are unchanged")}`}
          >
            {`${namesOf(steps, plan.left)}: not repeated, so the workflow will still end as failed`}
          </PlanItem>
        )}
      </ul>
      {plan.refusal === null ? null : <p className="plan-refusal">{plan.refusal}</p>}
      <p className="soft">
        {left === 1 ? "This is the last possible recovery." : `It can be recovered ${count(left, "more time")}.`}{" "}
        Definition and params stay the same.
      </p>
      {recover.error === null ? null : <ErrorBox error={recover.error} />}
      <div className="row plan-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="primary"
          icon="retry"
          needs="recoverWorkflow"
          busy={recover.isPending}
          disabled={plan.refusal !== null}
          onClick={() =>
            recover.mutate({
              params: { workflow_id: flow.workflow_id },
              body: chosen === FAILED ? {} : { from_step: chosen },
            })
          }
        >
          {chosen === FAILED ? "Recover workflow" : `Recover from ${chosen}`}
        </Button>
      </div>
    </div>
  );
}

function PlanItem({ icon, tone, title, children }: { icon: IconName; tone: string; title: string; children: string }) {
  return (
    <li className={`tone-${tone}`}>
      <span className="plan-sign">
        <Icon name={icon} />
      </span>
      <div>
        <strong>{title}</strong>
        <p className="wrap">{children}</p>
      </div>
    </li>
  );
}
