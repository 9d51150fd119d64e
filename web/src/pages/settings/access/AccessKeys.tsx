import { useState } from "react";
import { useCall, useChange, usePages } from "../../../api/query.ts";
import { useOwnRights } from "../../../api/rights.ts";
import { count, fullNumber, sentence } from "../../../logic/format.ts";
import { limitsText } from "../../../logic/rights.ts";
import { ALWAYS } from "../../../logic/table.ts";
import { Badge } from "../../../ui/Badge.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Segmented } from "../../../ui/Field.tsx";
import { Confirm } from "../../../ui/overlay/Dialog.tsx";
import { toast, toastError } from "../../../ui/overlay/Toast.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../../ui/States.tsx";
import { type Column, Table } from "../../../ui/table/Table.tsx";
import { Time } from "../../../ui/Values.tsx";
import { nameOf } from "../../jobs/job-names.ts";
import { CreateKey, EditKey } from "./CreateKey.tsx";
import { type Key, lookOfKey } from "./key-form.ts";
import "./access.css";

const SHOWN = [
  { value: "current", name: "Current" },
  { value: "revoked", name: "Revoked" },
];

/** Keys of people, programs and agents; a key itself is shown only when it is created. */
export function AccessKeys() {
  const [shown, setShown] = useState("current");
  const keys = usePages("listKeys", { query: { limit: 100, revoked: shown === "revoked" } });
  const jobs = useCall("listJobs", { query: { limit: 200 } });
  const own = useOwnRights();
  const [isCreating, setCreating] = useState(false);
  const [edited, setEdited] = useState<Key | null>(null);
  const [doomed, setDoomed] = useState<Key | null>(null);
  const revoke = useChange("revokeKey", {
    invalidates: ["listKeys", "listAuditLog"],
    onSuccess: ({ name }) => {
      setDoomed(null);
      toast(`The key ${name} is revoked`);
    },
    onError: toastError,
  });
  const jobName = (id: string) => {
    const job = jobs.data?.find((one) => one.id === id);
    return job === undefined ? id : nameOf(job);
  };
  const columns: Column<Key>[] = [
    {
      id: "name",
      name: "Key",
      width: "minmax(150px, 1.3fr)",
      phone: "head",
      cell: ({ id, name, prefix }) => (
        <div className="config-name">
          <b className="settings-part wrap">
            {name}
            {own.data?.id === id ? <span className="soft"> (yours)</span> : null}
          </b>
          <code className="soft">{prefix}…</code>
        </div>
      ),
    },
    { id: "role", name: "Role", width: "84px", priority: 8, cell: ({ role }) => sentence(role) },
    {
      id: "limits",
      name: "Limits",
      width: "minmax(150px, 1.6fr)",
      phone: "wide",
      priority: 6,
      cell: (key) => {
        const limits = limitsText(key, jobName);
        const rate = key.requests_per_minute;
        return (
          <div className="config-name">
            <span className={limits === null ? "soft wrap" : "wrap"}>{limits ?? "All jobs and sites"}</span>
            {rate === null ? null : <span className="soft">{fullNumber(rate)} requests per minute</span>}
          </div>
        );
      },
    },
    {
      id: "expires",
      name: "Expires",
      width: "96px",
      cell: ({ expires_at: at }) => (at === null ? <span className="soft">Never</span> : <Time at={at} />),
    },
    {
      id: "used",
      name: "Last use",
      width: "96px",
      cell: ({ last_used_at: at }) => (at === null ? <span className="soft">Never</span> : <Time at={at} />),
    },
    {
      id: "created",
      name: "Created",
      width: "minmax(110px, 0.8fr)",
      priority: 2,
      cell: ({ created_at: at, created_by: by }) => (
        <div className="config-name">
          <Time at={at} />
          {by === null ? null : <span className="soft wrap">by {by.name}</span>}
        </div>
      ),
    },
    {
      id: "state",
      name: "State",
      width: "92px",
      priority: 8,
      cell: (key) => {
        const { word, tone } = lookOfKey(key);
        return <Badge tone={tone}>{word}</Badge>;
      },
    },
    {
      id: "do",
      name: "Actions",
      width: "178px",
      phone: "wide",
      priority: ALWAYS,
      align: "end",
      cell: (key) =>
        key.status === "revoked" ? (
          <Time at={key.revoked_at} />
        ) : (
          <div className="key-actions">
            <Button size="small" needs="changeKey" aria-label={`Change ${key.name}`} onClick={() => setEdited(key)}>
              Change
            </Button>
            <Button
              size="small"
              kind="danger"
              needs="revokeKey"
              aria-label={`Revoke ${key.name}`}
              onClick={() => setDoomed(key)}
            >
              Revoke
            </Button>
          </div>
        ),
    },
  ];
  const create = (
    <Button size="small" icon="plus" needs="createKey" onClick={() => setCreating(true)}>
      Create key
    </Button>
  );
  return (
    <Card
      title="Access keys"
      actions={
        <>
          <Segmented label="Show keys" value={shown} choices={SHOWN} onChange={setShown} />
          {create}
        </>
      }
      flush
      className="config-table"
    >
      {keys.error !== null && keys.rows.length === 0 ? (
        <div className="settings-message">
          <ErrorBox error={keys.error} onRetry={() => void keys.refetch()} />
        </div>
      ) : keys.isPending ? (
        <div className="settings-message">
          <Skeleton lines={4} />
        </div>
      ) : (
        <Table
          label="Access keys"
          columns={columns}
          rows={keys.rows}
          keyOf={({ id }) => id}
          rowHeight={56}
          next={keys.next}
          footer={count(keys.rows.length, "key")}
          empty={
            shown === "revoked" ? (
              <EmptyState icon="person" title="No key was revoked">
                Revoked keys stay in this list.
              </EmptyState>
            ) : (
              <EmptyState icon="person" title="No access keys yet">
                Give every person, program and agent a key of their own, with a role, limits and an end. What each of
                them changes is then in the audit log under their name.
              </EmptyState>
            )
          }
        />
      )}
      <Confirm
        open={doomed !== null}
        onClose={() => setDoomed(null)}
        onConfirm={() => {
          if (doomed !== null) revoke.mutate({ params: { key_id: doomed.id } });
        }}
        title={doomed === null ? "" : `Revoke ${doomed.name}?`}
        verb="Revoke key"
        danger
        busy={revoke.isPending}
      >
        <p className="wrap">
          Within a second it is refused everywhere, its streams end and its browsers are signed out. This cannot be
          undone.
          {doomed !== null && doomed.id === own.data?.id ? " You are signed in with this key." : ""}
        </p>
      </Confirm>
      {edited === null ? null : <EditKey of={edited} onClose={() => setEdited(null)} />}
      {isCreating ? <CreateKey onClose={() => setCreating(false)} /> : null}
    </Card>
  );
}
