/**
 * Sortable lists of any length, with keyboard navigation, and cards on phones. A table is never wider than its box:
 * columns that do not fit are folded into the details of each row.
 */
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import type { Next } from "../../api/query.ts";
import {
  fitColumns,
  moveRow,
  nextSort,
  rowIndex,
  type RowPosition,
  type Sortable,
  type SortBy,
  sortRows,
  UNFOLD_WIDTH,
} from "../../logic/table.ts";
import { IconButton } from "../Button.tsx";
import { Icon } from "../Icon.tsx";
import { ErrorBox } from "../States.tsx";
import { useBoxWidth } from "../useBoxWidth.ts";
import { useTableRows } from "./useTableRows.ts";
import "./table.css";

export interface Column<Row> {
  id: string;
  name: string;
  /** Replaces the name: a checkbox that selects all rows. */
  head?: ReactNode;
  cell: (row: Row) => ReactNode;
  /** As in `grid-template-columns`; "1fr" takes the rest. */
  width?: string;
  align?: "start" | "end";
  /** Makes the header a sort button. */
  sort?: (row: Row) => Sortable;
  /** Hidden by default. */
  hidden?: boolean;
  /** Without space, lowest priority is folded first, of equal ones the last. Default 5. */
  priority?: number;
  /** On phones: `head` is above the others without its name, `wide` has its own line, `hide` is omitted. */
  phone?: "head" | "wide" | "hide";
}

interface TableProps<Row> {
  /** For screen readers: "Runs". */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Link of a row, for Enter and clicks. */
  hrefOf?: (row: Row) => string;
  onOpen?: (row: Row) => void;
  sort?: SortBy | null;
  /** Without it the table sorts by itself. */
  onSort?: (sort: SortBy | null) => void;
  /** Height of a scrolling box; without it the page scrolls. */
  height?: number | string;
  rowHeight?: number;
  empty?: ReactNode;
  /** Loads more when the last rows become visible, or `ahead` rows before that. */
  next?: Next;
  ahead?: number;
  footer?: ReactNode;
}

export function Table<Row>(props: TableProps<Row>) {
  const { columns, rows, label, keyOf, height, rowHeight = 44, empty, next, ahead = 10, footer } = props;
  const [ownSort, setOwnSort] = useState<SortBy | null>(null);
  const sort = props.sort === undefined ? ownSort : props.sort;
  const onSort = props.onSort ?? setOwnSort;
  const sorted = useMemo(() => {
    const column = columns.find(({ id }) => id === sort?.column);
    // A caller with `onSort` sorts the rows itself.
    if (sort === null || column?.sort === undefined || props.onSort !== undefined) return rows;
    return sortRows(rows, column.sort, sort.descending);
  }, [rows, columns, sort, props.onSort]);
  const body = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const isEmpty = rows.length === 0 && empty !== undefined;
  const width = useBoxWidth(scroller, [isEmpty]);
  const fitted = useMemo(() => fitColumns(columns, width), [columns, width]);
  const asCards = usePhone() || fitted.isTight;
  const [shown, folded] = asCards ? [columns, []] : [fitted.shown, fitted.folded];
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const unfold = (key: string) =>
    setUnfolded((old) => {
      const next = new Set(old);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  const open = useOpen(props);
  const virtual = useTableRows(sorted, {
    scroller,
    body,
    rowHeight: asCards ? 120 : rowHeight,
    fixed: height !== undefined,
    keyOf,
  });
  const keys = useRowKeys(sorted, keyOf, body, virtual.reveal, open);

  useEffect(() => {
    if (virtual.last >= sorted.length - ahead) next?.more();
  }, [virtual.last, sorted.length, next, ahead]);

  const tracks = shown.map((column) => column.width ?? "minmax(80px, 1fr)");
  const template = [...tracks, ...(folded.length === 0 ? [] : [`${UNFOLD_WIDTH}px`])].join(" ");
  if (isEmpty) return <>{empty}</>;
  return (
    <div
      className={`table ${asCards ? "table-cards" : ""}`}
      ref={scroller}
      style={height === undefined ? undefined : { maxHeight: height, overflow: "auto" }}
    >
      <div className="table-grid" role="table" aria-label={label} aria-rowcount={sorted.length + 1}>
        <div className="table-head" role="rowgroup">
          <div className="table-row table-heads" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
            {shown.map((column) => (
              <Head key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
            {folded.length === 0 ? null : (
              <div role="columnheader" className="table-cell table-fold">
                <span className="spoken">Details</span>
              </div>
            )}
          </div>
        </div>
        <div
          className="table-body"
          role="rowgroup"
          ref={body}
          onKeyDown={keys.onKeyDown}
          style={virtual.height === null ? undefined : { height: virtual.height, position: "relative" }}
        >
          {virtual.items.map(({ index, start }) => {
            const row = sorted[index];
            if (row === undefined) return null;
            return (
              // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
              <div
                key={keyOf(row)}
                ref={virtual.measure}
                data-index={index}
                data-key={keyOf(row)}
                role="row"
                aria-rowindex={index + 2}
                tabIndex={open === null ? undefined : index === Math.max(0, keys.current) ? 0 : -1}
                className={open === null ? "table-row" : "table-row table-row-open"}
                style={{
                  gridTemplateColumns: template,
                  ...(start === null
                    ? {}
                    : { position: "absolute", inset: "0 0 auto", transform: `translateY(${start}px)` }),
                }}
                onFocus={() => keys.setCurrent({ key: keyOf(row), index })}
                onClick={(event) => {
                  if ((event.target as HTMLElement).closest(INERT) !== null) return;
                  if (window.getSelection()?.toString() !== "") return;
                  open?.(row, event.metaKey || event.ctrlKey);
                }}
              >
                {shown.map((column) => (
                  <div
                    key={column.id}
                    role="cell"
                    className={`table-cell ${column.align === "end" ? "table-end" : ""} ${
                      column.phone === undefined ? "" : `phone-${column.phone}`
                    }`}
                    data-name={column.name}
                  >
                    {column.cell(row)}
                  </div>
                ))}
                {folded.length === 0 ? null : (
                  <Folded
                    row={row}
                    columns={folded}
                    isOpen={unfolded.has(keyOf(row))}
                    onToggle={() => unfold(keyOf(row))}
                  />
                )}
              </div>
            );
          })}
        </div>
      </div>
      {footer === undefined ? null : <div className="table-foot">{footer}</div>}
      {next === undefined ? null : <NextFailed next={next} />}
    </div>
  );
}

/** Interactive content that does not open the row. */
const INERT = "a, button, input, label, select, [role=menu], .table-details";

/** Folded columns: below the row, on request. */
function Folded<Row>({
  row,
  columns,
  isOpen,
  onToggle,
}: {
  row: Row;
  columns: readonly Column<Row>[];
  isOpen: boolean;
  onToggle: () => void;
}) {
  return (
    <>
      <div role="cell" className="table-cell table-fold">
        <IconButton
          label={isOpen ? "Hide details" : "Show details"}
          icon="chevron"
          size="small"
          className={isOpen ? "table-unfold table-unfolded" : "table-unfold"}
          aria-expanded={isOpen}
          onClick={onToggle}
        />
      </div>
      {isOpen ? (
        <div role="cell" className="table-details">
          <dl>
            {columns.map((column) => (
              <div key={column.id}>
                <dt>{column.name}</dt>
                <dd>{column.cell(row)}</dd>
              </div>
            ))}
          </dl>
        </div>
      ) : null}
    </>
  );
}

/** Why a list is incomplete, with a retry button. */
export function NextFailed({ next: { error, again } }: { next: Next }) {
  return error === null ? null : <ErrorBox title="More rows could not be loaded." error={error} onRetry={again} />;
}

function Head<Row>({
  column,
  sort,
  onSort,
}: {
  column: Column<Row>;
  sort: SortBy | null;
  onSort: (sort: SortBy | null) => void;
}) {
  const mine = sort?.column === column.id ? sort : null;
  const order = mine === null ? "none" : mine.descending ? "descending" : "ascending";
  return (
    <div
      role="columnheader"
      aria-sort={column.sort === undefined ? undefined : order}
      className={`table-cell ${column.align === "end" ? "table-end" : ""}`}
    >
      {column.sort === undefined ? (
        (column.head ?? column.name)
      ) : (
        <button type="button" className="table-sort" onClick={() => onSort(nextSort(sort, column.id))}>
          {column.name}
          {mine === null ? null : <Icon name={mine.descending ? "down" : "up"} size={12} />}
        </button>
      )}
    </div>
  );
}

function useOpen<Row>({ hrefOf, onOpen }: TableProps<Row>): ((row: Row, aside?: boolean) => void) | null {
  const [, go] = useLocation();
  if (onOpen !== undefined) return (row) => onOpen(row);
  if (hrefOf === undefined) return null;
  return (row, aside = false) => {
    if (aside) window.open(hrefOf(row), "_blank", "noopener");
    else go(hrefOf(row));
  };
}

/** j, k, arrows, Home, End and Enter; j and k work from anywhere on the page. */
function useRowKeys<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  body: React.RefObject<HTMLDivElement | null>,
  reveal: (index: number) => void,
  open: ((row: Row) => void) | null,
) {
  const [position, setCurrent] = useState<RowPosition | null>(null);
  const current = rowIndex(rows, keyOf, position);
  const focus = (index: number) => {
    const row = rows[index];
    if (row === undefined) return;
    const key = keyOf(row);
    setCurrent({ key, index });
    reveal(index);
    const drawn = () => body.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
    // Synchronously, or the next key would be lost; but the row may have to be rendered first.
    const there = drawn();
    if (there) there.focus({ preventScroll: false });
    else requestAnimationFrame(() => drawn()?.focus({ preventScroll: false }));
  };
  const latest = useRef({ rows, current, focus, open });
  latest.current = { rows, current, focus, open };
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key !== "j" && event.key !== "k") return;
      const target = event.target as HTMLElement;
      if (target.closest("input, textarea, select, [contenteditable], dialog") !== null) return;
      // Keys go to the first table of the page.
      if (document.querySelector(".table-body") !== body.current || latest.current.open === null) return;
      event.preventDefault();
      latest.current.focus(moveRow(latest.current.current, event.key, latest.current.rows.length));
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [body]);
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (open === null || (event.target as HTMLElement).getAttribute("role") !== "row") return;
    if (event.key === "Enter") {
      const { key } = (event.target as HTMLElement).dataset;
      const row = rows.find((one) => keyOf(one) === key);
      if (row !== undefined) open(row);
      return;
    }
    const next = moveRow(current, event.key, rows.length);
    if (next === current || event.key === "j" || event.key === "k") return;
    event.preventDefault();
    focus(next);
  };
  return { current, setCurrent, onKeyDown };
}

const PHONE = "(max-width: 719px)";

export function usePhone(): boolean {
  const [phone, setPhone] = useState(() => matchMedia(PHONE).matches);
  useEffect(() => {
    const query = matchMedia(PHONE);
    const onChange = () => setPhone(query.matches);
    query.addEventListener("change", onChange);
    return () => query.removeEventListener("change", onChange);
  }, []);
  return phone;
}
