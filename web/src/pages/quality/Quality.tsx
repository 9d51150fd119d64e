import { useState } from "react";
import { Link, useParams, useSearchParams } from "wouter";
import { describeReason } from "../../../../src/domain/health/describe-reason.ts";
import { useCall, useChange } from "../../api/query.ts";
import type { Job, JobHealth } from "../../api/types.ts";
import { count } from "../../logic/format.ts";
import { Badge, StatusBadge } from "../../ui/Badge.tsx";
import { Button, LinkButton } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Checkbox, Select } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Confirm } from "../../ui/overlay/Dialog.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { EmptyState, ErrorBox, PageSkeleton } from "../../ui/States.tsx";
import { Time } from "../../ui/Values.tsx";
import { nameOf } from "../jobs/job-names.ts";
import { FieldDetails } from "./FieldDetails.tsx";
import { HeatMap } from "./HeatMap.tsx";
import { Repair } from "./Repair.tsx";
import { acceptable, firstField, firstRun } from "./quality.ts";
import "./quality.css";

const RUNS = 30;
const REFRESH_MS = 10_000;
const OF_HEALTH = ["getJobHealth", "getRun", "listRuns"] as const;

/** Whether the records of a job's runs stay what they were. */
export default function Quality() {
  const { id = "" } = useParams<{ id: string }>();
  const params = { job_id: id };
  const job = useCall("getJob", { params });
  const health = useCall("getJobHealth", { params, query: { runs: RUNS } }, { refetchInterval: REFRESH_MS });
  const back = { href: "/jobs", name: "Jobs" };
  const error = job.error ?? health.error;
  if (job.data === undefined || health.data === undefined) {
    if (error === null) return <PageSkeleton />;
    return (
      <>
        <PageHeader title="Data quality" back={back} />
        <ErrorBox error={error} onRetry={() => void Promise.all([job.refetch(), health.refetch()])} />
      </>
    );
  }
  const name = nameOf(job.data);
  return (
    <div className="stack">
      <PageHeader
        title="Data quality"
        documentTitle={`Data quality of ${name}`}
        back={back}
        badge={<Badge>{name}</Badge>}
        note="Each run is compared with earlier runs of this job, field by field."
        actions={
          <>
            <LinkButton href={`/runs?job=${id}`} icon="queue">
              Show runs
            </LinkButton>
            <LinkButton href={`/jobs/${id}/versions`} icon="clock">
              Versions
            </LinkButton>
            <LinkButton href={`/new?job=${id}`} icon="edit">
              Edit job
            </LinkButton>
          </>
        }
      />
      {health.data.runs.length === 0 ? <NoRuns job={job.data} /> : <Content job={job.data} health={health.data} />}
    </div>
  );
}

function NoRuns({ job: { id } }: { job: Job }) {
  const start = useChange("startRun", {
    invalidates: OF_HEALTH,
    onSuccess: () => toast("The job runs. Its records appear here when the run has ended."),
    onError: toastError,
  });
  return (
    <Card>
      <EmptyState
        icon="half"
        title="No records yet"
        actions={
          <Button
            kind="primary"
            icon="runs"
            needs="startRun"
            busy={start.isPending}
            onClick={() => start.mutate({ params: { job_id: id } })}
          >
            Run now
          </Button>
        }
      >
        Runs appear here when they have records with fields. From the fourth run on, each is compared with the earlier
        ones.
      </EmptyState>
    </Card>
  );
}

function Content({ job, health }: { job: Job; health: JobHealth }) {
  const [search, setSearch] = useSearchParams();
  const known = new Set(health.fields.map(({ name }) => name));
  const wanted = search.get("field");
  const field = wanted !== null && known.has(wanted) ? wanted : firstField(health);
  const wantedRun = search.get("run");
  const run = health.runs.some(({ run_id }) => run_id === wantedRun) ? wantedRun : firstRun(health, field);
  const choose = (name: string, runId: string) => setSearch({ field: name, run: runId }, { replace: true });
  return (
    <>
      <Verdict job={job} health={health} />
      <Repair job={job} health={health} isDegraded={acceptable(health) > 0} />
      <Card title="Records that have the field, in %, by run" flush>
        <HeatMap health={health} field={field} runId={run} onChoose={choose} />
      </Card>
      {field === null || run === null ? null : (
        <FieldDetails job={job.id} health={health} field={field} runId={run} onChoose={choose} />
      )}
      <OnDegraded job={job} />
    </>
  );
}

/** What the newest run says, and the way to accept it. */
function Verdict({ job, health }: { job: Job; health: JobHealth }) {
  const [newest] = health.runs;
  if (newest === undefined) return null;
  const { baseline } = health;
  const worse = acceptable(health);
  if (worse > 0)
    return (
      <section className="quality-verdict tone-warn" aria-label="Newest run">
        <div className="quality-verdict-words">
          <p className="row">
            <StatusBadge status="degraded" />
            <span>
              <Link className="link" href={`/runs/${newest.run_id}`}>
                Newest run
              </Link>
              , <Time at={newest.ended_at} />
              {worse > 1 ? ` (and ${count(worse - 1, "run")} before it)` : ""}
            </span>
          </p>
          <ul className="quality-reasons">
            {(newest.degraded ?? []).map((reason) => (
              <li key={reason.field ?? ""} className="wrap">
                {describeReason(reason)}
              </li>
            ))}
          </ul>
        </div>
        <Accept job={job} runs={worse} needed={baseline.needed} />
      </section>
    );
  const isKnown = newest.compared_with >= baseline.needed;
  return (
    <section className={`quality-verdict ${isKnown ? "tone-good" : "tone-info"}`} aria-label="Newest run">
      <p className="row">
        <Icon name={newest.accepted_at !== null || isKnown ? "check" : "clock"} />
        <span>
          {newest.accepted_at !== null
            ? "The newest runs were accepted. "
            : isKnown
              ? "The records of the newest run are as good as before. "
              : ""}
          {baseline.runs < baseline.needed
            ? `${count(baseline.runs, "run")} so far. Comparison starts when there are ${baseline.needed}.`
            : `The next run is compared with ${count(baseline.runs, "run")}.`}
        </span>
      </p>
    </section>
  );
}

function Accept({ job, runs, needed }: { job: Job; runs: number; needed: number }) {
  const [isAsking, ask] = useState(false);
  const accept = useChange("acceptJobHealth", {
    invalidates: OF_HEALTH,
    onSuccess: () => toast("Accepted: these runs are the new baseline."),
    onError: toastError,
    onSettled: () => ask(false),
  });
  return (
    <>
      <Button icon="check" needs="acceptJobHealth" onClick={() => ask(true)}>
        Accept
      </Button>
      <Confirm
        open={isAsking}
        onClose={() => ask(false)}
        title="Accept the degraded records?"
        verb="Accept"
        busy={accept.isPending}
        onConfirm={() => accept.mutate({ params: { job_id: job.id } })}
      >
        Do this if the site really changed and the records are right. Later runs are then compared only with{" "}
        {runs === 1 ? "the newest run" : `the ${runs} newest runs`}, not with those before.{" "}
        {runs < needed
          ? `Comparison starts again once there are ${needed} runs, including ${runs === 1 ? "this one" : "these"}.`
          : ""}
      </Confirm>
    </>
  );
}

const ACTIONS = {
  alert: "Send an alert",
  pause_schedule: "Send an alert and pause the schedule",
  fail: "Send an alert and fail the run",
} as const;

function OnDegraded({ job }: { job: Job }) {
  const change = useChange("changeJob", {
    invalidates: ["getJob", "getJobHealth", "listJobs"],
    onSuccess: () => toast("Saved."),
    onError: toastError,
  });
  return (
    <Card title="If records get worse">
      <div className="quality-action">
        <Select
          label="Action"
          value={job.on_degraded ?? "alert"}
          needs="changeJob"
          disabled={change.isPending}
          onChange={({ target }) =>
            change.mutate({
              params: { job_id: job.id },
              body: { on_degraded: target.value as keyof typeof ACTIONS },
            })
          }
          choices={Object.entries(ACTIONS).map(([value, name]) => ({ value, name }))}
        />
        <p className="soft">
          {job.on_degraded === "fail"
            ? "A run ends only after its records were compared. The records of a failed run are kept."
            : job.on_degraded === "pause_schedule"
              ? "Resume the schedule when the rules are right again."
              : "The run keeps its status; it is marked as degraded."}
        </p>
        <Checkbox
          label="Repair broken rules automatically"
          help="Only if new rules are right beyond doubt. The pages of the run are then read again, without fetching them."
          checked={job.auto_repair}
          needs="changeJob"
          disabled={change.isPending}
          onChange={({ target }) =>
            change.mutate({ params: { job_id: job.id }, body: { auto_repair: target.checked } })
          }
        />
      </div>
    </Card>
  );
}
