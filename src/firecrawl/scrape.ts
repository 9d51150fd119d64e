/** One page, waited for: an ordinary run without a job, kept as long as crawls are. */
import { OrbError } from "../base/errors.ts";
import { isoOf } from "../base/iso.ts";
import { trackedKey } from "../domain/monitor/tracked-key.ts";
import type { PageSnapshot } from "../domain/run/recipe.ts";
import { type FailureReason, failure } from "../domain/run/failure.ts";
import { InputReader } from "../domain/text/input-reader.ts";
import { cancelUnlessEnded } from "../orchestrator/runs/control.ts";
import { runEnded } from "../orchestrator/runs/ended.ts";
import { listRunSites, type RunSiteView } from "../orchestrator/runs/sites.ts";
import { newPageRun } from "../orchestrator/runs/start.ts";
import { type JobInput, pageJobFrom } from "../orchestrator/jobs/input.ts";
import type { RunRecord } from "../store/ports/port.ts";
import { readUrl } from "./crawl-options.ts";
import { type FirecrawlDeps, type FirecrawlMark, markOf } from "./deps.ts";
import { type FirecrawlDocument, toDocument } from "./document.ts";
import { FirecrawlFault, rejectInvalid } from "./fault.ts";
import { codeOf } from "./page-errors.ts";
import { readScrapeOptions, refuseLongWaits, type ScrapeAsk, type Version } from "./scrape-options.ts";
import { reuseMark, reuseOf, trackingOf } from "./start.ts";

interface ScrapeOrder extends ScrapeAsk {
  url: string;
}

export function readScrape(body: unknown, version: Version, known: { llm: boolean }): ScrapeOrder {
  const reader = new InputReader(body);
  const url = readUrl(reader);
  const ask = readScrapeOptions(reader, version, known);
  rejectInvalid(reader);
  refuseLongWaits(ask, ask.timeoutMs, "timeout");
  return { ...ask, url: url ?? "" };
}

export async function scrapePage(
  deps: FirecrawlDeps,
  order: ScrapeOrder,
  base: string,
  gone: AbortSignal,
): Promise<FirecrawlDocument> {
  const found = await foundAgain(deps, order, base);
  if (found !== null) return found;
  const run = await startScrape(deps, order);
  const late = new AbortController();
  const held = new AbortController();
  const deadline = deps.clock.now() + order.timeoutMs;
  const timer = deps.clock.after(order.timeoutMs, () => late.abort(), { keepAlive: true });
  try {
    await runEnded(deps, run.id, siteNowAndThen(deps, run.id), {
      signal: AbortSignal.any([late.signal, held.signal, gone]),
      onProgress: (site) => {
        if (isHeldBeyond(site, deadline)) held.abort();
      },
    });
  } catch (error) {
    if (!late.signal.aborted && !held.signal.aborted && !gone.aborted) throw error;
    const fault = held.signal.aborted || late.signal.aborted ? await whyNot(deps, run.id, order, held.signal) : error;
    // Nobody waits for it any more.
    await cancelUnlessEnded(deps, run.id);
    throw fault;
  } finally {
    timer.cancel();
  }
  return documentOf(deps, run.id, base);
}

/** Looked at seldom: nearly all pages are there before. */
const LOOK_MS = 500;

function siteNowAndThen(deps: FirecrawlDeps, id: string): () => Promise<RunSiteView | null> {
  let lookedAt = deps.clock.monotonic();
  let last: RunSiteView | null = null;
  return async () => {
    if (deps.clock.monotonic() - lookedAt < LOOK_MS) return last;
    last = (await listRunSites(deps, id, { limit: 1 }))[0] ?? null;
    lookedAt = deps.clock.monotonic();
    return last;
  };
}

const HELD: ReadonlySet<string> = new Set(["run_paused", "site_paused", "circuit_open", "rate_limited", "retry"]);

/** The page cannot arrive in time, for a known reason: the call fails at once. */
function isHeldBeyond(site: RunSiteView | null, deadline: number): boolean {
  const waiting = site?.waiting_for ?? null;
  if (waiting === null || !HELD.has(waiting.reason)) return false;
  return waiting.until === null ? waiting.reason.endsWith("_paused") : Date.parse(waiting.until) > deadline;
}

async function whyNot(
  deps: FirecrawlDeps,
  id: string,
  { timeoutMs }: ScrapeOrder,
  held: AbortSignal,
): Promise<FirecrawlFault> {
  const [site] = await listRunSites(deps, id, { limit: 1 });
  const [task] = await deps.store.tasks(id, { limit: 1 });
  const waiting = site?.waiting_for ?? null;
  const last = task?.failure ?? null;
  const details = {
    run_id: id,
    failure_code: last?.code ?? null,
    failure_reason: last?.reason ?? null,
    http_status: last?.httpStatus ?? null,
    waiting_for: waiting,
  };
  const until = waiting === null || waiting.until === null ? "" : `, until ${waiting.until}`;
  const reasons = [
    ...(waiting === null ? [] : [`${waiting.message}${until}`]),
    ...(last === null ? [] : [`the last attempt: ${last.message}`]),
  ].join("; ");
  if (held.aborted)
    return new FirecrawlFault(500, `the page cannot be fetched now: ${reasons}`, { code: "SCRAPE_SITE_HELD", details });
  const message = `the page was not ready after ${timeoutMs} ms${reasons === "" ? "" : `: ${reasons}`}`;
  return new FirecrawlFault(408, message, { code: "SCRAPE_TIMEOUT", details });
}

async function startScrape(deps: FirecrawlDeps, order: ScrapeOrder): Promise<RunRecord> {
  // An early answer serves the waiting client better than many attempts.
  const limits = { max_attempts: 1, timeout_seconds: order.timeoutMs / 1000 };
  const input: JobInput = { ...order.recipe, ...limits, target_url: order.url };
  const { url, site, recipe } = pageJobFrom(input, deps);
  const { run, tasks } = newPageRun(deps, { id: null, name: null, url, site, recipe });
  const mark: FirecrawlMark = { kind: "scrape", json: order.json, tracking: order.tracking };
  const snapshot = { ...(run.snapshot as object), ...trackingOf(deps, order), firecrawl: mark };
  const asked = { ...run, snapshot, temporary: true as const };
  const { created, lanes } = await deps.store.startRun({ ...asked, ...reuseOf(deps, order) }, tasks, deps.clock.now());
  if (lanes.length > 0) await deps.wake(lanes);
  return created;
}

/** A page that was got in the same way not long ago. */
async function foundAgain(deps: FirecrawlDeps, order: ScrapeOrder, base: string): Promise<FirecrawlDocument | null> {
  if (order.maxAgeMs === 0 || order.recipe.headers !== undefined) return null;
  const page = await deps.store.reusablePage(reuseMark(deps, order), order.url, deps.clock.now() - order.maxAgeMs);
  // A run outside the limits of the caller's key does not exist for it.
  if (page === null || (await deps.store.run(page.runId)) === null) return null;
  const [data] = await deps.store.resultsOf(page.taskId);
  const task = await deps.store.task(page.taskId);
  if (data === undefined || task === null) return null;
  const { url, endedAt } = task;
  const result = { id: "", taskId: page.taskId, runId: page.runId, url, ordinal: 0, data, createdAt: endedAt ?? 0 };
  return toDocument(result, { base, mark: { kind: "scrape", json: order.json }, cachedAt: page.fetchedAt });
}

async function documentOf(deps: FirecrawlDeps, id: string, base: string): Promise<FirecrawlDocument> {
  const run = await deps.store.run(id);
  if (run === null) throw new OrbError("not_found", "the run of this page was deleted");
  const [result] = await deps.store.results(id, { limit: 1 });
  const gone = run.facts.failure_reason === "http_not_found" ? await removedPage(deps, run) : null;
  if (gone !== null) return gone;
  if (run.status !== "completed" || result === undefined) throw failed(run);
  return toDocument(result, { base, mark: markOf(run) });
}

/** A page that is compared and no longer exists; null: it was not known. */
async function removedPage({ store }: FirecrawlDeps, run: RunRecord): Promise<FirecrawlDocument | null> {
  const { tracking, url } = run.snapshot as PageSnapshot;
  const known = tracking === undefined ? null : await store.trackedPage(trackedKey(tracking, url));
  if (known === null) return null;
  return {
    changeTracking: { previousScrapeAt: isoOf(known.readAt), changeStatus: "removed", visibility: "hidden" },
    metadata: { sourceURL: url, url, statusCode: run.facts.stats?.http_status ?? 404, error: run.facts.error_message },
  };
}

function failed(run: RunRecord): FirecrawlFault {
  const { failure_code, failure_reason, error_message, stats } = run.facts;
  const what =
    failure_reason === undefined || failure_reason === null
      ? null
      : failure(failure_reason as FailureReason, error_message ?? "");
  const details = {
    run_id: run.id,
    failure_code: failure_code ?? null,
    failure_reason: failure_reason ?? null,
    http_status: stats?.http_status ?? null,
  };
  const message = error_message ?? run.message ?? "the page could not be fetched";
  if (what?.code === "timeout") return new FirecrawlFault(408, message, { code: "SCRAPE_TIMEOUT", details });
  const status = what?.code === "forbidden_target" ? 403 : what?.reason === "action_failed" ? 400 : 500;
  return new FirecrawlFault(status, message, { code: codeOf(what), details });
}
