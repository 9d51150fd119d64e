import { Link } from "wouter";
import { usePages } from "../../api/query.ts";
import type { Operations } from "../../api/types.ts";
import { count, words } from "../../logic/format.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Card } from "../../ui/Card.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { Time } from "../../ui/Values.tsx";

type Delivery = Operations["listDeliveries"]["answer"][number];

const COLUMNS: readonly Column<Delivery>[] = [
  {
    id: "message",
    name: "Notification",
    width: "minmax(0, 2fr)",
    phone: "head",
    cell: ({ type, message, channel, job_id, job_name, run_id }) => (
      <div className="config-name">
        <span className="wrap">{message}</span>
        <span className="soft wrap">
          {words(type)} · {channel}
          {job_id === null ? null : (
            <>
              {" · "}
              <Link className="link" href={`/new?job=${encodeURIComponent(job_id)}`}>
                {job_name ?? `job ${job_id.slice(-8)}`}
              </Link>
            </>
          )}
          {run_id === null ? null : (
            <>
              {" · "}
              <Link className="link" href={`/runs/${encodeURIComponent(run_id)}`} title={run_id}>
                run …{run_id.slice(-8)}
              </Link>
            </>
          )}
        </span>
      </div>
    ),
  },
  {
    id: "state",
    name: "Delivery",
    width: "minmax(0, 1fr)",
    phone: "wide",
    cell: ({ state, last_error, tries }) => (
      <div className="config-name">
        <span>
          <StatusBadge status={state} />
        </span>
        {last_error === null ? null : (
          <span className="soft wrap">
            {last_error} ({count(tries, "attempt", "attempts")})
          </span>
        )}
      </div>
    ),
  },
  { id: "at", name: "When", width: "110px", cell: ({ created_at }) => <Time at={created_at} /> },
];

/** What was sent, and what waits. */
export function Deliveries() {
  const deliveries = usePages("listDeliveries", { query: { limit: 100 } });
  return (
    <Card title="Sent and waiting" flush className="config-table">
      {deliveries.error !== null && deliveries.rows.length === 0 ? (
        <div className="channel-message">
          <ErrorBox error={deliveries.error} onRetry={() => void deliveries.refetch()} />
        </div>
      ) : deliveries.isPending ? (
        <div className="channel-message">
          <Skeleton lines={4} />
        </div>
      ) : (
        <Table
          label="Notifications"
          columns={COLUMNS}
          rows={deliveries.rows}
          keyOf={({ id }) => id}
          rowHeight={64}
          next={deliveries.next}
          empty={<EmptyState title="Nothing was sent yet">Each notification of a channel appears here.</EmptyState>}
        />
      )}
    </Card>
  );
}
