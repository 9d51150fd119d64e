import { useQueries } from "@tanstack/react-query";
import { Link } from "wouter";
import { call } from "../../api/client.ts";
import { keyOf, useCall } from "../../api/query.ts";
import type { Run } from "../../api/types.ts";
import { plainUrl, sentence, shortNumber } from "../../logic/format.ts";
import { runHref, runTitle } from "../../logic/overview.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { LinkButton } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { Time } from "../../ui/Values.tsx";

const COLUMNS: readonly Column<Run>[] = [
  {
    id: "run",
    name: "Run",
    width: "minmax(0, 2fr)",
    phone: "head",
    cell: (run) => (
      <Link href={runHref(run)} className="truncate site-link" title={run.url ?? run.id}>
        {runTitle(run)}
      </Link>
    ),
  },
  { id: "kind", name: "Kind", width: "90px", cell: ({ kind }) => sentence(kind) },
  { id: "status", name: "Status", width: "120px", cell: ({ status }) => <StatusBadge status={status} /> },
  {
    id: "message",
    name: "Message",
    width: "minmax(0, 1.6fr)",
    phone: "hide",
    cell: ({ error_message, message }) => (
      <span className="truncate soft" title={error_message ?? message ?? ""}>
        {error_message ?? message ?? ""}
      </span>
    ),
  },
  { id: "created", name: "Started", width: "104px", cell: ({ created_at }) => <Time at={created_at} /> },
];

export function SiteRuns({ site }: { site: string }) {
  const runs = useCall("listRuns", { query: { site, limit: 10 } });
  return (
    <Card
      title="Runs that started here"
      flush
      actions={
        <LinkButton href={`/runs?site=${encodeURIComponent(site)}&steps=true`} kind="quiet" size="small">
          See all
        </LinkButton>
      }
    >
      {runs.error !== null ? (
        <div className="site-message">
          <ErrorBox error={runs.error} onRetry={() => void runs.refetch()} />
        </div>
      ) : runs.data === undefined ? (
        <div className="site-message">
          <Skeleton lines={3} />
        </div>
      ) : (
        <Table
          label="Runs of this site"
          columns={COLUMNS}
          rows={runs.data}
          keyOf={({ id }) => id}
          hrefOf={runHref}
          empty={
            <EmptyState icon="runs" title="No runs started at this site">
              Crawls that started on other sites may still fetch pages here.
            </EmptyState>
          }
        />
      )}
    </Card>
  );
}

/** Recent failures at this site. */
export function RecentFailures({ site }: { site: string }) {
  const runs = useCall("listRuns", { query: { site, limit: 5 } });
  const ids = (runs.data ?? []).filter(({ kind }) => kind !== "workflow").map(({ id }) => id);
  const groups = useQueries({
    queries: ids.map((run_id) => ({
      queryKey: keyOf("listRunErrors", { params: { run_id } }),
      queryFn: () => call("listRunErrors", { params: { run_id } }),
    })),
  });
  const failures = groups.flatMap(({ data }, index) =>
    (data ?? []).map((group) => ({ ...group, run_id: ids[index] ?? "" })),
  );
  return (
    <Card title="Recent failures" flush>
      {runs.data === undefined || groups.some(({ isPending }) => isPending) ? (
        <div className="site-message">
          <Skeleton lines={3} />
        </div>
      ) : failures.length === 0 ? (
        <p className="site-message soft">No page failed permanently in the latest runs that started at this site.</p>
      ) : (
        <ul className="plain-lines">
          {failures.slice(0, 8).map(({ failure_reason, count, example, run_id }) => (
            <li key={`${run_id} ${failure_reason}`}>
              <div className="plain-line-main">
                <Link href={`/runs/${run_id}?tab=errors`} className="truncate site-link">
                  {sentence(failure_reason)}
                </Link>
                <span className="soft wrap" title={example.url ?? undefined}>
                  {example.message}
                  {example.url === null ? null : ` · ${plainUrl(example.url)}`}
                </span>
              </div>
              <span className="num">{shortNumber(count)} ×</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
