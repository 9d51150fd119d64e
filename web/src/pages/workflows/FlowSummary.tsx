import type { WorkflowProgress } from "../../api/types.ts";
import { countsLine, isFlowActive, stepsDone } from "./logic/flow-steps.ts";
import { count, duration, eta, percent, sentence } from "../../logic/format.ts";
import { serverNow } from "../../logic/server-time.ts";
import { isHeld } from "../../logic/waiting.ts";
import { Card } from "../../ui/Card.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Progress } from "../../ui/chart/Progress.tsx";
import { useNow } from "../../ui/Values.tsx";
import { Waiting } from "../sites/Waiting.tsx";

const TONES = { completed: "good", failed: "bad", paused: "warn", cancelled: "muted", pending: "muted" } as const;

/** Progress and messages, in a few lines. */
export function FlowSummary({
  flow,
  notes,
  onSelect,
}: {
  flow: WorkflowProgress;
  /** Failures that its steps tolerated. */
  notes: readonly { step: string; text: string }[];
  onSelect: (name: string) => void;
}) {
  const now = useNow();
  const { status, counts, steps, progress } = flow;
  const active = isFlowActive(status);
  const failed = steps.filter((step) => step.status === "failed");
  const elapsed =
    flow.started_at === null
      ? null
      : (flow.completed_at === null ? Math.max(now, serverNow()) : Date.parse(flow.completed_at)) -
        Date.parse(flow.started_at);
  const parts = [
    stepsDone(status, counts, flow.total_steps),
    elapsed === null ? "" : `${active ? "" : "took "}${duration(Math.max(0, elapsed))}`,
    // The estimate comes from past durations of steps: it does not know of holds and open circuits.
    active && status === "running" && !isHeld(flow.waiting_for) ? eta(flow.time_remaining_seconds) : "",
    flow.recovery_attempts === 0
      ? ""
      : `${flow.recovery_attempts} of ${count(flow.max_recovery_attempts, "recovery", "recoveries")} used`,
  ].filter((part) => part !== "");
  return (
    <Card>
      <div className="flow-summary">
        <div className="flow-bar">
          <Progress
            value={Math.round(progress)}
            label={`Progress of ${flow.name}`}
            tone={TONES[status as keyof typeof TONES] ?? "accent"}
          />
          <strong className="num">{percent(progress / 100)}</strong>
        </div>
        <p className="num flow-facts">
          {parts.map((part) => (
            <span key={part}>{part}</span>
          ))}
          <span className="soft">{countsLine(counts)}</span>
        </p>
        <p className="spoken" role="status" aria-live="polite">
          {`${sentence(status)}, ${stepsDone(status, counts, flow.total_steps)}`}
        </p>
        {status !== "failed" ? null : (
          <div className="flow-failure tone-bad">
            <Icon name="warning" />
            <div>
              {failed.length === 0 ? <p className="wrap">{flow.error_message ?? "It failed."}</p> : null}
              {failed.slice(0, 5).map((step) => (
                <p key={step.task_name} className="wrap">
                  <button type="button" className="step-link" onClick={() => onSelect(step.task_name)}>
                    {step.task_name}
                  </button>
                  {`: ${step.error_message ?? "it failed"}`}
                </p>
              ))}
              {failed.length > 5 ? <p className="soft">{`and ${failed.length - 5} more`}</p> : null}
              {flow.recovery_attempts < flow.max_recovery_attempts ? null : (
                <p className="soft">No recoveries left. “Run again” starts from the beginning.</p>
              )}
            </div>
          </div>
        )}
        {notes.length === 0 ? null : (
          <div className="flow-failure tone-warn">
            <Icon name="warning" />
            <div>
              {notes.slice(0, 5).map(({ step, text }) => (
                <p key={`${step} ${text}`} className="wrap">
                  <button type="button" className="step-link" onClick={() => onSelect(step)}>
                    {step}
                  </button>
                  {`: ${text}`}
                </p>
              ))}
            </div>
          </div>
        )}
        {flow.waiting_for === null || status !== "running" ? null : (
          <div className="flow-failure tone-warn" role="status">
            <Icon name="clock" />
            <div className="wrap">
              <Waiting waiting={flow.waiting_for} />
            </div>
          </div>
        )}
        {status !== "pending" && status !== "paused" ? null : (
          <p className="soft">
            {status === "pending"
              ? "Created without starting. Start it when you are ready."
              : "Running steps finish; no new step starts until you resume."}
          </p>
        )}
      </div>
    </Card>
  );
}
