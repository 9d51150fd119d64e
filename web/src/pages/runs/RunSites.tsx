import type { Answer } from "../../api/client.ts";
import { usePages } from "../../api/query.ts";
import type { Run } from "../../api/types.ts";
import { count, sentence } from "../../logic/format.ts";
import { endedShare, totalOf } from "../../logic/run-page.ts";
import { Card } from "../../ui/Card.tsx";
import { Progress } from "../../ui/chart/Progress.tsx";
import { EmptyState, ErrorBox } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { Num, Time } from "../../ui/Values.tsx";

type RunSite = Answer<"listRunSites">[number];

const COLUMNS: Column<RunSite>[] = [
  {
    id: "site",
    name: "Site",
    width: "minmax(160px, 1.4fr)",
    phone: "head",
    sort: ({ site }) => site,
    cell: ({ site }) => <span className="truncate">{site}</span>,
  },
  {
    id: "progress",
    name: "Progress",
    width: "minmax(140px, 1fr)",
    phone: "head",
    sort: ({ counts }) => endedShare(counts),
    cell: ({ site, counts }) => (
      <span className="run-far-line">
        <Progress
          value={endedShare(counts)}
          label={`Progress at ${site}`}
          tone={endedShare(counts) < 100 ? "accent" : counts.failed > 0 ? "warn" : "good"}
        />
        <span className="num">{endedShare(counts)} %</span>
      </span>
    ),
  },
  {
    id: "total",
    name: "Pages",
    width: "70px",
    align: "end",
    sort: (row) => totalOf(row.counts),
    cell: (row) => <Num value={totalOf(row.counts)} />,
  },
  {
    id: "done",
    name: "Completed",
    width: "84px",
    align: "end",
    sort: (row) => row.counts.completed,
    cell: (row) => <Num value={row.counts.completed} />,
  },
  {
    id: "failed",
    name: "Failed",
    width: "66px",
    align: "end",
    sort: (row) => row.counts.failed,
    cell: (row) => <Num value={row.counts.failed} />,
  },
  {
    id: "why",
    name: "Waits for",
    width: "minmax(150px, 1.2fr)",
    cell: ({ waiting_for, last_failure }) =>
      waiting_for === null ? (
        <span className="soft">–</span>
      ) : (
        <span className="truncate" title={last_failure?.message}>
          {sentence(waiting_for.reason)}
          {waiting_for.until === null ? null : (
            <>
              {", "}
              <Time at={waiting_for.until} />
            </>
          )}
        </span>
      ),
  },
];

/** Progress of a run, site by site. */
export function RunSites({ run }: { run: Run }) {
  const sites = usePages("listRunSites", { params: { run_id: run.id }, query: { limit: 200 } });
  if (sites.error !== null && sites.rows.length === 0)
    return <ErrorBox error={sites.error} onRetry={() => void sites.refetch()} />;
  return (
    <Card flush>
      <Table
        label="Sites of this run"
        columns={COLUMNS}
        rows={sites.rows}
        keyOf={({ site }) => site}
        hrefOf={({ site }) => `/sites/${encodeURIComponent(site)}`}
        next={sites.next}
        empty={<EmptyState title="No sites yet">Sites appear here when the run finds their first pages.</EmptyState>}
        footer={count(sites.rows.length, "site")}
      />
    </Card>
  );
}
