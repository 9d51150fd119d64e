import { usePolling, usePages } from "../../api/query.ts";
import type { Schedule } from "../../api/types.ts";
import { count, sentence, shortNumber } from "../../logic/format.ts";
import { cronWords, scheduleTitle, zonedTime } from "./schedules.ts";
import { ALWAYS } from "../../logic/table.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { NewButton } from "../../ui/NewButton.tsx";
import { Card } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { EmptyState, ErrorBox, PageSkeleton } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { useDrawer } from "../../ui/overlay/useDrawer.ts";
import { Time } from "../../ui/Values.tsx";
import { ScheduleButtons, useScheduleActions } from "./ScheduleButtons.tsx";
import { ScheduleDetails } from "./ScheduleDetails.tsx";
import "./schedules.css";

/** Scheduled jobs: next occurrence, and the outcome of the last ones. */
export default function Schedules() {
  const list = usePages("listSchedules", { query: { limit: 200 } });
  usePolling("listSchedules", 10_000);
  const drawer = useDrawer("job");
  const actions = useScheduleActions();
  const columns: readonly Column<Schedule>[] = [
    {
      id: "name",
      name: "Job",
      width: "minmax(0, 1.7fr)",
      phone: "head",
      sort: scheduleTitle,
      cell: (row) => (
        <div className="schedule-name">
          <span className="truncate schedule-title" title={scheduleTitle(row)}>
            {scheduleTitle(row)}
          </span>
          <span className="truncate soft schedule-note">{row.waiting_for?.message ?? sentence(row.kind)}</span>
        </div>
      ),
    },
    {
      id: "when",
      name: "When",
      width: "minmax(0, 1.3fr)",
      phone: "wide",
      cell: ({ cron, timezone }) => (
        <div className="schedule-name">
          <span className="truncate">{sentence(cronWords(cron) ?? cron)}</span>
          <span className="truncate soft schedule-note" title={`${cron}, ${timezone}`}>
            {cronWords(cron) === null ? timezone : `${cron} · ${timezone}`}
          </span>
        </div>
      ),
    },
    {
      id: "next",
      name: "Next run",
      width: "minmax(0, 1.2fr)",
      phone: "wide",
      sort: ({ paused, next_at }) => (paused ? null : next_at),
      cell: ({ paused, next_at, timezone }) =>
        paused ? (
          <StatusBadge status="paused" />
        ) : next_at === null ? (
          <span className="soft">no further run</span>
        ) : (
          <div className="schedule-name">
            <span className="num truncate">{zonedTime(next_at, timezone)}</span>
            <span className="soft schedule-note">
              <Time at={next_at} />
            </span>
          </div>
        ),
    },
    {
      id: "last",
      name: "Last scheduled run",
      width: "minmax(0, 1.2fr)",
      sort: ({ last }) => last?.noted_at,
      cell: ({ last }) =>
        last === null ? (
          <span className="soft">none yet</span>
        ) : (
          <div className="schedule-last" title={last.message ?? undefined}>
            <StatusBadge status={last.outcome} />
            <span className="soft">
              <Time at={last.noted_at} />
            </span>
          </div>
        ),
    },
    {
      id: "counts",
      name: "Started / not started",
      width: "140px",
      align: "end",
      cell: ({ counts: { started, missed, skipped, refused } }) => (
        <span className="num" title={`${started} started, ${missed} missed, ${skipped} skipped, ${refused} refused`}>
          {shortNumber(started)} <span className="soft">/</span> {shortNumber(missed + skipped + refused)}
        </span>
      ),
    },
    {
      id: "actions",
      name: "Actions",
      width: "184px",
      priority: ALWAYS,
      align: "end",
      phone: "wide",
      cell: (row) => <ScheduleButtons schedule={row} actions={actions} />,
    },
  ];
  return (
    <>
      <PageHeader
        title="Schedules"
        note="Jobs that run automatically. Times are in the time zone of each schedule."
        actions={list.rows.length === 0 ? undefined : <NewButton>New job</NewButton>}
      />
      {list.error !== null && list.data === undefined ? (
        <ErrorBox error={list.error} onRetry={() => void list.refetch()} />
      ) : list.isPending ? (
        <PageSkeleton />
      ) : (
        <Card flush={list.rows.length > 0}>
          <Table
            label="Schedules"
            columns={columns}
            rows={list.rows}
            keyOf={({ job_id }) => job_id}
            rowHeight={58}
            onOpen={({ job_id }) => drawer.open(job_id)}
            next={list.next}
            footer={count(list.rows.length, "schedule")}
            empty={
              <EmptyState
                icon="schedules"
                title="Nothing is scheduled yet"
                actions={<NewButton kind="primary">New job</NewButton>}
              >
                <p>
                  A job with a schedule runs at those times, also after a restart. Missed and skipped runs are listed
                  with the reason.
                </p>
                <Code
                  wrap
                  label="Copy command"
                  text={`curl -X POST ${location.origin}/jobs -H 'content-type: application/json' \\\n  -d '{"target_url": "https://example.com", "schedule": "0 9 * * *"}'`}
                />
              </EmptyState>
            }
          />
        </Card>
      )}
      <ScheduleDetails
        schedule={list.rows.find(({ job_id }) => job_id === drawer.opened) ?? null}
        onClose={drawer.close}
        actions={actions}
      />
    </>
  );
}
