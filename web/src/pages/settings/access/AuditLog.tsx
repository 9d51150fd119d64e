import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { addressOf } from "../../../api/client.ts";
import { usePages } from "../../../api/query.ts";
import { count, exactTime } from "../../../logic/format.ts";
import { Button, LinkButton } from "../../../ui/Button.tsx";
import { Card, KeyValue } from "../../../ui/Card.tsx";
import { Input, Select } from "../../../ui/Field.tsx";
import { Dialog } from "../../../ui/overlay/Dialog.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../../ui/States.tsx";
import { type Column, Table } from "../../../ui/table/Table.tsx";
import { useTyped } from "../../../ui/useTyped.ts";
import { Time } from "../../../ui/Values.tsx";
import {
  actionText,
  actorKindText,
  ACTORS,
  type Entry,
  type Filter,
  hrefOf,
  isNarrowed,
  nameOf,
  queryOf,
  readFilter,
  shortId,
  valueText,
  writeFilter,
} from "./audit-log.ts";
import "./access.css";

const COLUMNS: readonly Column<Entry>[] = [
  {
    id: "what",
    name: "What",
    width: "minmax(170px, 1.3fr)",
    phone: "head",
    cell: ({ action }) => <b className="settings-part wrap">{actionText(action)}</b>,
  },
  {
    id: "object",
    name: "Object",
    width: "minmax(150px, 1.5fr)",
    phone: "wide",
    cell: (entry) => <ObjectName entry={entry} short />,
  },
  {
    id: "changes",
    name: "Fields",
    width: "minmax(120px, 1.2fr)",
    phone: "wide",
    cell: ({ changes }) =>
      changes.length === 0 ? (
        <span className="soft">–</span>
      ) : (
        <span className="truncate soft" title={changes.map(({ path }) => path).join(", ")}>
          {changes.map(({ path }) => path).join(", ")}
        </span>
      ),
  },
  {
    id: "who",
    name: "Who",
    width: "minmax(130px, 1fr)",
    priority: 7,
    cell: (entry) => (
      <div className="config-name">
        <span className="wrap">{entry.actor.name}</span>
        <span className="soft">{actorKindText(entry)}</span>
      </div>
    ),
  },
  {
    id: "ip",
    name: "From",
    width: "120px",
    priority: 3,
    cell: ({ ip }) => (ip === null ? <span className="soft">–</span> : <span className="num wrap">{ip}</span>),
  },
  { id: "at", name: "When", width: "110px", priority: 8, cell: ({ at }) => <Time at={at} /> },
];

/** Who changed what. */
export function AuditLog() {
  const [search, setSearch] = useSearchParams();
  const filter = readFilter(search);
  const setFilter = (more: Partial<Filter>) =>
    setSearch((old) => writeFilter(old, { ...readFilter(old), ...more }), { replace: true });
  const query = queryOf(filter);
  const log = usePages("listAuditLog", { query: { limit: 100, ...query } as never });
  const [opened, setOpened] = useState<Entry | null>(null);
  const exported = (format: "csv" | "jsonl") => addressOf("listAuditLog", { query: { ...query, format } as never });
  return (
    <div className="stack">
      <Filters filter={filter} onChange={setFilter} />
      <Card
        title="Audit log"
        flush
        className="config-table"
        actions={
          <>
            <LinkButton size="small" icon="download" href={exported("csv")} download="" aria-label="Export as CSV">
              CSV
            </LinkButton>
            <LinkButton
              size="small"
              icon="download"
              href={exported("jsonl")}
              download=""
              aria-label="Export as JSON lines"
            >
              JSON lines
            </LinkButton>
          </>
        }
      >
        {log.error !== null && log.rows.length === 0 ? (
          <div className="settings-message">
            <ErrorBox error={log.error} onRetry={() => void log.refetch()} />
          </div>
        ) : log.isPending ? (
          <div className="settings-message">
            <Skeleton lines={6} />
          </div>
        ) : (
          <Table
            label="Audit log"
            columns={COLUMNS}
            rows={log.rows}
            keyOf={({ seq }) => String(seq)}
            onOpen={setOpened}
            rowHeight={56}
            next={log.next}
            footer={`${count(log.rows.length, "entry", "entries")}${log.hasNextPage ? " loaded, scroll for more" : ""}`}
            empty={
              isNarrowed(filter) ? (
                <EmptyState icon="search" title="No matching entries">
                  Actions are named as the API names them, such as <code>job.updated</code>, or <code>job</code> for all
                  of jobs.
                </EmptyState>
              ) : (
                <EmptyState icon="clock" title="Nothing was changed yet">
                  Each change of a job, run, site, key or setting appears here, with who made it, from where, and the
                  fields before and after.
                </EmptyState>
              )
            }
          />
        )}
      </Card>
      <Dialog
        open={opened !== null}
        onClose={() => setOpened(null)}
        title={opened === null ? "" : actionText(opened.action)}
        side
        wide
      >
        {opened === null ? null : <Details entry={opened} />}
      </Dialog>
    </div>
  );
}

function Filters({ filter, onChange }: { filter: Filter; onChange: (more: Partial<Filter>) => void }) {
  return (
    <div className="audit-filters" role="search" aria-label="Audit log">
      <Typed label="Who" placeholder="name or id" value={filter.actor} onChange={(actor) => onChange({ actor })} />
      <Select
        label="Kind of caller"
        choices={ACTORS}
        value={filter.actor_kind}
        onChange={({ target }) => onChange({ actor_kind: target.value })}
      />
      <Typed
        label="Action"
        placeholder="job.updated"
        value={filter.action}
        onChange={(action) => onChange({ action })}
      />
      <Typed
        label="Kind of object"
        placeholder="job"
        value={filter.object_kind}
        onChange={(object_kind) => onChange({ object_kind })}
      />
      <Typed
        label="Object"
        placeholder="id or name"
        value={filter.object_id}
        onChange={(object_id) => onChange({ object_id })}
      />
      <Input
        label="Since"
        type="date"
        value={filter.since}
        onChange={({ target }) => onChange({ since: target.value })}
      />
      <Input
        label="Until"
        type="date"
        value={filter.until}
        onChange={({ target }) => onChange({ until: target.value })}
      />
      {isNarrowed(filter) ? (
        <Button kind="quiet" icon="close" onClick={() => onChange(readFilter(new URLSearchParams()))}>
          Clear
        </Button>
      ) : null}
    </div>
  );
}

function Typed({
  label,
  placeholder,
  value,
  onChange,
}: {
  label: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const { text, setText } = useTyped(value, onChange);
  return (
    <Input
      label={label}
      placeholder={placeholder}
      maxLength={300}
      autoComplete="off"
      spellCheck={false}
      value={text}
      onChange={({ target }) => setText(target.value)}
    />
  );
}

/** `short`: in a column, by its name if the entry has it, and the end of its id. */
function ObjectName({ entry, short = false }: { entry: Entry; short?: boolean }) {
  const { kind, id } = entry.object;
  const href = hrefOf(entry.object);
  const name = kind.replaceAll("_", " ");
  if (id === null) return <span className="soft">{name}</span>;
  const text = short ? shortId(id) : id;
  const ownName = short ? nameOf(entry) : null;
  return (
    <span className={short ? "audit-object" : "truncate"} title={`${name} ${id}`}>
      <span className="soft">{name}</span>{" "}
      {href === null ? (
        text
      ) : (
        <Link className="link" href={href}>
          {text}
        </Link>
      )}
      {ownName === null ? null : <span className="truncate soft">{ownName}</span>}
    </span>
  );
}

function Details({ entry }: { entry: Entry }) {
  const { actor, ip, at, changes, request_id: request } = entry;
  return (
    <div className="stack">
      <KeyValue
        pairs={[
          { name: "When", value: exactTime(Date.parse(at)) },
          { name: "Who", value: `${actor.name} (${actorKindText(entry)})` },
          actor.id === null ? null : { name: "Id", value: <span className="num wrap">{actor.id}</span> },
          { name: "Object", value: <ObjectName entry={entry} /> },
          ip === null ? null : { name: "From", value: <span className="num">{ip}</span> },
          request === null ? null : { name: "Request", value: <span className="num wrap">{request}</span> },
        ]}
      />
      {changes.length === 0 ? (
        <p className="soft">No fields are recorded for this action.</p>
      ) : (
        <table className="audit-changes" aria-label="Changed fields">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {changes.map(({ path, before, after }) => (
              <tr key={path}>
                <th scope="row">
                  <code>{path === "" ? "value" : path}</code>
                </th>
                <td className={before === null ? "" : "audit-before"}>{valueText(before)}</td>
                <td className={after === null ? "" : "audit-after"}>{valueText(after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p className="soft">Secrets are masked.</p>
    </div>
  );
}
