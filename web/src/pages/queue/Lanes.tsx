import { Link } from "wouter";
import { usePolling, useCall, usePages } from "../../api/query.ts";
import { count } from "../../logic/format.ts";
import { type Lane, laneHref, laneName, ownerOf } from "../../logic/lanes.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { NewButton } from "../../ui/NewButton.tsx";
import { Card } from "../../ui/Card.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { Num, Time } from "../../ui/Values.tsx";
import { Waiting } from "../sites/Waiting.tsx";

export function useLanes() {
  usePolling("listLanes", 4000);
  return usePages("listLanes", { query: { limit: 200 } });
}

export function Lanes({ lanes }: { lanes: ReturnType<typeof useLanes> }) {
  const workers = useCall("listWorkers", {});
  const columns: readonly Column<Lane>[] = [
    {
      id: "lane",
      name: "Lane",
      width: "minmax(165px, 1.6fr)",
      phone: "head",
      sort: (lane) => laneName(lane).name,
      cell: (row) => {
        const { kind, name } = laneName(row);
        const href = laneHref(row);
        return (
          <div className="lane-name">
            {href === null ? (
              <span className="two-lines lane-link" title={row.lane}>
                {name}
              </span>
            ) : (
              <Link href={href} className="two-lines lane-link" title={name}>
                {name}
              </Link>
            )}
            <span className="truncate soft lane-kind">
              {kind}
              {row.sites.length > 1 ? `: ${row.sites.join(", ")}` : ""}
            </span>
          </div>
        );
      },
    },
    { id: "state", name: "State", width: "124px", cell: ({ state }) => <StatusBadge status={state} /> },
    {
      id: "queued",
      name: "Queued",
      width: "66px",
      align: "end",
      sort: ({ counts }) => counts.queued,
      cell: ({ counts }) => <Num value={counts.queued} />,
    },
    {
      id: "running",
      name: "In flight",
      width: "66px",
      align: "end",
      sort: ({ counts }) => counts.running,
      cell: ({ counts }) => <Num value={counts.running} />,
    },
    {
      id: "retrying",
      name: "Retrying",
      width: "66px",
      align: "end",
      sort: ({ counts }) => counts.retrying,
      cell: ({ counts }) => <Num value={counts.retrying} />,
    },
    {
      id: "why",
      name: "Waiting for",
      width: "minmax(170px, 2fr)",
      phone: "wide",
      cell: ({ waiting_for }) =>
        waiting_for === null ? (
          <span className="soft">–</span>
        ) : (
          <span className="two-lines" title={waiting_for.message}>
            <Waiting waiting={waiting_for} short />
          </span>
        ),
    },
    {
      id: "owner",
      name: "Worker",
      width: "124px",
      phone: "wide",
      cell: (lane) => {
        const { name, machine } = ownerOf(lane, workers.data ?? []);
        return (
          <div className={lane.owned ? "lane-name" : "lane-name soft"}>
            <span>{name}</span>
            {machine === null ? null : (
              <span className="truncate soft lane-kind" title={machine}>
                {machine}
              </span>
            )}
          </div>
        );
      },
    },
    {
      id: "oldest",
      name: "Oldest",
      width: "92px",
      sort: ({ oldest_queued_at }) => oldest_queued_at,
      cell: ({ oldest_queued_at }) => <Time at={oldest_queued_at} />,
    },
    { id: "runs", name: "Runs", width: "52px", align: "end", phone: "hide", cell: ({ runs }) => <Num value={runs} /> },
  ];
  return (
    <Card flush>
      {lanes.error !== null && lanes.data === undefined ? (
        <div className="queue-message">
          <ErrorBox error={lanes.error} onRetry={() => void lanes.refetch()} />
        </div>
      ) : lanes.isPending ? (
        <div className="queue-message">
          <Skeleton lines={5} height={18} />
        </div>
      ) : (
        <Table
          label="Lanes"
          columns={columns}
          rows={lanes.rows}
          keyOf={({ lane }) => lane}
          rowHeight={56}
          next={lanes.next}
          footer={`${count(lanes.rows.length, "lane")} with open work`}
          empty={
            <EmptyState icon="check" title="The queue is empty" actions={<NewButton>New run</NewButton>}>
              Every site, site group and workflow step with open work has a lane here, with its worker and what it waits
              for.
            </EmptyState>
          }
        />
      )}
    </Card>
  );
}
