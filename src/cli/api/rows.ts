import type { Listing } from "../../api-client/client.ts";

/** The largest page of the API. */
const LARGEST_PAGE = 1000;

/** The requested number of entries, or all. `more`: there are others; `first`: the first page. */
export async function rowsOf<Row, Whole>(
  { limit, all = false }: { limit: number; all?: boolean },
  list: (limit: number) => Listing<Row, Whole>,
): Promise<{ rows: Row[]; more: boolean; first: Whole }> {
  const most = all ? Number.POSITIVE_INFINITY : limit;
  const pages = list(Math.min(most, LARGEST_PAGE)).pages();
  const begun = await pages.next();
  if (begun.done === true) throw new Error("a list has a first page");
  const { rows, answer: first } = begun.value;
  let { next } = begun.value;
  while (next !== null && rows.length < most) {
    const page = await pages.next();
    if (page.done === true) break;
    rows.push(...page.value.rows);
    next = page.value.next;
  }
  return { rows: rows.slice(0, most), more: next !== null || rows.length > most, first };
}
