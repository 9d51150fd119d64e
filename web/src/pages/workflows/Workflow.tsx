import { useState } from "react";
import { Link, useParams } from "wouter";
import type { Answer } from "../../api/client.ts";
import type { WorkflowProgress } from "../../api/types.ts";
import { pretty } from "./logic/flow-definition.ts";
import { actionsOf, isFlowActive, recoverableFrom } from "./logic/flow-steps.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Card } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { Dialog } from "../../ui/overlay/Dialog.tsx";
import { EventLog } from "../../ui/text/EventLog.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { ErrorBox, PageSkeleton } from "../../ui/States.tsx";
import { usePhone } from "../../ui/table/Table.tsx";
import { type Tab, Tabs } from "../../ui/Tabs.tsx";
import { useDrawer } from "../../ui/overlay/useDrawer.ts";
import { Time } from "../../ui/Values.tsx";
import { KeptFlow } from "../runs/Kept.tsx";
import { FlowActions } from "./FlowActions.tsx";
import { FlowFiles } from "./FlowFiles.tsx";
import { FlowSummary } from "./FlowSummary.tsx";
import { Gantt } from "./Gantt.tsx";
import { RecoverDialog } from "./RecoverDialog.tsx";
import { StepPanel } from "./StepPanel.tsx";
import { Steps } from "./Steps.tsx";
import { useFlow, useOutcomes } from "./useFlow.ts";
import "./workflows.css";
import "./workflow.css";

const BACK = { href: "/workflows", name: "Workflows" };

export default function Workflow() {
  const { id = "" } = useParams<{ id: string }>();
  const { progress, flow } = useFlow(id);
  if (progress.data === undefined) {
    if (progress.error === null) return <PageSkeleton />;
    return (
      <>
        <PageHeader title="Workflow" back={BACK} />
        <ErrorBox error={progress.error} onRetry={() => void progress.refetch()} />
      </>
    );
  }
  return <Shown flow={progress.data} whole={flow.data} />;
}

function Shown({ flow, whole }: { flow: WorkflowProgress; whole: Answer<"getWorkflow"> | undefined }) {
  const drawer = useDrawer("step");
  const phone = usePhone();
  const [recovers, setRecovers] = useState<{ from: string | null } | null>(null);
  const { steps } = flow;
  const { outcomes, notes } = useOutcomes(flow);
  const step = steps.find(({ task_name }) => task_name === drawer.opened);
  const select = (name: string | null) => (name === null ? drawer.close() : drawer.open(name));
  const canBegin = (index: number) => actionsOf(flow).recover && recoverableFrom(steps).includes(index);
  const panel =
    step === undefined ? null : (
      <StepPanel
        key={step.task_name}
        flowId={flow.workflow_id}
        step={step}
        steps={steps}
        definition={whole?.definition}
        onSelect={select}
        onRecover={canBegin(step.step_index) ? () => setRecovers({ from: step.task_name }) : null}
      />
    );
  const tabs: Tab[] = [
    {
      id: "steps",
      name: "Steps",
      count: steps.length,
      panel: () => <Steps steps={steps} outcomes={outcomes} selected={step?.task_name ?? null} onSelect={select} />,
    },
    { id: "timeline", name: "Timeline", panel: () => <Gantt steps={steps} onSelect={select} /> },
    {
      id: "events",
      name: "Events",
      panel: () => <EventLog runId={flow.workflow_id} isActive={isFlowActive(flow.status)} />,
    },
    { id: "results", name: "Results", panel: () => <FlowFiles flow={flow} onSelect={select} /> },
    { id: "definition", name: "Definition", panel: () => <Definition whole={whole} /> },
  ];
  const isWide = !phone && panel !== null;
  return (
    <div className="stack flow-page">
      <PageHeader
        title={flow.name}
        back={BACK}
        badge={<StatusBadge status={flow.status} />}
        actions={<FlowActions flow={flow} onRecover={() => setRecovers({ from: null })} />}
        note={<Origin flow={flow} whole={whole} />}
      />
      <FlowSummary flow={flow} notes={notes} onSelect={select} />
      <KeptFlow id={flow.workflow_id} ended={!isFlowActive(flow.status)} />
      <div className={isWide ? "flow-split flow-split-open" : "flow-split"}>
        <Tabs tabs={tabs} label="Workflow" />
        {isWide && step !== undefined ? (
          <aside className="flow-aside" aria-label={`Step ${step.task_name}`}>
            <header>
              <h2 className="wrap">{step.task_name}</h2>
              <button type="button" className="button button-quiet button-small" onClick={() => select(null)}>
                Close
              </button>
            </header>
            {panel}
          </aside>
        ) : null}
      </div>
      {phone ? (
        <Dialog open={step !== undefined} onClose={() => select(null)} title={step?.task_name ?? ""} side>
          {panel}
        </Dialog>
      ) : null}
      <RecoverDialog
        flow={flow}
        from={recovers?.from ?? null}
        open={recovers !== null}
        onClose={() => setRecovers(null)}
      />
    </div>
  );
}

function Origin({ flow, whole }: { flow: WorkflowProgress; whole: Answer<"getWorkflow"> | undefined }) {
  const template = whole?.template ?? null;
  return (
    <span className="flow-origin">
      {flow.job_id === null ? null : (
        <Link href={`/jobs/${flow.job_id}`} className="link">
          Job
        </Link>
      )}
      {template === null ? null : (
        <span>
          From template{" "}
          <Link href={`/workflows/templates/${encodeURIComponent(template.name)}`} className="link">
            {template.name}
          </Link>
          , version {template.version}
        </span>
      )}
      {whole?.rerun_of === null || whole === undefined ? null : (
        <span>
          Rerun of{" "}
          <Link href={`/workflows/${whole.rerun_of}`} className="link mono">
            {whole.rerun_of.slice(0, 8)}
          </Link>
        </span>
      )}
      <span>
        {flow.started_at === null ? "Created " : "Started "}
        <Time at={flow.started_at ?? whole?.created_at ?? null} />
      </span>
      <span className="mono soft" title={flow.workflow_id}>
        {flow.workflow_id.slice(0, 8)}
      </span>
    </span>
  );
}

function Definition({ whole }: { whole: Answer<"getWorkflow"> | undefined }) {
  if (whole === undefined) return <PageSkeleton />;
  return (
    <div className="stack">
      <Card title="Params">
        {Object.keys(whole.params).length === 0 ? (
          <p className="soft">Started without params.</p>
        ) : (
          <Code text={pretty(whole.params)} label="Copy the params" />
        )}
      </Card>
      <Card title="Definition">
        <Code text={pretty(whole.definition)} label="Copy the definition" />
      </Card>
    </div>
  );
}
