import { addressOf, type Problem } from "../../api/client.ts";
import { useChange } from "../../api/query.ts";
import type { Run } from "../../api/types.ts";
import { capital, duration, sentence, words } from "../../logic/format.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { KeyValue } from "../../ui/Card.tsx";
import { Code, CopyButton } from "../../ui/text/Code.tsx";
import { Dialog } from "../../ui/overlay/Dialog.tsx";
import { ErrorBox } from "../../ui/States.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { Bytes, Duration, Time } from "../../ui/Values.tsx";
import { Evidence } from "./results/Evidence.tsx";
import { NextTry } from "./NextTry.tsx";
import type { Task } from "./Pages.tsx";
import { OF_A_RUN, useRetryFailed } from "./RunActions.tsx";

const OPEN = new Set(["pending", "queued", "running", "retrying"]);

/** Details of one page: outcome, attempts, strategy and files. */
export function TaskPanel({
  run,
  task,
  error,
  onClose,
}: {
  run: Run;
  task: Task | null;
  /** Why the page in the URL cannot be shown. */
  error: Problem | null;
  onClose: () => void;
}) {
  const stop = useChange("stopTask", {
    invalidates: OF_A_RUN,
    onSuccess: () => toast("Page stopped. The rest of the run continues."),
    onError: toastError,
  });
  const retry = useRetryFailed(run.id);
  return (
    <Dialog
      open={task !== null || error !== null}
      onClose={onClose}
      title="Page"
      side
      {...(task === null || !(OPEN.has(task.status) || task.status === "failed")
        ? {}
        : {
            actions:
              task.status === "failed" ? (
                <Button
                  icon="retry"
                  needs="retryFailedTasks"
                  busy={retry.busy}
                  onClick={() => void retry.act({ task_ids: [task.id] })}
                >
                  Retry this page
                </Button>
              ) : (
                <Button
                  icon="stop"
                  needs="stopTask"
                  busy={stop.isPending}
                  onClick={() => stop.mutate({ params: { run_id: run.id, task_id: task.id } })}
                >
                  Stop this page
                </Button>
              ),
          })}
    >
      {error === null ? null : <ErrorBox error={error} />}
      {task === null ? null : <Facts run={run} task={task} />}
    </Dialog>
  );
}

function Facts({ run, task }: { run: Run; task: Task }) {
  const role = (name: string) => task.artifacts.find((one) => one.role === name)?.id ?? null;
  const evidence = run.kind === "page" ? run.strategy_evidence : evidenceIn(task.detail);
  const because = evidence?.["because"];
  return (
    <div className="stack">
      {task.url === null ? null : (
        <div className="task-url">
          <a className="link wrap" href={task.url} target="_blank" rel="noreferrer noopener">
            {task.url}
          </a>
          <CopyButton text={task.url} label="Copy URL" />
        </div>
      )}
      <KeyValue
        pairs={[
          { name: "Status", value: <StatusBadge status={task.status} /> },
          task.error_message === null
            ? null
            : {
                name: "Why it failed",
                value: (
                  <>
                    {task.failure_reason === null ? null : <strong>{sentence(task.failure_reason)}. </strong>}
                    {capital(task.error_message)}
                  </>
                ),
              },
          task.next_try_at === null ? null : { name: "Next attempt", value: <NextTry at={task.next_try_at} /> },
          task.http_status === null ? null : { name: "HTTP status", value: task.http_status },
          task.strategy === null ? null : { name: "Strategy", value: sentence(task.strategy) },
          typeof because === "string" ? { name: "Why this strategy", value: because } : null,
          task.depth === null ? null : { name: "Depth", value: task.depth },
          task.relevance === null ? null : { name: "Relevance to the goal", value: task.relevance },
          task.duration_ms === null ? null : { name: "Time", value: <Duration ms={task.duration_ms} /> },
          task.size === null ? null : { name: "Size", value: <Bytes value={task.size} /> },
          { name: "Found", value: <Time at={task.created_at} /> },
          task.finished_at === null ? null : { name: "Done", value: <Time at={task.finished_at} /> },
        ]}
      />
      <Evidence screenshot={role("screenshot")} snapshot={role("snapshot")} />
      <section className="stack task-part">
        <h3>Attempts</h3>
        {task.attempts.length === 0 ? <p className="soft">No attempt yet.</p> : null}
        <ol className="task-attempts">
          {task.attempts.map((attempt) => (
            <li key={attempt.attempt}>
              <span className="task-attempt-number num">{attempt.attempt}</span>
              <span className="wrap">
                <strong>{sentence(attempt.strategy)}</strong>
                {attempt.proxy === null ? "" : ` via ${attempt.proxy}`}
                {attempt.http_status === null ? "" : `, HTTP ${attempt.http_status}`}
                {`, ${duration(attempt.duration_ms)}`}
                <br />
                <span className={attempt.failure_reason === null ? "soft" : "task-failure"}>
                  {attempt.failure_reason === null ? "succeeded" : words(attempt.failure_reason)}
                </span>{" "}
                <span className="soft">
                  <Time at={attempt.started_at} />
                </span>
              </span>
            </li>
          ))}
        </ol>
      </section>
      {evidence === null ? null : (
        <section className="stack task-part">
          <h3>Strategy evidence</h3>
          <Code text={JSON.stringify(evidence, null, 2)} wrap label="Copy evidence" />
        </section>
      )}
      {task.artifacts.length === 0 ? null : (
        <section className="stack task-part">
          <h3>Files</h3>
          <ul className="task-files">
            {task.artifacts.map(({ id, role: what, size, content_type }) => (
              <li key={id}>
                <a className="link" href={addressOf("getArtifact", { params: { artifact_id: id } })} download="">
                  {sentence(what)}
                </a>
                <span className="soft truncate">{content_type ?? "unknown type"}</span>
                <Bytes value={size} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {task.detail === null ? null : (
        <section className="stack task-part">
          <h3>Details</h3>
          <Code text={JSON.stringify(task.detail, null, 2)} wrap label="Copy details" />
        </section>
      )}
    </div>
  );
}

function evidenceIn(detail: unknown): Record<string, unknown> | null {
  const found = (detail as { strategy_evidence?: unknown } | null)?.strategy_evidence;
  return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : null;
}
