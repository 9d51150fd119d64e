import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { BULK_ACTIONS, BULK_WORDS, type BulkAction } from "../logic/bulk.ts";
import { count, fullNumber, words } from "../../../logic/format.ts";
import {
  choiceOf,
  deletionOf,
  KIND_NAMES,
  isNarrowed,
  readFilter,
  type RunFilter,
  writeFilter,
} from "../logic/run-filter.ts";
import { belowTitle, outcomeList, progressWords, titleOf } from "../../../logic/run-page.ts";
import { choose } from "../../../logic/run-rows.ts";
import { isActive } from "../../../logic/states.ts";
import { ALWAYS } from "../../../logic/table.ts";
import { StatusBadge } from "../../../ui/Badge.tsx";
import { Button, LinkButton } from "../../../ui/Button.tsx";
import { NewButton } from "../../../ui/NewButton.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Code } from "../../../ui/text/Code.tsx";
import { useColumns } from "../../../ui/table/ColumnChoice.tsx";
import { Icon, type IconName } from "../../../ui/Icon.tsx";
import { Menu } from "../../../ui/overlay/Menu.tsx";
import { PageHeader } from "../../../ui/PageHeader.tsx";
import { Progress } from "../../../ui/chart/Progress.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../../ui/States.tsx";
import { type Column, Table } from "../../../ui/table/Table.tsx";
import { Duration, Time } from "../../../ui/Values.tsx";
import { Waiting } from "../../sites/Waiting.tsx";
import { type Bulk, BulkDialog } from "./BulkDialog.tsx";
import { type Deleted, DeleteRuns } from "./DeleteRuns.tsx";
import { RunFilters } from "./RunFilters.tsx";
import { SavedViews } from "./SavedViews.tsx";
import { type RunRow, useRunList } from "./useRunList.ts";
import "./runs.css";

const ICONS: Record<BulkAction, IconName> = { cancel: "stop", pause: "pause", resume: "runs", "retry-failed": "retry" };
const MOST_CHOSEN = 1000;

/** Workflows have their own page. */
const hrefOf = ({ id, kind }: RunRow) => (kind === "workflow" ? `/workflows/${id}` : `/runs/${id}`);

export default function Runs() {
  const [search] = useSearchParams();
  const [, go] = useLocation();
  const filter = readFilter(search);
  const setFilter = (next: RunFilter) => {
    const text = writeFilter(next);
    go(text === "" ? "/runs" : `/runs?${text}`, { replace: true });
  };
  const { list, rows, askedAt, total, next } = useRunList(filter);
  const { chosen, setChosen, onChoose } = useChosen(rows, writeFilter(filter));
  const gone = useMemo(() => chosen.size - rows.filter(({ id }) => chosen.has(id)).length, [chosen, rows]);
  const [bulk, setBulk] = useState<Bulk | null>(null);
  const [deleted, setDeleted] = useState<Deleted | null>(null);
  const columns = useRunColumns(rows, chosen, onChoose, setChosen);
  const { shown, menu } = useColumns("runs", columns);
  const onAll = (action: BulkAction) =>
    setBulk({
      action,
      filter: choiceOf(filter, askedAt),
      which: isNarrowed(filter)
        ? "all runs that match the filter"
        : filter.steps
          ? "all runs"
          : "all runs except those of workflow steps",
    });
  const onDeleteAll = () =>
    setDeleted({
      filter: deletionOf(filter, askedAt),
      which: isNarrowed(filter) ? "all ended runs that match the filter" : "all ended runs",
    });
  const onChosen = (action: BulkAction) =>
    setBulk({ action, filter: { run_ids: [...chosen] }, which: `the ${count(chosen.size, "run")} you selected` });
  return (
    <>
      <PageHeader
        title="Runs"
        actions={
          <>
            {menu}
            <Menu
              label="Bulk actions"
              trigger={
                <>
                  Bulk actions
                  <Icon name="chevron" size={12} />
                </>
              }
              items={[
                ...BULK_ACTIONS.map((action) => ({
                  name: `${BULK_WORDS[action].verb} …`.replace("pages of …", "pages …"),
                  icon: ICONS[action],
                  danger: action === "cancel",
                  needs: "changeRuns" as const,
                  onChoose: () => onAll(action),
                })),
                {
                  name: "Delete …",
                  icon: "trash" as const,
                  danger: true,
                  needs: "deleteRuns" as const,
                  onChoose: onDeleteAll,
                },
              ]}
            />
          </>
        }
      />
      <div className="stack runs-tools">
        <SavedViews filter={filter} />
        <RunFilters filter={filter} onChange={setFilter} />
      </div>
      {list.isError && rows.length === 0 ? (
        <ErrorBox error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card flush className={list.isPlaceholderData ? "runs-old" : ""}>
          {list.isPending ? (
            <div className="runs-loading" role="status">
              <span className="spoken">Loading</span>
              <Skeleton lines={8} height={20} />
            </div>
          ) : (
            <Table
              label="Runs"
              columns={shown}
              rows={rows}
              keyOf={({ id }) => id}
              hrefOf={hrefOf}
              next={next}
              ahead={PAGES_AHEAD}
              empty={<NoRuns filter={filter} />}
              footer={
                <Foot loaded={rows.length} total={total} loading={list.isFetchingNextPage} more={list.hasNextPage} />
              }
            />
          )}
        </Card>
      )}
      {chosen.size > 0 ? (
        <div className="runs-chosen" role="region" aria-label="Selected runs">
          <strong>{fullNumber(chosen.size)} selected</strong>
          {gone === 0 ? null : <span className="soft">{fullNumber(gone)} of them no longer in this list</span>}
          {BULK_ACTIONS.map((action) => (
            <Button key={action} size="small" icon={ICONS[action]} needs="changeRuns" onClick={() => onChosen(action)}>
              {action === "retry-failed" ? "Retry failed" : BULK_WORDS[action].verb}
            </Button>
          ))}
          <Button
            size="small"
            icon="trash"
            needs="deleteRuns"
            onClick={() =>
              setDeleted({ filter: { run_ids: [...chosen] }, which: `the ${count(chosen.size, "run")} you selected` })
            }
          >
            Delete
          </Button>
          <Button size="small" kind="quiet" onClick={() => setChosen(new Set())}>
            Clear selection
          </Button>
        </div>
      ) : null}
      <DeleteRuns
        deleted={deleted}
        onClose={() => {
          setDeleted(null);
          setChosen(new Set());
        }}
      />
      <BulkDialog bulk={bulk} onClose={() => setBulk(null)} onDone={() => setChosen(new Set())} />
    </>
  );
}

/** Prefetch distance, so that the next page is loaded before the user scrolls to it. */
const PAGES_AHEAD = 400;

/** Another list resets the selection: no action may affect invisible runs. */
function useChosen(rows: readonly RunRow[], search: string) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => setChosen(new Set()), [search]);
  const last = useRef<string | null>(null);
  const latest = useRef(rows);
  latest.current = rows;
  const onChoose = useCallback((id: string, range: boolean) => {
    setChosen((old) => {
      const ids = latest.current.map((row) => row.id);
      const next = choose(old, ids, id, { last: last.current, range });
      last.current = id;
      return next.size > MOST_CHOSEN ? old : next;
    });
  }, []);
  return { chosen, setChosen, onChoose };
}

function useRunColumns(
  rows: readonly RunRow[],
  chosen: ReadonlySet<string>,
  onChoose: (id: string, range: boolean) => void,
  setChosen: (ids: ReadonlySet<string>) => void,
): Column<RunRow>[] {
  return useMemo(() => {
    const all = rows.length > 0 && rows.slice(0, MOST_CHOSEN).every(({ id }) => chosen.has(id));
    return [
      {
        id: "chosen",
        name: "Selected",
        width: "20px",
        priority: ALWAYS,
        phone: "hide",
        head: (
          <input
            type="checkbox"
            className="tick-box"
            aria-label="Select all loaded runs"
            checked={all}
            onChange={() => setChosen(all ? new Set() : new Set(rows.slice(0, MOST_CHOSEN).map(({ id }) => id)))}
          />
        ),
        cell: (row) => (
          <input
            type="checkbox"
            className="tick-box"
            aria-label={`Select ${titleOf(row)}`}
            checked={chosen.has(row.id)}
            onChange={({ nativeEvent }) => onChoose(row.id, (nativeEvent as MouseEvent).shiftKey)}
          />
        ),
      },
      { id: "name", name: "Run", width: "minmax(200px, 1.8fr)", phone: "head", cell: (row) => <Name row={row} /> },
      { id: "status", name: "Status", width: "140px", cell: (row) => <Status row={row} /> },
      { id: "kind", name: "Kind", width: "88px", phone: "hide", cell: ({ kind }) => KIND_NAMES[kind] },
      {
        id: "progress",
        name: "Progress",
        width: "minmax(170px, 1.6fr)",
        phone: "head",
        cell: (row) => <Far row={row} />,
      },
      {
        id: "site",
        name: "Site",
        width: "minmax(110px, 0.8fr)",
        hidden: true,
        cell: ({ site }) => <span className="truncate">{site ?? "–"}</span>,
      },
      { id: "created", name: "Created", width: "92px", cell: ({ created_at }) => <Time at={created_at} /> },
      {
        id: "took",
        name: "Took",
        width: "84px",
        align: "end",
        cell: ({ started_at, finished_at, status }) =>
          finished_at === null && !isActive(status) ? "–" : <Duration since={started_at} until={finished_at} />,
      },
      {
        id: "id",
        name: "Id",
        width: "90px",
        hidden: true,
        cell: ({ id }) => <span className="mono">{id.slice(0, 8)}</span>,
      },
    ];
  }, [rows, chosen, onChoose, setChosen]);
}

function Status({ row: { status, degraded = null, job_id } }: { row: RunRow }) {
  if (degraded === null || job_id === null) return <StatusBadge status={status} />;
  return (
    <span className="row run-status">
      <StatusBadge status={status} />
      <Link
        href={`/jobs/${job_id}/quality`}
        className="run-degraded"
        title="Records degraded: show the data quality"
        aria-label="Records degraded: show the data quality"
      >
        <Icon name="warning" size={14} />
      </Link>
    </span>
  );
}

function Name({ row }: { row: RunRow }) {
  const below = belowTitle(row);
  const title = titleOf(row);
  return (
    <span className="run-name">
      <Link href={hrefOf(row)} className="truncate run-title" title={row.url ?? title} tabIndex={-1}>
        {title}
      </Link>
      {below === null || title.startsWith(below) ? null : <span className="truncate soft run-below">{below}</span>}
    </span>
  );
}

/** Progress, and in a few words the rate, why it waits, or why it failed. */
function Far({ row }: { row: RunRow }) {
  const { status, progress, waiting_for, message, failure_reason } = row;
  if (!isActive(status)) {
    const why = outcomeList(message) || words(failure_reason ?? "");
    return why === "" ? (
      <span className="soft run-nothing">–</span>
    ) : (
      <span className="two-lines soft run-below" title={why}>
        {why}
      </span>
    );
  }
  const far = progressWords({
    counts: row.counts ?? null,
    progress,
    perSecond: row.per_second ?? null,
    etaSeconds: row.eta_seconds ?? null,
    etaMostSeconds: row.eta_most_seconds ?? null,
    active: true,
    kind: row.kind,
  });
  return (
    <span className="run-far">
      <span className="run-far-line">
        <Progress
          value={progress}
          label={`Progress of ${titleOf(row)}`}
          tone={status === "running" ? "accent" : "muted"}
        />
        <span className="num">{Math.floor(progress)} %</span>
      </span>
      {waiting_for !== null ? (
        <span className="two-lines soft run-below" title={waiting_for.message}>
          <Waiting waiting={waiting_for} />
        </span>
      ) : far === "" ? null : (
        <span className="truncate soft run-below" title={far}>
          {far}
        </span>
      )}
    </span>
  );
}

function Foot({
  loaded,
  total,
  loading,
  more,
}: {
  loaded: number;
  total: number | null;
  loading: boolean;
  more: boolean;
}) {
  if (loading) return <>Loading more …</>;
  const all = total === null ? loaded : Math.max(total, loaded);
  if (!more) return <>{count(loaded, "run")}</>;
  return (
    <>
      {fullNumber(loaded)} of {all >= 10_000 ? "10,000 or more" : fullNumber(all)} runs
    </>
  );
}

function NoRuns({ filter }: { filter: RunFilter }) {
  if (isNarrowed(filter))
    return (
      <EmptyState
        icon="filter"
        title="No matching runs"
        actions={
          <>
            <LinkButton href="/runs">Show all runs</LinkButton>
            {filter.steps ? null : (
              <LinkButton href={`/runs?${writeFilter({ ...filter, steps: true })}`} kind="quiet">
                Include runs of workflow steps
              </LinkButton>
            )}
          </>
        }
      >
        Site must be the exact host, with its port if it has one. The search matches part of a name or URL, or the start
        of an id.
      </EmptyState>
    );
  return (
    <EmptyState icon="runs" title="No runs yet" actions={<NewButton kind="primary">New run</NewButton>}>
      Every scrape, crawl and workflow appears here with its progress. From a terminal:
      <Code text="orb crawl https://example.com --max-depth 2 --max-pages 50" />
    </EmptyState>
  );
}
