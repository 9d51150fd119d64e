import { useState } from "react";
import { useChange, usePages } from "../../api/query.ts";
import type { Operations } from "../../api/types.ts";
import { count, plainUrl, sentence } from "../../logic/format.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { Select } from "../../ui/Field.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { Num, Time } from "../../ui/Values.tsx";

type Item = Operations["listQueueItems"]["answer"][number];

const STATES: readonly { value: "" | Item["status"]; name: string }[] = [
  { value: "", name: "All items" },
  { value: "error", name: "Failed" },
  { value: "queued", name: "Queued" },
  { value: "in_progress", name: "In progress" },
  { value: "done", name: "Done" },
  { value: "skipped", name: "Skipped" },
];

/** Items of the download queue. */
export function Items({ failed, onAdd }: { failed: number; onAdd: () => void }) {
  const [status, setStatus] = useState<"" | Item["status"]>(failed > 0 ? "error" : "");
  const items = usePages("listQueueItems", { query: { limit: 200, ...(status === "" ? {} : { status }) } });
  const retry = useChange("retryFailedItems", {
    invalidates: ["listQueueItems", "getQueueStats", "listLanes", "getOverview"],
    onSuccess: ({ requeued }) => toast(`Retrying ${count(requeued, "item")}`),
    onError: toastError,
  });
  return (
    <div className="stack">
      <div className="spread">
        <Select
          label="Status"
          bare
          choices={STATES}
          value={status}
          onChange={(event) => setStatus(event.target.value as Item["status"])}
        />
        <Button
          icon="retry"
          needs="retryFailedItems"
          disabled={failed === 0}
          busy={retry.isPending}
          onClick={() => retry.mutate({ body: {} })}
        >
          {failed === 0 ? "Retry failed" : `Retry ${count(failed, "failed item")}`}
        </Button>
      </div>
      <Card flush>
        {items.error !== null && items.rows.length === 0 ? (
          <div className="queue-message">
            <ErrorBox error={items.error} onRetry={() => void items.refetch()} />
          </div>
        ) : items.isPending ? (
          <div className="queue-message">
            <Skeleton lines={5} height={18} />
          </div>
        ) : (
          <Table
            label="Items"
            columns={COLUMNS}
            rows={items.rows}
            keyOf={({ id }) => id}
            rowHeight={56}
            next={items.next}
            footer={count(items.rows.length, "item")}
            empty={
              status === "" ? (
                <EmptyState
                  icon="queue"
                  title="No items yet"
                  actions={
                    <Button icon="plus" needs="addQueueItems" onClick={onAdd}>
                      Add items
                    </Button>
                  }
                >
                  <p>Items are files or pages to fetch once each. Their content is stored.</p>
                  <Code text="orb queue import items.jsonl" label="Copy command" />
                </EmptyState>
              ) : (
                <EmptyState icon="check" title="No matching items">
                  Choose “All items” to see the others.
                </EmptyState>
              )
            }
          />
        )}
      </Card>
    </div>
  );
}

const COLUMNS: readonly Column<Item>[] = [
  {
    id: "item",
    name: "Item",
    width: "minmax(0, 2fr)",
    phone: "head",
    cell: ({ artifact_id, url }) => (
      <div className="lane-name">
        <span className="truncate lane-link" title={artifact_id}>
          {artifact_id === url ? plainUrl(artifact_id) : artifact_id}
        </span>
        {url === null || url === artifact_id ? null : (
          <span className="truncate soft lane-kind" title={url}>
            {plainUrl(url)}
          </span>
        )}
      </div>
    ),
  },
  { id: "status", name: "Status", width: "116px", cell: ({ status }) => <StatusBadge status={status} /> },
  {
    id: "concurrency_key",
    name: "Concurrency key",
    width: "128px",
    cell: ({ concurrency_key: key }) => <span className="truncate">{key ?? "–"}</span>,
  },
  { id: "attempts", name: "Attempts", width: "52px", align: "end", cell: ({ attempts }) => <Num value={attempts} /> },
  {
    id: "why",
    name: "Details",
    width: "minmax(0, 2fr)",
    phone: "wide",
    cell: ({ failure_reason, message, owner, waiting_for: waits }) =>
      owner !== null ? (
        <span className="soft two-lines" title={owner.worker_id ?? ""}>
          On {owner.machine ?? "a worker"}
          {owner.pid === null ? "" : ` (pid ${owner.pid})`} · lease ends <Time at={owner.lease_expires_at} />
        </span>
      ) : failure_reason === null ? (
        <span className="soft two-lines">{waits?.message ?? message ?? "–"}</span>
      ) : (
        <span className="two-lines" title={message ?? ""}>
          {sentence(failure_reason)}
          {message === null ? "" : ` · ${message}`}
        </span>
      ),
  },
  {
    id: "when",
    name: "Added",
    width: "92px",
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];
