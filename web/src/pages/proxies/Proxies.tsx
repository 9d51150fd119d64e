import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Answer, callPage, type Page, type Problem } from "../../api/client.ts";
import { useChange, useNext } from "../../api/query.ts";
import type { Proxy } from "../../api/types.ts";
import { count, exactTime, percent, shortNumber } from "../../logic/format.ts";
import { proxyProblem } from "./proxies.ts";
import { ALWAYS } from "../../logic/table.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card, Stat, StatRow } from "../../ui/Card.tsx";
import { Code, CopyButton } from "../../ui/text/Code.tsx";
import { Confirm } from "../../ui/overlay/Dialog.tsx";
import { Segmented } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Menu } from "../../ui/overlay/Menu.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { EmptyState, ErrorBox, PageSkeleton } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { toast, toastError } from "../../ui/overlay/Toast.tsx";
import { Duration, Time } from "../../ui/Values.tsx";
import { ImportProxies } from "./ImportProxies.tsx";
import { Refresh, useRefresh } from "./Refresh.tsx";
import "./proxies.css";

type State = "" | Proxy["state"];
type Pool = Answer<"listProxies">;

const STATES: readonly { value: State; name: string }[] = [
  { value: "", name: "All" },
  { value: "usable", name: "Usable" },
  { value: "resting", name: "Cooling down" },
  { value: "unchecked", name: "Unchecked" },
  { value: "disabled", name: "Disabled" },
];

/** Counts and rows come in one response. */
function usePool(state: State) {
  const query = useInfiniteQuery<Page<never>, Problem, { pages: Page<never>[] }, readonly unknown[], string | null>({
    queryKey: ["listProxies", state],
    queryFn: ({ signal, pageParam }) =>
      callPage(
        "listProxies",
        {
          query: {
            limit: 200,
            ...(state === "" ? {} : { state }),
            ...(pageParam === null ? {} : { cursor: pageParam }),
          },
        },
        { signal },
      ),
    initialPageParam: null,
    getNextPageParam: ({ next }) => next,
    placeholderData: (previous) => previous,
    refetchInterval: 10_000,
  });
  const pages = (query.data?.pages ?? []).map(({ rows }) => rows as unknown as Pool);
  return { ...query, next: useNext(query), pool: pages[0], rows: pages.flatMap(({ proxies }) => proxies) };
}

export default function Proxies() {
  const [state, setState] = useState<State>("");
  const [importing, setImporting] = useState(false);
  const [doomed, setDoomed] = useState<Proxy | null>(null);
  const list = usePool(state);
  const refresh = useRefresh();
  const remove = useChange("deleteProxy", {
    invalidates: ["listProxies"],
    onSuccess: () => {
      setDoomed(null);
      toast("The proxy is deleted");
    },
    onError: toastError,
  });
  const enable = useChange("enableProxy", { invalidates: ["listProxies"], onError: toastError });
  const disable = useChange("disableProxy", { invalidates: ["listProxies"], onError: toastError });
  const { pool } = list;
  const add = (
    <Button kind="primary" icon="plus" needs="importProxies" onClick={() => setImporting(true)}>
      Import proxies
    </Button>
  );
  const menu: Column<Proxy> = {
    id: "actions",
    name: "Actions",
    head: <span className="spoken">Actions</span>,
    width: "36px",
    priority: ALWAYS,
    align: "end",
    cell: (row) => (
      <Menu
        label={`Actions for ${row.proxy}`}
        trigger={<Icon name="more" />}
        className="button button-quiet button-small button-icon"
        items={[
          row.state === "disabled"
            ? {
                name: "Enable",
                icon: "runs",
                needs: "enableProxy",
                onChoose: () => enable.mutate({ params: { proxy_id: row.id } }),
              }
            : {
                name: "Disable",
                icon: "pause",
                needs: "disableProxy",
                onChoose: () => disable.mutate({ params: { proxy_id: row.id } }),
              },
          { name: "Delete", icon: "trash", danger: true, needs: "deleteProxy", onChoose: () => setDoomed(row) },
        ]}
      />
    ),
  };
  return (
    <>
      <PageHeader
        title="Proxies"
        note="The pool for runs with “proxy: pool”. Proxies with a better score are used more often."
        actions={
          pool === undefined || pool.total === 0 ? undefined : (
            <>
              <Button icon="retry" needs="refreshProxies" busy={refresh.active} onClick={refresh.start}>
                Check all
              </Button>
              {add}
            </>
          )
        }
      />
      {list.error !== null && pool === undefined ? (
        <ErrorBox error={list.error} onRetry={() => void list.refetch()} />
      ) : pool === undefined ? (
        <PageSkeleton />
      ) : pool.total === 0 ? (
        <Card>
          <EmptyState icon="proxies" title="No proxies yet" actions={add}>
            <p>
              Without proxies, requests go out directly. Proxies in the pool are checked, scored, and paused for a while
              when they fail.
            </p>
            <Code text="orb proxies import proxies.txt" label="Copy command" />
          </EmptyState>
        </Card>
      ) : (
        <div className="stack">
          <StatRow>
            <Stat name="Total" value={shortNumber(pool.total)} />
            <Stat
              name="Usable"
              value={shortNumber(pool.usable)}
              note={percent(pool.usable / pool.total)}
              {...(pool.usable === 0 ? { tone: "bad" as const } : {})}
            />
            <Stat name="Cooling down" value={shortNumber(pool.resting)} note="failed; retried later" />
            <Stat name="Unchecked" value={shortNumber(pool.unchecked)} note="never tried" />
            <Stat name="Disabled" value={shortNumber(pool.disabled)} note="switched off by you" />
          </StatRow>
          <Refresh refresh={refresh} />
          <div className="proxy-filter">
            <Segmented label="State" value={state} choices={STATES} onChange={(value) => setState(value as State)} />
          </div>
          <Card flush>
            <Table
              label="Proxies"
              columns={[...COLUMNS, menu]}
              rows={list.rows}
              keyOf={({ id }) => id}
              next={list.next}
              footer={count(list.rows.length, "proxy", "proxies")}
              empty={
                <EmptyState
                  icon="search"
                  title={`No proxy is ${STATES.find(({ value }) => value === state)?.name.toLowerCase() ?? state}`}
                >
                  Choose “All” to see the others.
                </EmptyState>
              }
            />
          </Card>
        </div>
      )}
      <ImportProxies open={importing} onClose={() => setImporting(false)} />
      <Confirm
        open={doomed !== null}
        onClose={() => setDoomed(null)}
        onConfirm={() => {
          if (doomed !== null) remove.mutate({ params: { proxy_id: doomed.id } });
        }}
        title="Delete this proxy?"
        verb="Delete proxy"
        danger
        busy={remove.isPending}
      >
        <p className="wrap">
          <code>{doomed?.proxy}</code> is removed from the pool with its statistics.
        </p>
      </Confirm>
    </>
  );
}

const COLUMNS: readonly Column<Proxy>[] = [
  {
    id: "proxy",
    name: "Proxy",
    width: "minmax(0, 3.6fr)",
    phone: "head",
    sort: ({ host }) => host,
    cell: ({ proxy }) => (
      <span className="proxy-address">
        <span className="mono">{proxy}</span>
        <CopyButton text={proxy} label={`Copy ${proxy}`} />
      </span>
    ),
  },
  {
    id: "state",
    name: "State",
    width: "128px",
    sort: ({ state }) => state,
    cell: ({ state, resting_until }) => (
      <StatusBadge
        status={state}
        {...(resting_until === null ? {} : { title: `Not used until ${exactTime(Date.parse(resting_until))}` })}
      />
    ),
  },
  {
    id: "score",
    name: "Score",
    width: "56px",
    align: "end",
    sort: ({ score }) => score,
    cell: ({ score }) => <span className="num">{percent(score)}</span>,
  },
  {
    id: "latency",
    name: "Latency",
    width: "70px",
    align: "end",
    sort: ({ latency_ms }) => latency_ms,
    cell: ({ latency_ms }) => <Duration ms={latency_ms} />,
  },
  {
    id: "served",
    name: "Good / failed",
    width: "92px",
    align: "end",
    sort: ({ successes }) => successes,
    cell: ({ successes, failures }) => (
      <span className="num">
        {shortNumber(successes)} <span className="soft">/</span> {shortNumber(failures)}
      </span>
    ),
  },
  {
    id: "blocks",
    name: "Blocked",
    width: "72px",
    align: "end",
    phone: "hide",
    sort: ({ blocks }) => blocks,
    cell: ({ blocks }) => <span className="num">{shortNumber(blocks)}</span>,
  },
  {
    id: "last",
    name: "Last failure",
    width: "minmax(0, 1.5fr)",
    phone: "wide",
    cell: ({ last_error }) =>
      last_error === null ? (
        <span className="soft">–</span>
      ) : (
        <span className="two-lines" title={last_error}>
          {proxyProblem(last_error)}
        </span>
      ),
  },
  { id: "checked", name: "Checked", width: "104px", cell: ({ checked_at }) => <Time at={checked_at} /> },
];
