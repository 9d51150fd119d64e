import { Fragment, useState } from "react";
import { useCall } from "../../api/query.ts";
import { codeParts, type ConfigEntry, isSet, searchConfig, sourceWords } from "./config.ts";
import { count } from "../../logic/format.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Card } from "../../ui/Card.tsx";
import { Input, Switch } from "../../ui/Field.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";

const COLUMNS: readonly Column<ConfigEntry>[] = [
  {
    id: "name",
    name: "Setting",
    width: "minmax(0, 1.5fr)",
    phone: "head",
    sort: ({ name }) => name,
    cell: ({ name, about }) => (
      <div className="config-name">
        <span>
          {codeParts(about).map((part, index) =>
            part.code ? <code key={index}>{part.text}</code> : <Fragment key={index}>{part.text}</Fragment>,
          )}
        </span>
        <code className="soft wrap">{name}</code>
      </div>
    ),
  },
  {
    id: "value",
    name: "Value",
    width: "minmax(0, 1fr)",
    phone: "wide",
    cell: ({ value }) =>
      value === null || value === "" ? (
        <span className="soft">not set</span>
      ) : (
        <code className="config-value wrap" title={value}>
          {value}
        </code>
      ),
  },
  {
    id: "source",
    name: "From",
    width: "120px",
    sort: ({ source }) => source,
    cell: (entry) => <Badge tone={isSet(entry) ? "info" : "muted"}>{sourceWords(entry.source)}</Badge>,
  },
];

/** The effective configuration; the server masks secrets. */
export function Configuration() {
  const config = useCall("getConfig");
  const [text, setText] = useState("");
  const [onlySet, setOnlySet] = useState(false);
  if (config.error !== null) return <ErrorBox error={config.error} onRetry={() => void config.refetch()} />;
  if (config.data === undefined) return <Skeleton lines={8} height={18} />;
  const rows = searchConfig(config.data, text, onlySet);
  return (
    <div className="stack">
      <div className="config-filter">
        <Input
          label="Search settings"
          bare
          type="search"
          placeholder="Search settings"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Switch
          label="Changed settings only"
          checked={onlySet}
          onChange={(event) => setOnlySet(event.target.checked)}
        />
      </div>
      <Card flush className="config-table">
        <Table
          label="Configuration"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ name }) => name}
          rowHeight={64}
          footer={`${count(rows.length, "setting")}. Read at startup: change the variables, then restart the server. Secrets are shown as ***.`}
          empty={
            <EmptyState icon="search" title="No matching settings">
              Search for part of its name or description.
            </EmptyState>
          }
        />
      </Card>
    </div>
  );
}
