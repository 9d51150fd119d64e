import { useCall, useChange, usePages } from "../../api/query.ts";
import type { Operations } from "../../api/types.ts";
import { sentence } from "../../logic/format.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { Time } from "../../ui/Values.tsx";

type Alert = Operations["listAlerts"]["answer"][number];

const COLUMNS: readonly Column<Alert>[] = [
  {
    id: "message",
    name: "Alert",
    width: "minmax(0, 2fr)",
    phone: "head",
    cell: ({ kind, message }) => (
      <div className="config-name">
        <span className="wrap">{message}</span>
        <span className="soft">{sentence(kind)}</span>
      </div>
    ),
  },
  {
    id: "delivery",
    name: "Delivery",
    width: "minmax(0, 1fr)",
    phone: "wide",
    cell: ({ delivery, last_error, tries }) => (
      <div className="config-name">
        <span>
          <StatusBadge status={delivery} />
        </span>
        {last_error === null || delivery === "delivered" ? null : (
          <span className="soft wrap">
            {last_error} ({tries} attempts)
          </span>
        )}
      </div>
    ),
  },
  { id: "at", name: "When", width: "110px", cell: ({ created_at }) => <Time at={created_at} /> },
];

/** Alerts, and whether they were delivered. */
export function Alerts() {
  const alerts = usePages("listAlerts", { query: { limit: 100 } });
  const config = useCall("getConfig");
  const test = useChange("testAlerts", {
    invalidates: ["listAlerts"],
    onSuccess: () => toast("Test alert sent"),
    onError: toastError,
  });
  const receiver = config.data?.find(({ name }) => /ALERT.*(WEBHOOK|URL)/.test(name));
  return (
    <Card
      title="Alerts"
      flush
      className="config-table"
      actions={
        <Button size="small" needs="testAlerts" busy={test.isPending} onClick={() => test.mutate({})}>
          Send a test
        </Button>
      }
    >
      {alerts.error !== null && alerts.rows.length === 0 ? (
        <div className="settings-message">
          <ErrorBox error={alerts.error} onRetry={() => void alerts.refetch()} />
        </div>
      ) : alerts.isPending ? (
        <div className="settings-message">
          <Skeleton lines={4} />
        </div>
      ) : (
        <Table
          label="Alerts"
          columns={COLUMNS}
          rows={alerts.rows}
          keyOf={({ id }) => id}
          rowHeight={64}
          next={alerts.next}
          empty={
            <EmptyState icon="check" title="No alerts yet">
              A site that keeps failing, a lost worker, a failed run or a full disk appears here. To receive alerts, set{" "}
              <code>{receiver?.name ?? "APP_ALERT_WEBHOOK_URL"}</code> to the URL of a webhook.
            </EmptyState>
          }
        />
      )}
    </Card>
  );
}
