import { type FormEvent, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { useChange, usePages } from "../../api/query.ts";
import type { Job } from "../../api/types.ts";
import { count, plainUrl, sentence } from "../../logic/format.ts";
import { ALWAYS } from "../../logic/table.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { NewButton } from "../../ui/NewButton.tsx";
import { Card } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { Confirm, Dialog } from "../../ui/overlay/Dialog.tsx";
import { Checkbox } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/overlay/Menu.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { EmptyState, ErrorBox, PageSkeleton } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { Time } from "../../ui/Values.tsx";
import { nameOf } from "./job-names.ts";
import { KeepDialog } from "./KeepDialog.tsx";
import { ScheduleFields } from "../schedules/ScheduleFields.tsx";
import "./jobs.css";

const OF_JOBS = ["listJobs", "getJob", "listSchedules"] as const;

const targetOf = ({ target_url, crawl, workflow }: Job) => {
  const urls = crawl === null ? [] : [crawl.url].flat();
  if (workflow !== null) return workflow.template ?? "own definition";
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
  const [keeping, setKeeping] = useState<Job | null>(null);
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
      phone: "wide",
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
      name: "Next run",
      width: "96px",
      cell: ({ next_run_at, schedule }) =>
        schedule === null ? <span className="soft">Manual</span> : <Time at={next_run_at} />,
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
            needs="startRun"
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
              {
                name: "Edit schedule",
                icon: "schedules",
                needs: "changeJob",
                onChoose: () => setScheduled(job),
              },
              { name: "Retention …", icon: "clock", needs: "changeJob", onChoose: () => setKeeping(job) },
              ...(job.kind === "workflow"
                ? []
                : [
                    { name: "Data quality", icon: "half" as const, onChoose: () => go(`/jobs/${job.id}/quality`) },
                    {
                      name: job.monitor === null ? "Watch for changes" : "Changes",
                      icon: "columns" as const,
                      onChoose: () => go(`/jobs/${job.id}/changes`),
                    },
                  ]),
              { name: "Versions", icon: "clock", onChoose: () => go(`/jobs/${job.id}/versions`) },
              { name: "Show runs", icon: "queue", onChoose: () => go(`/runs?job=${job.id}`) },
              { name: "Delete", icon: "trash", danger: true, needs: "deleteJob", onChoose: () => setDeleted(job) },
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
        note="Saved scrapes, crawls and workflows, to run manually or on a schedule."
        actions={rows.length === 0 ? undefined : <NewButton>New job</NewButton>}
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
      <KeepDialog key={`keep ${keeping?.id}`} job={keeping} onClose={() => setKeeping(null)} />
      <DeleteDialog key={`delete ${deleted?.id}`} job={deleted} onClose={() => setDeleted(null)} />
    </>
  );
}

function ScheduleDialog({ job, onClose }: { job: Job | null; onClose: () => void }) {
  const before = { schedule: job?.schedule?.cron ?? "", timezone: job?.schedule?.timezone ?? job?.timezone ?? "" };
  const [form, setForm] = useState(before);
  const change = useChange("changeJob", { invalidates: OF_JOBS });
  if (job === null) return null;
  const cron = form.schedule.trim();
  const timezone = form.timezone.trim() === "" ? null : form.timezone.trim();
  const save = () =>
    change.mutate(
      {
        params: { job_id: job.id },
        // Keep the other keys of the schedule, such as overlap.
        body: cron === "" ? { schedule: null } : { timezone, schedule: { ...job.schedule, cron, timezone } },
      },
      {
        onSuccess: () => {
          toast(cron === "" ? "The job now runs only when you start it." : "The schedule is saved.");
          onClose();
        },
      },
    );
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    save();
  };
  const wrong = (part: string) => change.error?.fields.find(({ path }) => path.includes(part))?.message;
  const [atZone, atCron] = [wrong("timezone"), wrong("schedule")];
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Schedule of ${nameOf(job)}`}
      unsaved={form.schedule !== before.schedule || form.timezone !== before.timezone}
      actions={
        <Button kind="primary" type="submit" form="schedule" busy={change.isPending}>
          Save schedule
        </Button>
      }
    >
      <form id="schedule" onSubmit={onSubmit} className="stack">
        <ScheduleFields
          form={form}
          change={(more) => setForm((old) => ({ ...old, ...more }))}
          errors={{ schedule: atZone === undefined ? atCron : undefined, timezone: atZone }}
        />
        {change.error === null || change.error.fields.length > 0 ? null : <ErrorBox error={change.error} />}
      </form>
    </Dialog>
  );
}

function DeleteDialog({ job, onClose }: { job: Job | null; onClose: () => void }) {
  const [withRuns, setWithRuns] = useState(false);
  const remove = useChange("deleteJob", {
    invalidates: [...OF_JOBS, "listRuns"],
    onSuccess: () =>
      toast(withRuns ? "The job is deleted. Its runs are being deleted, too." : "The job is deleted. Its runs stay."),
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
        if (job === null) return;
        const query = { ...(works ? { force: true } : {}), ...(withRuns ? { runs: "delete" as const } : {}) };
        remove.mutate({ params: { job_id: job.id }, query });
      }}
    >
      <div className="stack">
        <p>
          {works ? "It is running now; that run will be cancelled. " : ""}
          The job, its schedule and its record of page changes are deleted. This cannot be undone.{" "}
          {withRuns
            ? "Its runs are deleted, too, with their results and files."
            : "Its runs and their results stay until you or a retention rule deletes them."}
        </p>
        <Checkbox
          label="Also delete its runs"
          checked={withRuns}
          onChange={({ target }) => setWithRuns(target.checked)}
        />
      </div>
    </Confirm>
  );
}

function NoJobs() {
  return (
    <EmptyState icon="jobs" title="No jobs yet" actions={<NewButton kind="primary">New job</NewButton>}>
      A job is a scrape, crawl or workflow with a name, to run again or on a schedule. Save one from New, or from a
      terminal:
      <Code text={`orb jobs create --target-url https://example.com --name "Front page" --schedule "0 6 * * *"`} />
    </EmptyState>
  );
}
