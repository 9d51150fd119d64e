import type { ListedChange } from "../../domain/page/page-change.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { requireRun } from "./control.ts";

/** A page that a run of a saved crawl found to be different. */
interface PageChangeView {
  url: string;
  change: ListedChange;
  /** Cursor of the page after this entry. */
  cursor: string;
}

/** New pages first, then changed ones, then removed ones. */
export async function listPageChanges(
  deps: OrchestratorDeps,
  id: string,
  window: { change?: ListedChange; after?: string; limit: number },
): Promise<PageChangeView[]> {
  await requireRun(deps, id);
  return (await deps.store.pageChanges(id, window)).map(({ url, ...rest }) => ({ ...rest, url: shownUrl(url) }));
}
