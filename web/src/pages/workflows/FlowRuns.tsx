/** The list of started workflows, updated by live events. */
import type { FormEvent } from "react";
import { Link, useSearchParams } from "wouter";
import type { Page } from "../../api/client.ts";
import { useLive } from "../../api/live.ts";
import { keyOf, reloadQueries, queryClient, useCall, usePages } from "../../api/query.ts";
import {
  type FlowEvent,
  type FlowFilter,
  flowQuery,
  type FlowRow,
  type LiveRun,
  mayChange,
  readFlowFilter,
  STATUS_CHOICES,
  withLiveRuns,
  writeFlowFilter,
} from "./logic/flow-list.ts";
import { isFlowActive } from "./logic/flow-steps.ts";
import { count, percent } from "../../logic/format.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Button, LinkButton } from "../../ui/Button.tsx";
import { NewButton } from "../../ui/NewButton.tsx";
import { Card } from "../../ui/Card.tsx";
import { Input, Select } from "../../ui/Field.tsx";
import { Progress } from "../../ui/chart/Progress.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { useDebounced } from "../../ui/useDebounced.ts";
import { useTyped } from "../../ui/useTyped.ts";
import { Duration, Time } from "../../ui/Values.tsx";

const COLUMNS: readonly Column<FlowRow>[] = [
  {
    id: "name",
    name: "Workflow",
    width: "minmax(160px, 2fr)",
    phone: "head",
    cell: ({ id, name, template, message, error_message }) => {
      const note =
        error_message ?? message ?? (template === null ? "" : `${template.name}, version ${template.version}`);
      return (
        <div className="flow-cell">
          <Link href={`/workflows/${id}`} className="truncate flow-cell-name" title={name}>
            {name}
          </Link>
          <span className="two-lines soft flow-cell-note" title={note}>
            {note}
          </span>
        </div>
      );
    },
  },
  {
    id: "status",
    name: "Status",
    width: "122px",
    phone: "wide",
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    id: "progress",
    name: "Progress",
    width: "minmax(130px, 1fr)",
    phone: "wide",
    cell: ({ name, progress, status }) => (
      <div className="flow-cell">
        <Progress
          value={Math.round(progress)}
          label={`Progress of ${name}`}
          tone={
            status === "failed" ? "bad" : status === "completed" ? "good" : status === "running" ? "accent" : "muted"
          }
        />
        <span className="num soft flow-cell-note">{percent(progress / 100)}</span>
      </div>
    ),
  },
  {
    id: "steps",
    name: "Steps",
    width: "86px",
    align: "end",
    cell: ({ ended_steps, total_steps, status }) => (
      <span className="num">{isFlowActive(status) ? `${ended_steps} of ${total_steps}` : total_steps}</span>
    ),
  },
  {
    id: "took",
    name: "Took",
    width: "82px",
    align: "end",
    cell: ({ started_at, completed_at }) => <Duration since={started_at} until={completed_at} />,
  },
  {
    id: "created",
    name: "Created",
    width: "102px",
    align: "end",
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];

export function FlowRuns() {
  const [search, setSearch] = useSearchParams();
  const filter = readFlowFilter(search);
  const list = useFlowList(filter);
  const change = (next: FlowFilter) => setSearch((old) => writeFlowFilter(old, next), { replace: true });
  const isNarrowed = filter.status !== null || filter.q !== "" || filter.template !== "";
  return (
    <div className="stack">
      <Filters filter={filter} onChange={change} isNarrowed={isNarrowed} />
      {list.error !== null && list.rows.length === 0 ? (
        <ErrorBox error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card flush>
          {list.isPending ? (
            <div className="flows-loading">
              <Skeleton lines={6} height={18} />
            </div>
          ) : (
            <Table
              label="Workflows"
              columns={COLUMNS}
              rows={list.rows}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => `/workflows/${id}`}
              rowHeight={56}
              next={list.next}
              empty={isNarrowed ? <NoneFit onClear={() => change({ status: null, q: "", template: "" })} /> : <None />}
              footer={
                list.isFetchingNextPage
                  ? "Loading more"
                  : `${count(list.rows.length, "workflow")}${list.hasNextPage ? " loaded, scroll for more" : ""}`
              }
            />
          )}
        </Card>
      )}
    </div>
  );
}

const SOON_MS = 600;
const REST_MS = 5000;

function useFlowList(filter: FlowFilter) {
  const input = { query: flowQuery(filter) };
  const list = usePages("listWorkflows", input);
  const key = [...keyOf("listWorkflows", input), "pages"];
  useLive<{ runs: LiveRun[] }>("runs", ({ runs }) =>
    queryClient.setQueryData<{ pages: Page<FlowRow>[] }>(key, (old) => {
      if (old === undefined) return old;
      const pages = old.pages.map((page) => {
        const rows = withLiveRuns(page.rows, runs);
        return rows === page.rows ? page : { ...page, rows: [...rows] };
      });
      return pages.every((page, index) => page === old.pages[index]) ? old : { ...old, pages };
    }),
  );
  // Started and ended workflows enter and leave the list.
  const again = useDebounced(() => reloadQueries(["listWorkflows"]), {
    soonMs: SOON_MS,
    restMs: REST_MS,
  });
  useLive<FlowEvent>("run_event", (event) => {
    if (mayChange(event, list.rows, filter)) again();
  });
  return list;
}

function Filters({
  filter,
  onChange,
  isNarrowed,
}: {
  filter: FlowFilter;
  onChange: (filter: FlowFilter) => void;
  isNarrowed: boolean;
}) {
  const templates = useCall("listTemplates");
  const { text, setText, submit } = useTyped(filter.q, (q) => onChange({ ...filter, q }));
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    submit();
  };
  return (
    <form className="flow-filters" aria-label="Filters" onSubmit={onSubmit}>
      <Input
        label="Name or id"
        bare
        type="search"
        placeholder="Name or id"
        value={text}
        maxLength={200}
        onChange={({ target }) => setText(target.value)}
      />
      <Select
        label="Status"
        bare
        value={filter.status ?? ""}
        choices={[{ value: "", name: "Any status" }, ...STATUS_CHOICES]}
        onChange={({ target }) =>
          onChange({ ...filter, status: STATUS_CHOICES.find(({ value }) => value === target.value)?.value ?? null })
        }
      />
      <Select
        label="Template"
        bare
        value={filter.template}
        choices={[
          { value: "", name: "Any template" },
          ...(templates.data ?? []).map(({ name }) => ({ value: name, name })),
        ]}
        onChange={({ target }) => onChange({ ...filter, template: target.value })}
      />
      {isNarrowed ? (
        <Button kind="quiet" icon="close" onClick={() => onChange({ status: null, q: "", template: "" })}>
          Clear
        </Button>
      ) : null}
    </form>
  );
}

function None() {
  return (
    <EmptyState
      icon="workflows"
      title="No workflow runs yet"
      actions={
        <>
          <LinkButton href="/workflows?tab=templates" icon="workflows">
            See the templates
          </LinkButton>
          <NewButton href="/new?kind=workflow" kind="primary">
            New workflow
          </NewButton>
        </>
      }
    >
      Start from a template: its form asks for the params it needs. To run your own file:{" "}
      <code>orb workflows run FILE</code>.
    </EmptyState>
  );
}

function NoneFit({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState icon="filter" title="No matching workflows" actions={<Button onClick={onClear}>Clear filters</Button>}>
      Try another status or fewer words.
    </EmptyState>
  );
}
