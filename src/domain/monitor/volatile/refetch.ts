/** How often a page that differs is fetched again in the same run, to tell noise from a change. */

/**
 * A place with two variants shows the same one in four fetches in a row every eighth time. If the fetches differ, more of
 * them show what the page has in store.
 */
const MOST = { alike: 3, differing: 5 } as const;
/** What changes on its own often changes once a second, and sometimes more slowly. */
const FIRST_WAIT_MS = 1000;

interface Fetched {
  /** Further fetches so far. */
  count: number;
  /** Whether they differ from the first one. */
  isDiffering: boolean;
  /** Few fetches are left for the rest of the run: one per page. */
  isShort: boolean;
}

/** How long to wait before the page is fetched once more; null: it is not. */
export function nextFetchMs(
  { count, isDiffering, isShort }: Fetched,
  { isChanged, isCertain, isUnsettled }: { isChanged: boolean; isCertain: boolean; isUnsettled: boolean },
): number | null {
  // Either the differences are explained, or no further fetch explains them.
  if (isCertain || (!isChanged && !isUnsettled)) return null;
  const most = isShort ? 1 : isDiffering ? MOST.differing : MOST.alike;
  return count >= most ? null : FIRST_WAIT_MS * (count + 1);
}
