import { eta, percent, rate, sentence, shortNumber } from "../../logic/format.ts";
import { type LiveOverview, runHref, runTitle, stepsWords } from "../../logic/overview.ts";
import { messageBeside } from "../../logic/run-page.ts";
import { isHeld } from "../../logic/waiting.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { LinkButton } from "../../ui/Button.tsx";
import { NewButton } from "../../ui/NewButton.tsx";
import { Card } from "../../ui/Card.tsx";
import { Progress } from "../../ui/chart/Progress.tsx";
import { EmptyState } from "../../ui/States.tsx";
import { type Column, Table, usePhone } from "../../ui/table/Table.tsx";
import { useNow } from "../../ui/Values.tsx";
import { Waiting } from "../sites/Waiting.tsx";
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
        <Why run={run} />
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
        <Far run={run} />
        <span className="num soft">
          {percent(run.progress / 100)}
          {run.eta_seconds === null ? "" : ` · ${eta(run.eta_seconds, run.eta_most_seconds)}`}
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
    name: "Throughput",
    width: "100px",
    align: "end",
    cell: (run) => <span className={run.per_second === 0 ? "num soft" : "num"}>{paceOf(run)}</span>,
  },
];

/** On a phone each run has a few lines instead of table cells. */
const COMPACT: readonly Column<ActiveRun>[] = [
  {
    id: "run",
    name: "Run",
    phone: "head",
    cell: (run) => (
      <div className="run-compact">
        <div className="run-compact-head">
          <Link href={runHref(run)} className="truncate run-link">
            {runTitle(run)}
          </Link>
          <StatusBadge status={run.status} />
        </div>
        <Far run={run} />
        <span className="num soft run-why">
          {shortNumber(run.counts.completed + run.counts.skipped)} done ·{" "}
          <span className={run.counts.failed === 0 ? "" : "run-failed"}>{shortNumber(run.counts.failed)} failed</span>
          {paceOf(run) === "–" ? "" : ` · ${paceOf(run)}`}
          {run.eta_seconds === null ? "" : ` · ${eta(run.eta_seconds, run.eta_most_seconds)}`}
        </span>
        {run.waiting_for === null && run.current_steps.length === 0 ? null : <Why run={run} />}
      </div>
    ),
  },
];

/** Why and until when it waits; otherwise its current step, or its kind. */
function Why({ run }: { run: ActiveRun }) {
  const steps = stepsWords(run.current_steps, useNow());
  return (
    <span className="soft run-why two-lines" title={run.waiting_for?.message ?? steps ?? undefined}>
      {run.waiting_for === null ? (
        (steps ?? sentence(run.kind))
      ) : (
        <Waiting waiting={{ ...run.waiting_for, message: messageBeside(runTitle(run), run.waiting_for.message) }} />
      )}
    </span>
  );
}

function Far({ run }: { run: ActiveRun }) {
  return (
    <Progress
      value={run.progress}
      label={`Progress of ${runTitle(run)}`}
      tone={run.status === "running" && !isHeld(run.waiting_for) ? "accent" : "muted"}
    />
  );
}

/** A waiting run has no meaningful rate. */
const paceOf = ({ kind, per_second, waiting_for }: ActiveRun) =>
  isHeld(waiting_for) ? "waiting" : kind === "workflow" && per_second === 0 ? "–" : rate(per_second);

export function ActiveRuns({ runs }: { runs: readonly ActiveRun[] }) {
  const phone = usePhone();
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
        columns={phone ? COMPACT : COLUMNS}
        rows={runs}
        keyOf={({ id }) => id}
        hrefOf={runHref}
        rowHeight={56}
        empty={
          <EmptyState icon="check" title="Nothing is running" actions={<NewButton>New run</NewButton>}>
            Active runs appear here with their progress and what they wait for.
          </EmptyState>
        }
      />
    </Card>
  );
}
