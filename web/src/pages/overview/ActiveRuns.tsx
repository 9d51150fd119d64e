import { eta, percent, rate, sentence, shortNumber } from "../../logic/format.ts";
import { type LiveOverview, runHref, runTitle } from "../../logic/overview.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { LinkButton } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Progress } from "../../ui/Progress.tsx";
import { EmptyState } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/Table.tsx";
import { Link } from "wouter";

type ActiveRun = LiveOverview["active_runs"][number];

const COLUMNS: readonly Column<ActiveRun>[] = [
  {
    id: "run",
    name: "Run",
    width: "minmax(0, 2.2fr)",
    phone: "head",
    cell: (run) => (
      <div className="run-name">
        <Link href={runHref(run)} className="truncate run-link" title={run.url ?? run.name ?? run.id}>
          {runTitle(run)}
        </Link>
        <span className="truncate soft run-why" title={run.waiting_for?.message}>
          {run.waiting_for === null ? sentence(run.kind) : run.waiting_for.message}
        </span>
      </div>
    ),
  },
  { id: "status", name: "Status", width: "118px", phone: "wide", cell: (run) => <StatusBadge status={run.status} /> },
  {
    id: "progress",
    name: "Progress",
    width: "minmax(150px, 1.1fr)",
    phone: "wide",
    cell: (run) => (
      <div className="run-progress">
        <Progress
          value={run.progress}
          label={`Progress of ${runTitle(run)}`}
          tone={run.status === "running" ? "accent" : "muted"}
        />
        <span className="num soft">
          {percent(run.progress / 100)}
          {run.eta_seconds === null ? "" : ` · ${eta(run.eta_seconds)}`}
        </span>
      </div>
    ),
  },
  {
    id: "done",
    name: "Done",
    width: "84px",
    align: "end",
    cell: ({ counts }) => <span className="num">{shortNumber(counts.completed + counts.skipped)}</span>,
  },
  {
    id: "failed",
    name: "Failed",
    width: "70px",
    align: "end",
    cell: ({ counts: { failed } }) => (
      <span className={failed === 0 ? "num soft" : "num run-failed"}>{shortNumber(failed)}</span>
    ),
  },
  {
    id: "rate",
    name: "Pace",
    width: "74px",
    align: "end",
    cell: ({ per_second }) => <span className="num">{rate(per_second)}</span>,
  },
];

export function ActiveRuns({ runs }: { runs: readonly ActiveRun[] }) {
  return (
    <Card
      title="Active runs"
      flush
      actions={
        <LinkButton href="/runs" kind="quiet" size="small">
          All runs
        </LinkButton>
      }
    >
      <Table
        label="Active runs"
        columns={COLUMNS}
        rows={runs}
        keyOf={({ id }) => id}
        hrefOf={runHref}
        rowHeight={56}
        empty={
          <EmptyState
            icon="check"
            title="Nothing is running"
            actions={
              <LinkButton href="/new" icon="plus">
                Start something
              </LinkButton>
            }
          >
            Runs appear here while they are at work, with how far they are and what they wait for.
          </EmptyState>
        }
      />
    </Card>
  );
}
