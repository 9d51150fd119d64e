/** Details of one step. */
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useCall } from "../../api/query.ts";
import { outlineOf, pretty } from "./logic/flow-definition.ts";
import { entriesLine, type FlowStep, stepMs, stepPercent, waitLine } from "./logic/flow-steps.ts";
import { capital, count, duration, sentence } from "../../logic/format.ts";
import { Badge, StatusBadge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { KeyValue } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { Progress } from "../../ui/chart/Progress.tsx";
import { ErrorBox, Skeleton } from "../../ui/States.tsx";
import { Time, useNow } from "../../ui/Values.tsx";
import { Entries, Files, Items } from "./StepWork.tsx";

export function StepPanel({
  flowId,
  step,
  steps,
  definition,
  onSelect,
  onRecover,
}: {
  flowId: string;
  step: FlowStep;
  steps: readonly FlowStep[];
  definition: unknown;
  onSelect: (name: string) => void;
  /** Null: no recovery possible from here. */
  onRecover: (() => void) | null;
}) {
  const now = useNow();
  const detail = useCall("getWorkflowTask", { params: { workflow_id: flowId, task: step.task_name } });
  const outline = outlineOf(definition).steps[step.step_index];
  const far = stepPercent(step);
  const took = stepMs(step, now);
  const after = steps.filter(({ dependencies }) => dependencies.includes(step.step_index));
  const link = ({ task_name }: FlowStep) => (
    <button key={task_name} type="button" className="step-link" onClick={() => onSelect(task_name)}>
      {task_name}
    </button>
  );
  return (
    <div className="stack step-panel">
      <div className="row">
        <StatusBadge status={step.status} />
        <Badge>{step.task_type}</Badge>
        {onRecover === null ? null : (
          <Button size="small" icon="retry" needs="recoverWorkflow" className="step-recover" onClick={onRecover}>
            Recover from here
          </Button>
        )}
      </div>
      {step.error_message === null ? null : (
        <p className={`step-error tone-${step.status === "failed" ? "bad" : "muted"} wrap`}>
          {capital(step.error_message)}
          {step.failure_reason === null ? null : <span className="soft">{sentence(step.failure_reason)}</span>}
        </p>
      )}
      {far === null || step.status === "completed" ? null : (
        <div className="step-far">
          <Progress value={Math.round(far)} label={`Progress of ${step.task_name}`} />
          <span className="num soft">{step.entries === null ? step.progress_message : entriesLine(step.entries)}</span>
        </div>
      )}
      <KeyValue
        pairs={[
          step.waiting_for === null ? null : { name: "Now", value: waitLine(step.waiting_for, now) },
          step.next_try_at === null || step.status !== "retrying"
            ? null
            : { name: "Next attempt", value: <Time at={step.next_try_at} /> },
          { name: "Started", value: <Time at={step.started_at} /> },
          took === null ? null : { name: step.completed_at === null ? "Running for" : "Took", value: duration(took) },
          step.entries === null ? null : { name: "List", value: entriesLine(step.entries) },
          { name: "Retries", value: `${step.retry_count} of ${step.max_retries}` },
          step.dependencies.length === 0
            ? null
            : {
                name: "Waits for",
                value: <Names>{step.dependencies.flatMap((index) => steps[index] ?? []).map(link)}</Names>,
              },
          after.length === 0 ? null : { name: "Used by", value: <Names>{after.map(link)}</Names> },
          step.child_run_ids.length === 0
            ? null
            : { name: step.child_run_ids.length === 1 ? "Run" : "Runs", value: <Children ids={step.child_run_ids} /> },
          outline?.when === null || outline === undefined
            ? null
            : { name: "Only when", value: <code>{outline.when}</code> },
          outline?.forEach === null || outline === undefined
            ? null
            : { name: "For each of", value: <code>{outline.forEach}</code> },
        ]}
      />
      {step.entries === null ? null : <Entries flowId={flowId} step={step} />}
      {detail.data === undefined ? (
        detail.error === null ? (
          <Skeleton lines={4} />
        ) : (
          <ErrorBox error={detail.error} onRetry={() => void detail.refetch()} />
        )
      ) : (
        <>
          {detail.data.attempts.length === 0 ? null : (
            <Section title={count(detail.data.attempts.length, "attempt")}>
              <ol className="tries">
                {detail.data.attempts.map(({ attempt, started_at, duration_ms, failure_reason, http_status }) => (
                  <li key={`${attempt} ${started_at}`}>
                    <span className="num soft">{attempt}</span>
                    <span className={failure_reason === null ? "tries-good" : "tries-bad"}>
                      {failure_reason === null ? "Completed" : sentence(failure_reason)}
                    </span>
                    <span className="soft num">{http_status === null ? "" : http_status}</span>
                    <span className="num">{duration(duration_ms)}</span>
                    <Time at={started_at} />
                  </li>
                ))}
              </ol>
            </Section>
          )}
          {detail.data.result === null ? null : (
            <Section title="Result">
              <Code text={pretty(detail.data.result)} wrap label="Copy the result" />
            </Section>
          )}
          {(detail.data.items_count ?? 0) === 0 ? null : <Items flowId={flowId} step={step} detail={detail.data} />}
          <Files artifacts={detail.data.artifacts} />
        </>
      )}
      {outline === undefined || outline.params.length === 0 ? null : (
        <Section title="Parameters">
          <Code text={pretty(Object.fromEntries(outline.params))} wrap label="Copy the parameters" />
        </Section>
      )}
    </div>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="step-section">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

const Names = ({ children }: { children: ReactNode }) => <span className="step-names">{children}</span>;

const MOST_RUNS = 5;

function Children({ ids }: { ids: readonly string[] }) {
  const shown = ids.slice(-MOST_RUNS).toReversed();
  return (
    <span className="step-names">
      {shown.map((id) => (
        <Link key={id} href={`/runs/${id}`} className="link mono" title={id}>
          {id.slice(0, 8)}
        </Link>
      ))}
      {ids.length > MOST_RUNS ? <span className="soft">{`and ${ids.length - MOST_RUNS} earlier`}</span> : null}
    </span>
  );
}
