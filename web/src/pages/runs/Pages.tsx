import { useEffect, useState } from "react";
import type { Answer } from "../../api/client.ts";
import { usePages } from "../../api/query.ts";
import type { Run } from "../../api/types.ts";
import { count, plainUrl, sentence } from "../../logic/format.ts";
import { isActive, lookOf } from "../../logic/states.ts";
import { TYPED_MS } from "../../logic/typed-time.ts";
import { StatusBadge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { useColumns } from "../../ui/table/ColumnChoice.tsx";
import { CutText } from "../../ui/text/CutText.tsx";
import { Input, Select } from "../../ui/Field.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../ui/States.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { Bytes, Duration, Time } from "../../ui/Values.tsx";
import { TaskPanel } from "./TaskPanel.tsx";
import { useOpenTask } from "./useOpenTask.ts";
import { useRunAddress } from "./useRunAddress.ts";

export type Task = Answer<"listTasks">[number];

const STATES = ["pending", "queued", "running", "retrying", "completed", "failed", "skipped", "cancelled"] as const;

/** Time and size are sorted by the server, which knows pages that are not loaded. */
const ORDERS = [
  { value: "oldest", name: "Oldest first" },
  { value: "newest", name: "Newest first" },
  { value: "slowest", name: "Slowest first" },
  { value: "largest", name: "Largest first" },
] as const;

const COLUMNS: Column<Task>[] = [
  {
    id: "url",
    name: "URL",
    width: "minmax(220px, 2.2fr)",
    phone: "head",
    cell: ({ url, handler }) => (url === null ? (handler ?? "–") : <CutText text={plainUrl(url)} title={url} />),
  },
  { id: "depth", name: "Depth", width: "52px", align: "end", cell: ({ depth }) => <Num value={depth} /> },
  {
    id: "status",
    name: "Status",
    width: "124px",
    cell: ({ status, error_message }) => (
      <StatusBadge status={status} {...(error_message === null ? {} : { title: error_message })} />
    ),
  },
  {
    id: "relevance",
    name: "Relevance",
    width: "76px",
    align: "end",
    hidden: true,
    cell: ({ relevance }) => <Num value={relevance} />,
  },
  { id: "http", name: "HTTP", width: "52px", align: "end", cell: ({ http_status }) => <Num value={http_status} /> },
  {
    id: "strategy",
    name: "Strategy",
    width: "84px",
    cell: ({ strategy }) => (strategy === null ? <span className="soft">–</span> : sentence(strategy)),
  },
  { id: "tries", name: "Attempts", width: "70px", align: "end", hidden: true, cell: ({ attempts }) => attempts.length },
  {
    id: "time",
    name: "Time",
    width: "76px",
    align: "end",
    cell: ({ duration_ms }) => <Duration ms={duration_ms} />,
  },
  { id: "size", name: "Size", width: "76px", align: "end", cell: ({ size }) => <Bytes value={size} /> },
  { id: "done", name: "Done", width: "104px", phone: "hide", cell: ({ finished_at }) => <Time at={finished_at} /> },
];

const Num = ({ value }: { value: number | null }) =>
  value === null ? <span className="soft">–</span> : <span className="num">{value}</span>;

const AGAIN_MS = 4000;

/** Every known page of the run, with its outcome. */
export function Pages({ run }: { run: Run }) {
  const { search, put } = useRunAddress("pages");
  const status = STATES.find((one) => one === search.get("status")) ?? null;
  const order = ORDERS.find(({ value }) => value === search.get("order"))?.value ?? "oldest";
  const [text, setText] = useState("");
  const [q, setQ] = useState("");
  const { shown, menu } = useColumns("tasks", COLUMNS);
  useEffect(() => {
    const timer = window.setTimeout(() => setQ(text.trim()), TYPED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const tasks = usePages("listTasks", {
    params: { run_id: run.id },
    query: { limit: 200, order, ...(status === null ? {} : { status }), ...(q === "" ? {} : { q }) },
  });
  const { refetch, error, isPending, rows } = tasks;
  const isRanked = order === "slowest" || order === "largest";
  // Few pages are refreshed while they change; many, or sorted ones, only on request.
  const follows = isActive(run.status) && !isRanked && (tasks.data?.pages.length ?? 0) <= 2;
  useEffect(() => {
    if (!follows) return;
    const timer = window.setInterval(() => void refetch({ cancelRefetch: false }), AGAIN_MS);
    return () => clearInterval(timer);
  }, [follows, refetch]);
  const { task, error: unknown, open } = useOpenTask(run, "pages", rows);
  return (
    <div className="stack">
      <div className="run-tools">
        <Input
          label="Search URLs"
          bare
          type="search"
          placeholder="Search URLs"
          maxLength={200}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Select
          label="Status of pages"
          bare
          value={status ?? ""}
          choices={[
            { value: "", name: "Any status" },
            ...STATES.map((one) => ({ value: one, name: lookOf(one).word })),
          ]}
          onChange={({ target }) => put("status", target.value || null)}
        />
        <Select
          label="Order"
          bare
          value={order}
          choices={ORDERS}
          onChange={({ target }) => put("order", target.value === "oldest" ? null : target.value)}
        />
        {menu}
        {isActive(run.status) && !follows ? (
          <Button size="small" icon="retry" busy={tasks.isRefetching} onClick={() => void refetch()}>
            Refresh
          </Button>
        ) : null}
      </div>
      {error !== null && rows.length === 0 ? (
        <ErrorBox error={error} onRetry={() => void refetch()} />
      ) : (
        <Card flush>
          {isPending ? (
            <div className="runs-loading">
              <Skeleton lines={6} />
            </div>
          ) : (
            <Table
              label="Pages"
              columns={shown}
              rows={rows}
              keyOf={({ id }) => id}
              onOpen={open}
              next={tasks.next}
              ahead={200}
              rowHeight={40}
              empty={
                <EmptyState title={status === null && q === "" ? "No pages yet" : "No matching pages"}>
                  {status === null && q === ""
                    ? "Pages appear here once the run has found them."
                    : "Try another status or other words."}
                </EmptyState>
              }
              footer={`${count(rows.length, "page")}${tasks.hasNextPage ? " loaded, scroll for more" : ""}${isRanked ? " · only the newest 50,000 pages are sorted" : ""}`}
            />
          )}
        </Card>
      )}
      <TaskPanel run={run} task={task} error={unknown} onClose={() => open(null)} />
    </div>
  );
}
