import { useVirtualizer, useWindowVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";

const VIRTUAL_FROM = 80;

interface Drawn {
  index: number;
  start: number | null;
}

/** Rendered rows: all of a short list, the visible ones of a long one. */
export function useTableRows<Row>(
  rows: readonly Row[],
  options: {
    scroller: RefObject<HTMLDivElement | null>;
    body: RefObject<HTMLDivElement | null>;
    rowHeight: number;
    fixed: boolean;
    keyOf: (row: Row) => string;
  },
) {
  const { scroller, body, rowHeight, fixed, keyOf } = options;
  const isLong = rows.length > VIRTUAL_FROM;
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => {
    if (!fixed && body.current !== null) setMargin(body.current.getBoundingClientRect().top + window.scrollY);
  }, [fixed, isLong, body]);
  const nameOf = useRef(keyOf);
  nameOf.current = keyOf;
  // A new function would remeasure all rows at every scroll step.
  const getItemKey = useCallback(
    (index: number) => {
      const row = rows[index];
      return row === undefined ? index : nameOf.current(row);
    },
    [rows],
  );
  const shared = { count: isLong ? rows.length : 0, estimateSize: () => rowHeight, overscan: 12, getItemKey };
  const inBox = useVirtualizer({ ...shared, getScrollElement: () => scroller.current, enabled: isLong && fixed });
  const inPage = useWindowVirtualizer({ ...shared, scrollMargin: margin, enabled: isLong && !fixed });
  if (!isLong)
    return {
      items: rows.map((_row, index): Drawn => ({ index, start: null })),
      last: rows.length - 1,
      height: null,
      measure: undefined,
      reveal: () => {},
    };
  const virtualizer = fixed ? inBox : inPage;
  const items = virtualizer.getVirtualItems();
  return {
    items: items.map(({ index, start }): Drawn => ({ index, start: start - (fixed ? 0 : margin) })),
    last: items.at(-1)?.index ?? 0,
    height: virtualizer.getTotalSize(),
    measure: virtualizer.measureElement as (element: HTMLElement | null) => void,
    reveal: (index: number) => virtualizer.scrollToIndex(index, { align: "auto" }),
  };
}
