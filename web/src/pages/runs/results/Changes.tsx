import { Link } from "wouter";
import { type Answer } from "../../../api/client.ts";
import { usePages } from "../../../api/query.ts";
import type { Run } from "../../../api/types.ts";
import { count, plainUrl, sentence } from "../../../logic/format.ts";
import { Badge } from "../../../ui/Badge.tsx";
import { Card, Stat } from "../../../ui/Card.tsx";
import { CutText } from "../../../ui/text/CutText.tsx";
import { EmptyState, ErrorBox } from "../../../ui/States.tsx";
import { type Column, Table } from "../../../ui/table/Table.tsx";
import { Num } from "../../../ui/Values.tsx";

type Change = Answer<"listRunChanges">[number];

const TONES = { new: "good", changed: "info", gone: "warn" } as const;

const COLUMNS: Column<Change>[] = [
  {
    id: "change",
    name: "Change",
    width: "110px",
    phone: "head",
    cell: ({ change }) => <Badge tone={TONES[change]}>{sentence(change)}</Badge>,
  },
  {
    id: "url",
    name: "Page",
    width: "minmax(200px, 1fr)",
    phone: "head",
    cell: ({ url }) => (
      <a href={url} target="_blank" rel="noreferrer">
        <CutText text={plainUrl(url)} />
      </a>
    ),
  },
];

/** Changes against the job's previous run. */
export function Changes({ run, changes }: { run: Run; changes: NonNullable<Run["changes"]> }) {
  const pages = usePages("listRunChanges", { params: { run_id: run.id }, query: { limit: 200 } });
  if (pages.error !== null && pages.rows.length === 0)
    return <ErrorBox error={pages.error} onRetry={() => void pages.refetch()} />;
  return (
    <div className="stack">
      <Card>
        <div className="run-stats">
          <Stat name="New" value={<Num value={changes.new} />} />
          <Stat name="Changed" value={<Num value={changes.changed} />} />
          <Stat name="Unchanged" value={<Num value={changes.unchanged} />} />
          <Stat name="Gone" value={<Num value={changes.gone} />} />
          {changes.unknown === null || changes.unknown === 0 ? null : (
            <Stat
              name="Not compared"
              value={<Num value={changes.unknown} />}
              note="known before; failed or not reached in this run"
            />
          )}
        </div>
        {changes.compared_with === null ? null : (
          <p className="soft">
            Compared with <Link href={`/runs/${changes.compared_with}`}>the previous run</Link>.
          </p>
        )}
      </Card>
      <Card flush>
        <Table
          label="Pages that changed"
          columns={COLUMNS}
          rows={pages.rows}
          keyOf={({ change, url }) => `${change} ${url}`}
          next={pages.next}
          empty={<EmptyState title="No differences">No page changed.</EmptyState>}
          footer={count(pages.rows.length, "page")}
        />
      </Card>
    </div>
  );
}
