import { useMemo } from "react";
import { useSearchParams } from "wouter";
import { useCall, usePages } from "../../api/query.ts";
import type { Input as CallInput } from "../../api/client.ts";
import { count } from "../../logic/format.ts";
import { siteHref } from "../../logic/sites.ts";
import { NewButton } from "../../ui/NewButton.tsx";
import { Card } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { useColumns } from "../../ui/table/ColumnChoice.tsx";
import { Input, Select } from "../../ui/Field.tsx";
import { PageHeader } from "../../ui/PageHeader.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import { Table } from "../../ui/table/Table.tsx";
import { useTyped } from "../../ui/useTyped.ts";
import { siteColumns } from "./columns.tsx";
import { useLiveSites, useSiteActions } from "./useSites.ts";
import "./sites.css";

type State = NonNullable<NonNullable<CallInput<"listSites">["query"]>["state"]>;

const STATES = [
  { value: "", name: "All states" },
  { value: "active", name: "Active" },
  { value: "waiting", name: "Waiting" },
  { value: "paused", name: "Paused" },
  { value: "blocked", name: "Circuit open" },
] as const;

/** State and limits of every site. */
export default function Sites() {
  const [search, setSearch] = useSearchParams();
  const q = search.get("q") ?? "";
  const state = STATES.find(({ value }) => value !== "" && value === search.get("state"))?.value;
  const group = search.get("group") ?? "";
  const list = usePages("listSites", {
    query: {
      limit: 200,
      ...(q === "" ? {} : { q }),
      ...(state === undefined ? {} : { state: state as State }),
      ...(group === "" ? {} : { group }),
    },
  });
  const series = useCall("getSiteSeries", {}, { refetchInterval: 30_000 });
  useLiveSites();
  const actions = useSiteActions();
  const columns = useMemo(() => siteColumns(series.data ?? {}, actions), [series.data, actions]);
  const { shown, menu } = useColumns("sites", columns);
  const set = (name: string, value: string) =>
    setSearch(
      (old) => {
        const next = new URLSearchParams(old);
        if (value === "") next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const filtered = q !== "" || state !== undefined || group !== "";
  const isEmpty = !filtered && list.data !== undefined && list.rows.length === 0;
  return (
    <>
      <PageHeader
        title="Sites"
        note="The state of every site, what it waits for and its limits. Changed limits apply within a second."
      />
      <div className="stack">
        {isEmpty ? null : (
          <div className="site-filters">
            <SearchField value={q} onChange={(value) => set("q", value)} />
            <Select
              label="State"
              bare
              choices={STATES}
              value={state ?? ""}
              onChange={(event) => set("state", event.target.value)}
            />
            {menu}
          </div>
        )}
        <Card flush>
          {list.error !== null && list.rows.length === 0 ? (
            <div className="site-message">
              <ErrorBox error={list.error} onRetry={() => void list.refetch()} />
            </div>
          ) : list.isPending ? (
            <div className="site-message" role="status" aria-label="Loading">
              <Skeleton lines={6} height={20} />
            </div>
          ) : (
            <Table
              label="Sites"
              columns={shown}
              rows={list.rows}
              keyOf={({ site }) => site}
              hrefOf={({ site }) => siteHref(site)}
              rowHeight={56}
              next={list.next}
              footer={`${count(list.rows.length, "site")}${list.hasNextPage ? " loaded, scroll for more" : ""}`}
              empty={
                filtered ? (
                  <EmptyState icon="search" title="No matching sites">
                    Try part of its name, or another state.
                  </EmptyState>
                ) : (
                  <NoSites />
                )
              }
            />
          )}
        </Card>
      </div>
    </>
  );
}

function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { text, setText } = useTyped(value, onChange);
  return (
    <Input
      label="Search sites"
      bare
      type="search"
      placeholder="Search sites"
      maxLength={200}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  );
}

function NoSites() {
  return (
    <EmptyState icon="sites" title="No sites yet" actions={<NewButton kind="primary">Start a crawl</NewButton>}>
      <p>A site appears here with its first page. You can set its limits before that:</p>
      <Code text="orb sites set shop.example --requests-per-second 2" label="Copy command" />
    </EmptyState>
  );
}
