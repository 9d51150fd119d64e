/** How a crawl or a batch is getting on, with its documents by the page. */
import { OrbError } from "../base/errors.ts";
import { crawlOptionsOf } from "../domain/crawl/crawl-options.ts";
import { type RunState, TERMINAL_RUN_STATES } from "../domain/run/states.ts";
import type { RunRecord } from "../store/ports/port.ts";
import { type FirecrawlDeps, markOf } from "./deps.ts";
import { type FirecrawlDocument, toDocument } from "./document.ts";

type FirecrawlStatus = "scraping" | "completed" | "failed" | "cancelled";

interface StatusView {
  success: true;
  status: FirecrawlStatus;
  completed: number;
  total: number;
  creditsUsed: number;
  expiresAt: string;
  next?: string;
  data: FirecrawlDocument[];
  error?: string;
}

export interface StatusWindow {
  after?: string;
  skip?: number;
  limit?: number;
}

/** Most of one answer: so many documents, and so many bytes of them, but one at least. */
export const PAGE_LIMITS = { documents: 100, bytes: 10 * 1024 * 1024 } as const;
/** Read at a time: each may be long. */
const CHUNK = 25;

const STATUSES: Partial<Record<RunState, FirecrawlStatus>> = {
  completed: "completed",
  partial: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

export function statusOf(state: RunState): FirecrawlStatus {
  return STATUSES[state] ?? "scraping";
}

export async function requireCrawlRun({ store }: Pick<FirecrawlDeps, "store">, id: string): Promise<RunRecord> {
  const run = await store.run(id);
  if (run === null || run.kind !== "crawl") throw new OrbError("not_found", "Job not found");
  return run;
}

interface DocumentsPage {
  documents: FirecrawlDocument[];
  /** Behind which the next page begins; null: it holds nothing. */
  last: string | null;
  more: boolean;
}

export async function documentsOf(
  { store }: Pick<FirecrawlDeps, "store">,
  run: RunRecord,
  base: string,
  { after, skip, limit = PAGE_LIMITS.documents }: StatusWindow,
): Promise<DocumentsPage> {
  const most = Math.min(limit, PAGE_LIMITS.documents);
  const documents: FirecrawlDocument[] = [];
  const mark = markOf(run);
  let last = after ?? null;
  let toSkip = skip ?? 0;
  let bytes = 0;
  for (;;) {
    // One more than wanted tells whether there are others.
    const size = Math.min(CHUNK, most - documents.length + 1);
    const from = { ...(last === null ? {} : { after: last }), ...(toSkip === 0 ? {} : { skip: toSkip }) };
    const results = await store.results(run.id, { ...from, limit: size });
    toSkip = 0;
    for (const result of results) {
      if (documents.length >= most) return { documents, last, more: true };
      const document = toDocument(result, { base, mark });
      bytes += Buffer.byteLength(JSON.stringify(document));
      if (bytes > PAGE_LIMITS.bytes && documents.length > 0) return { documents, last, more: true };
      documents.push(document);
      last = result.id;
    }
    if (results.length < size) return { documents, last, more: false };
  }
}

/** Without documents: what is counted of a run. */
export async function countsOf(
  { store, clock, retention }: FirecrawlDeps,
  run: RunRecord,
): Promise<Omit<StatusView, "data" | "next">> {
  const { totals } = await store.overview(run.id, 0);
  const { completed, failed, pending, queued, running, retrying } = totals;
  const status = statusOf(run.status);
  const open = hasEnded(run) ? 0 : pending + queued + running + retrying;
  // More may be known than will be got.
  const most = crawlOptionsOf(run).max_pages;
  return {
    success: true,
    status,
    completed,
    total: Math.max(completed, Math.min(completed + failed + open, most)),
    // Nothing is charged for.
    creditsUsed: 0,
    // It is kept so long after its end; while it runs, the end is not known.
    expiresAt: new Date((run.finishedAt ?? clock.now()) + retention.temporaryMs).toISOString(),
    ...(status === "failed" ? { error: run.message ?? "the crawl failed" } : {}),
  };
}

export async function showStatus(
  deps: FirecrawlDeps,
  id: string,
  links: { base: string; path: string },
  window: StatusWindow,
): Promise<StatusView> {
  // The state first: what was written before the end is then among the documents.
  const run = await requireCrawlRun(deps, id);
  const counts = await countsOf(deps, run);
  const { documents, last, more } = await documentsOf(deps, run, links.base, window);
  const limit = window.limit === undefined ? "" : `&limit=${window.limit}`;
  return {
    ...counts,
    ...(more && last !== null ? { next: `${links.base}${links.path}?after=${last}${limit}` } : {}),
    data: documents,
  };
}

export const hasEnded = ({ status }: Pick<RunRecord, "status">) => TERMINAL_RUN_STATES.includes(status);
