import { type FormEvent, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { useChange, usePages } from "../../api/query.ts";
import type { Job } from "../../api/types.ts";
import { count, plainUrl, sentence } from "../../logic/format.ts";
import { ALWAYS } from "../../logic/table.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Button, LinkButton } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Code } from "../../ui/Code.tsx";
import { Confirm, Dialog } from "../../ui/Dialog.tsx";
import { Input } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { EmptyState, ErrorBox, PageSkeleton } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { toast, toastError } from "../../ui/Toast.tsx";
import { Time } from "../../ui/Values.tsx";
import "./jobs.css";

const OF_JOBS = ["listJobs", "getJob", "listSchedules"] as const;

/** What a job is called: its name, or what it is about. */
const nameOf = ({ name, target_url, crawl, kind }: Job) => {
  const url = target_url ?? (Array.isArray(crawl?.url) ? crawl.url[0] : crawl?.url);
  return name ?? (url === undefined || url === null ? `A ${kind}` : plainUrl(url));
};

const targetOf = ({ target_url, crawl, workflow }: Job) => {
  const urls = crawl === null ? [] : [crawl.url].flat();
  if (workflow !== null) return workflow.template ?? "a workflow of its own";
  const [first = target_url ?? "–"] = urls;
  return urls.length > 1 ? `${plainUrl(first)} and ${urls.length - 1} more` : plainUrl(first);
};

export default function Jobs() {
  const [search] = useSearchParams();
  const q = search.get("q") ?? "";
  const jobs = usePages("listJobs", { query: { limit: 200, ...(q === "" ? {} : { q }) } });
  const [, go] = useLocation();
  const [scheduled, setScheduled] = useState<Job | null>(null);
  const [deleted, setDeleted] = useState<Job | null>(null);
  const start = useChange("startRun", {
    invalidates: [...OF_JOBS, "listRuns"],
    onSuccess: ({ id, kind }) => go(kind === "workflow" ? `/workflows/${id}` : `/runs/${id}`),
    onError: toastError,
  });
  const { error, isPending, rows } = jobs;
  if (isPending) return <PageSkeleton />;
  const columns: Column<Job>[] = [
    {
      id: "name",
      name: "Job",
      width: "minmax(180px, 1.6fr)",
      phone: "head",
      cell: (job) => (
        <Link href={`/new?job=${job.id}`} className="truncate job-name" title={nameOf(job)}>
          {nameOf(job)}
        </Link>
      ),
    },
    { id: "kind", name: "Kind", width: "84px", priority: 2, cell: ({ kind }) => sentence(kind) },
    {
      id: "target",
      name: "Target",
      priority: 3,
      width: "minmax(150px, 1.4fr)",
      cell: (job) => (
        <span className="truncate soft" title={targetOf(job)}>
          {targetOf(job)}
        </span>
      ),
    },
    {
      id: "last",
      name: "Last run",
      width: "minmax(190px, 1fr)",
      phone: "wide",
      cell: ({ last_run: last }) =>
        last === null ? (
          <span className="soft">Never run</span>
        ) : (
          <Link className="row job-last" href={last.kind === "workflow" ? `/workflows/${last.id}` : `/runs/${last.id}`}>
            <StatusBadge status={last.status} />
            <Time at={last.created_at} />
          </Link>
        ),
    },
    {
      id: "next",
      name: "Next",
      width: "96px",
      cell: ({ next_run_at, schedule }) =>
        schedule === null ? <span className="soft">By hand</span> : <Time at={next_run_at} />,
    },
    {
      id: "do",
      name: "Actions",
      width: "148px",
      priority: ALWAYS,
      align: "end",
      phone: "wide",
      cell: (job) => (
        <span className="row job-actions">
          <Button
            size="small"
            icon="runs"
            busy={start.isPending && start.variables.params.job_id === job.id}
            onClick={() => start.mutate({ params: { job_id: job.id } })}
          >
            Run now
          </Button>
          <Menu
            label={`More for ${nameOf(job)}`}
            trigger={<Icon name="more" />}
            className="button button-quiet button-small button-icon"
            items={[
              { name: "Edit", icon: "edit", onChoose: () => go(`/new?job=${job.id}`) },
              { name: "Edit schedule", icon: "schedules", onChoose: () => setScheduled(job) },
              { name: "See its runs", icon: "queue", onChoose: () => go(`/runs?job=${job.id}`) },
              { name: "Delete", icon: "trash", danger: true, onChoose: () => setDeleted(job) },
            ]}
          />
        </span>
      ),
    },
  ];
  return (
    <>
      <PageHeader
        title="Jobs"
        note="What you have saved to run again, by hand or on a schedule."
        actions={
          rows.length === 0 ? undefined : (
            <LinkButton href="/new" icon="plus">
              New job
            </LinkButton>
          )
        }
      />
      {error !== null && rows.length === 0 ? (
        <ErrorBox error={error} onRetry={() => void jobs.refetch()} />
      ) : (
        <Card flush>
          <Table
            label="Jobs"
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            next={jobs.next}
            empty={<NoJobs />}
            footer={count(rows.length, "job")}
          />
        </Card>
      )}
      <ScheduleDialog key={scheduled?.id} job={scheduled} onClose={() => setScheduled(null)} />
      <DeleteDialog job={deleted} onClose={() => setDeleted(null)} />
    </>
  );
}

function ScheduleDialog({ job, onClose }: { job: Job | null; onClose: () => void }) {
  const [cron, setCron] = useState(job?.schedule?.cron ?? "");
  const change = useChange("changeJob", { invalidates: OF_JOBS });
  if (job === null) return null;
  const save = (schedule: string | null) =>
    change.mutate(
      // What else the schedule says, such as its time zone, stays.
      {
        params: { job_id: job.id },
        body: {
          schedule: schedule === null ? null : job.schedule === null ? schedule : { ...job.schedule, cron: schedule },
        },
      },
      {
        onSuccess: () => {
          toast(schedule === null ? "It runs by hand alone now." : "The schedule is saved.");
          onClose();
        },
      },
    );
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    save(cron.trim());
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Schedule of ${nameOf(job)}`}
      unsaved={cron !== (job.schedule?.cron ?? "")}
      actions={
        <>
          {job.schedule === null ? null : (
            <Button onClick={() => save(null)} disabled={change.isPending}>
              Remove schedule
            </Button>
          )}
          <Button kind="primary" type="submit" form="schedule" busy={change.isPending} disabled={cron.trim() === ""}>
            Save schedule
          </Button>
        </>
      }
    >
      <form id="schedule" onSubmit={onSubmit}>
        <Input
          label="Times"
          help={
            <>
              As cron writes it: <code>0 6 * * *</code> is every day at six, <code>*/15 * * * *</code> every quarter of
              an hour. Time zone: {job.schedule?.timezone ?? job.timezone ?? "UTC"}.
            </>
          }
          error={change.error?.fields[0]?.message ?? change.error?.message}
          value={cron}
          autoFocus
          spellCheck={false}
          onChange={({ target }) => setCron(target.value)}
        />
      </form>
    </Dialog>
  );
}

function DeleteDialog({ job, onClose }: { job: Job | null; onClose: () => void }) {
  const remove = useChange("deleteJob", {
    invalidates: [...OF_JOBS, "listRuns"],
    onSuccess: () => toast("The job is deleted."),
    onError: toastError,
    onSettled: onClose,
  });
  const works = job?.last_run !== null && job?.last_run !== undefined && job.last_run.finished_at === null;
  return (
    <Confirm
      open={job !== null}
      onClose={onClose}
      title={job === null ? "" : `Delete ${nameOf(job)}?`}
      verb={works ? "Cancel its run and delete" : "Delete job"}
      danger
      busy={remove.isPending}
      onConfirm={() => {
        if (job !== null) remove.mutate({ params: { job_id: job.id }, query: works ? { force: true } : {} });
      }}
    >
      {works ? "It is being run at this moment; that run is cancelled. " : ""}
      The job and its schedule are deleted, which cannot be taken back. Its runs and their results stay.
    </Confirm>
  );
}

function NoJobs() {
  return (
    <EmptyState
      icon="jobs"
      title="Nothing is saved yet"
      actions={
        <LinkButton href="/new" kind="primary" icon="plus">
          New job
        </LinkButton>
      }
    >
      A job is a scrape, crawl or workflow with a name, to run again or on a schedule. Save one from New, or from a
      terminal:
      <Code text={`orb jobs create --target-url https://example.com --name "Front page" --schedule "0 6 * * *"`} />
    </EmptyState>
  );
}
