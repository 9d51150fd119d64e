import { Link } from "wouter";
import { type Answer } from "../../api/client.ts";
import { useCall } from "../../api/query.ts";
import type { Run } from "../../api/types.ts";
import { count, plainUrl, sentence, words } from "../../logic/format.ts";
import { actionsOf } from "../../logic/run-page.ts";
import { isActive } from "../../logic/states.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { CutText } from "../../ui/text/CutText.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import { Evidence } from "./results/Evidence.tsx";
import { NextTry } from "./NextTry.tsx";
import type { Task } from "./Pages.tsx";
import { useRetryFailed } from "./RunActions.tsx";
import { TaskPanel } from "./TaskPanel.tsx";
import { useOpenTask } from "./useOpenTask.ts";

type Group = Answer<"listRunErrors">[number];

const SHOWN = 8;
const LOADED = 500;

/** Failures by cause, most frequent first. */
export function Errors({ run }: { run: Run }) {
  const params = { run_id: run.id };
  const again = isActive(run.status) ? 5000 : (false as const);
  const active = isActive(run.status);
  const groups = useCall("listRunErrors", { params, query: { status: "all" } }, { refetchInterval: again });
  const failed = useCall(
    "listTasks",
    { params, query: { status: "failed", limit: LOADED } },
    { refetchInterval: again },
  );
  const retried = useCall(
    "listTasks",
    { params, query: { status: "retrying", limit: LOADED } },
    { refetchInterval: again, enabled: active },
  );
  const all = [...(failed.data ?? []), ...(active ? (retried.data ?? []) : [])];
  const { task, error, open } = useOpenTask(run, "errors", all);
  if (groups.error !== null && groups.data === undefined)
    return <ErrorBox error={groups.error} onRetry={() => void groups.refetch()} />;
  if (groups.data === undefined) return <Skeleton lines={5} />;
  const section = (status: Group["status"]) =>
    groups.data
      .filter((group) => group.status === status)
      .map((group) => (
        <ErrorGroup
          key={`${group.failure_code} ${group.failure_reason}`}
          run={run}
          group={group}
          tasks={all.filter((one) => one.status === status && one.failure_reason === group.failure_reason)}
          onOpen={open}
        />
      ));
  const [retrying, lost] = [section("retrying"), section("failed")];
  return (
    <div className="stack">
      {groups.data.length > 0 ? null : (
        <Card>
          <EmptyState icon="check" title={active ? "Nothing has failed so far" : "Nothing failed"}>
            {active ? "Failures appear here, grouped by cause." : "Every page succeeded or was skipped on purpose."}
          </EmptyState>
        </Card>
      )}
      {retrying.length === 0 ? null : (
        <section className="stack" aria-label="Retrying">
          <h2 className="error-section">Retrying</h2>
          {retrying}
        </section>
      )}
      {retrying.length > 0 && lost.length > 0 ? <h2 className="error-section">Failed</h2> : null}
      {lost}
      <TaskPanel run={run} task={task} error={error} onClose={() => open(null)} />
    </div>
  );
}

interface GroupProps {
  run: Run;
  group: Group;
  tasks: readonly Task[];
  onOpen: (task: Task) => void;
}

function ErrorGroup({ run, group, tasks, onOpen }: GroupProps) {
  const { failure_code, failure_reason, example } = group;
  const retry = useRetryFailed(run.id);
  const isRetrying = group.status === "retrying";
  const pages = tasks.flatMap((task) => (task.url === null ? [] : [{ url: task.url, task }]));
  const left = group.count - Math.min(pages.length, SHOWN);
  const listed = pages.length === 0 && example.url !== null ? [{ url: example.url, task: null }] : pages;
  return (
    <Card
      title={
        <span className="row">
          {sentence(failure_reason)}
          <Badge tone={isRetrying ? "warn" : "bad"}>{count(group.count, "page")}</Badge>
        </span>
      }
      actions={
        actionsOf(run).retryFailed && group.retryable && !isRetrying ? (
          <Button
            size="small"
            icon="retry"
            needs="retryFailedTasks"
            busy={retry.busy}
            onClick={() => void retry.act({ failure_code, failure_reason })}
          >
            Retry these
          </Button>
        ) : undefined
      }
    >
      <div className="error-group">
        <div className="stack">
          <p className="wrap error-words-first">{example.message}</p>
          <p className="soft">
            Category: {words(failure_code)}
            {group.next_try_at === null ? null : (
              <>
                {" · next attempt "}
                <NextTry at={group.next_try_at} />
              </>
            )}
          </p>
          <ul className="error-urls" aria-label="Affected pages">
            {listed.slice(0, SHOWN).map(({ url, task }) => (
              <li key={task?.id ?? url}>
                {task === null ? (
                  <CutText text={plainUrl(url)} title={url} />
                ) : (
                  <Link
                    className="link error-url"
                    href={`/runs/${run.id}?tab=errors&task=${task.id}`}
                    onClick={(event) => {
                      event.preventDefault();
                      onOpen(task);
                    }}
                  >
                    <CutText text={plainUrl(url)} title={url} />
                  </Link>
                )}
                {task === null || !isRetrying ? null : (
                  <span className="soft num error-tried">{count(task.attempts.length, "attempt")}</span>
                )}
                <a
                  className="link"
                  href={url}
                  target="_blank"
                  rel="noreferrer noopener"
                  title="Open the page at its site"
                  aria-label={`Open ${plainUrl(url)} at its site`}
                >
                  <Icon name="external" size={14} />
                </a>
              </li>
            ))}
          </ul>
          {left > 0 && pages.length > 0 ? (
            <Link className="link" href={`/runs/${run.id}?tab=pages&status=${group.status}`}>
              {`and ${count(left, "more page", "more pages")}`}
            </Link>
          ) : null}
        </div>
        <Evidence screenshot={example.screenshot_id} snapshot={example.snapshot_id} />
      </div>
    </Card>
  );
}
