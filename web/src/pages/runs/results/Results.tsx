import { useMemo, useState } from "react";
import { addressOf } from "../../../api/client.ts";
import { type Next, useCall, usePages } from "../../../api/query.ts";
import type { Run } from "../../../api/types.ts";
import { documentIn, documentLine } from "../logic/whole-page.ts";
import { capital, count, plainUrl } from "../../../logic/format.ts";
import { cellText, EXPORT_FORMATS, resultColumns, valueAt } from "../logic/result-table.ts";
import { isActive } from "../../../logic/states.ts";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { useColumns } from "../../../ui/table/ColumnChoice.tsx";
import { CutText } from "../../../ui/text/CutText.tsx";
import { Dialog } from "../../../ui/overlay/Dialog.tsx";
import { Checkbox, Segmented } from "../../../ui/Field.tsx";
import { Icon } from "../../../ui/Icon.tsx";
import { Menu } from "../../../ui/overlay/Menu.tsx";
import { EmptyState, ErrorBox, Skeleton } from "../../../ui/States.tsx";
import { type Column, NextFailed, Table, usePhone } from "../../../ui/table/Table.tsx";
import { toast, toastError } from "../../../ui/overlay/Toast.tsx";
import { useDrawer } from "../../../ui/overlay/useDrawer.ts";
import { Time } from "../../../ui/Values.tsx";
import { CopyRecord, Record, type Result } from "./Record.tsx";
import { useRunAddress } from "../useRunAddress.ts";

const SHAPES = [
  { value: "table", name: "Table" },
  { value: "records", name: "Records" },
];

/** Results as a table or record by record, and as a file of any format. */
export function Results({ run }: { run: Run }) {
  const results = usePages("listResults", { params: { run_id: run.id }, query: { limit: 100 } });
  const { search, put } = useRunAddress("results");
  const shape = search.get("as") === "records" ? "records" : "table";
  const setShape = (next: string) => put("as", next === "table" ? null : next);
  const { rows, error, isPending, refetch } = results;
  const drawer = useDrawer("record", { tab: "results" });
  const opened = rows.find(({ id }) => id === drawer.opened) ?? null;
  if (error !== null && rows.length === 0) return <ErrorBox error={error} onRetry={() => void refetch()} />;
  if (isPending) return <Skeleton lines={6} />;
  if (rows.length === 0)
    return (
      <Card>
        <EmptyState
          title={isActive(run.status) ? "Nothing found yet" : "Nothing was found"}
          actions={
            <Button icon="retry" onClick={() => void refetch()}>
              Refresh
            </Button>
          }
        >
          {isActive(run.status)
            ? "Records appear here as pages are read."
            : "No page produced a record. See Errors; if nothing failed, the selectors may not match."}
        </EmptyState>
      </Card>
    );
  return (
    <div className="stack">
      <div className="run-tools">
        <Segmented label="Shown as" value={shape} choices={SHAPES} onChange={setShape} />
        {isActive(run.status) ? (
          <Button size="small" icon="retry" busy={results.isRefetching} onClick={() => void refetch()}>
            Refresh
          </Button>
        ) : null}
        <Exports run={run} />
      </div>
      {shape === "table" ? (
        <ResultTable
          run={run}
          rows={rows}
          next={results.next}
          hasMore={results.hasNextPage}
          onOpen={({ id }) => drawer.open(id)}
        />
      ) : (
        <>
          {rows.map((row) => (
            <Card key={row.id} title={plainUrl(row.url)} actions={<CopyRecord row={row} />}>
              <Record row={row} />
            </Card>
          ))}
          <NextFailed next={results.next} />
          {results.hasNextPage && results.next.error === null ? (
            <div>
              <Button busy={results.isFetchingNextPage} onClick={results.next.more}>
                Show more records
              </Button>
            </div>
          ) : null}
        </>
      )}
      <Dialog open={opened !== null} onClose={drawer.close} title="Record" side wide>
        {opened === null ? null : (
          <div className="stack" key={opened.id}>
            <div className="task-url">
              <a className="link wrap" href={opened.url} target="_blank" rel="noreferrer noopener">
                {opened.url}
              </a>
              <CopyRecord row={opened} />
            </div>
            <Record row={opened} />
          </div>
        )}
      </Dialog>
    </div>
  );
}

function ResultTable({
  run,
  rows,
  next,
  hasMore,
  onOpen,
}: {
  run: Run;
  rows: readonly Result[];
  next: Next;
  hasMore: boolean;
  onOpen: (row: Result) => void;
}) {
  const columns = useMemo((): Column<Result>[] => {
    const found = resultColumns(rows);
    return [
      {
        id: "url",
        name: "url",
        width: "minmax(180px, 1.4fr)",
        phone: "head",
        cell: ({ url }) => <CutText text={plainUrl(url)} title={url} />,
      },
      ...found.map(({ id, name, hidden, isNumber, isDocument }): Column<Result> => ({
        id,
        name,
        hidden,
        width: isNumber
          ? "minmax(80px, 0.6fr)"
          : isDocument
            ? "minmax(220px, 1.8fr)"
            : /^(?:fields\.)?(?:title|name)$/.test(id)
              ? "minmax(200px, 1.4fr)"
              : "minmax(110px, 1fr)",
        ...(isNumber ? { align: "end" as const } : {}),
        ...(isDocument ? { phone: "wide" as const } : {}),
        cell: ({ data }) => <Cell value={valueAt(data, id)} />,
      })),
      {
        id: "found at",
        name: "found",
        width: "92px",
        hidden: true,
        cell: ({ created_at }) => <Time at={created_at} />,
      },
    ];
  }, [rows]);
  const { shown, menu } = useColumns(`results.${run.job_id ?? run.kind}`, columns);
  return (
    <Card flush>
      <div className="result-columns">
        <span className="soft">
          {shown.length} of {count(columns.length, "column")}
        </span>
        {menu}
      </div>
      <Table
        label="Results"
        columns={shown}
        rows={rows}
        keyOf={({ id }) => id}
        onOpen={onOpen}
        next={next}
        ahead={100}
        rowHeight={40}
        footer={`${count(rows.length, "record")}${hasMore ? " loaded, scroll for more" : ""}`}
      />
    </Card>
  );
}

/** Longer texts are read in the record, not in a tooltip. */
const MOST_TITLE = 2000;

function Cell({ value }: { value: unknown }) {
  const document = documentIn(value);
  if (document !== null) {
    const { title, note } = documentLine(document);
    return (
      <span className="document-cell">
        <CutText text={title} />
        <span className="truncate soft num">{note}</span>
      </span>
    );
  }
  const text = cellText(value);
  if (text === null) return <span className="soft">–</span>;
  return typeof value === "number" ? (
    <span className="truncate num" title={text}>
      {text}
    </span>
  ) : (
    <CutText text={text} title={typeof value === "string" ? value.slice(0, MOST_TITLE) : text} />
  );
}

const NOT_ARCHIVED =
  "This run did not store the raw responses. Start a crawl with the export format warc to store them.";

function Exports({ run }: { run: Run }) {
  const phone = usePhone();
  const isCrawl = run.kind === "crawl";
  const crawl = useCall("getCrawl", { params: { task_id: run.id } }, { enabled: isCrawl });
  // Until it is known the server reports the error, if any.
  const isKept = isCrawl && (crawl.data === undefined || crawl.data.export_format === "warc");
  const [onlyChanged, setOnlyChanged] = useState(false);
  const get = (format: (typeof EXPORT_FORMATS)[number]["format"]) => {
    const query = { format, ...(onlyChanged && format !== "warc" ? { only_changed: true } : {}) };
    void download(addressOf("listResults", { params: { run_id: run.id }, query }));
  };
  const choice =
    run.changes === null ? null : (
      <Checkbox
        label="Only new or changed"
        checked={onlyChanged}
        onChange={({ target }) => setOnlyChanged(target.checked)}
      />
    );
  if (phone)
    return (
      <div className="result-exports">
        {choice}
        <Menu
          label="Export"
          trigger={
            <>
              <Icon name="download" />
              Export
              <Icon name="chevron" size={12} />
            </>
          }
          items={EXPORT_FORMATS.filter(({ format }) => format !== "warc" || isKept).map(({ format, name }) => ({
            name,
            icon: "download",
            onChoose: () => get(format),
          }))}
        />
      </div>
    );
  return (
    <div className="row result-exports" role="group" aria-label="Export">
      {choice}
      <span className="soft">Export</span>
      {EXPORT_FORMATS.map(({ format, name }) => (
        <Button
          key={format}
          size="small"
          icon="download"
          aria-label={`Export as ${name}`}
          {...(format === "warc" && !isKept ? { disabled: true, title: NOT_ARCHIVED } : {})}
          onClick={() => get(format)}
        >
          {name}
        </Button>
      ))}
    </div>
  );
}

/** Shows why an export failed: a plain download would fail without a reason. */
async function download(href: string): Promise<void> {
  try {
    const answer = await fetch(href, { method: "HEAD" });
    if (!answer.ok) {
      // Only a GET response contains the reason.
      const { detail } = (await (await fetch(href)).json()) as { detail?: string };
      toast(detail === undefined ? `The server answered ${answer.status}.` : capital(detail), "bad");
      return;
    }
    const link = document.createElement("a");
    link.href = href;
    link.download = "";
    link.click();
  } catch (error) {
    toastError(error);
  }
}
