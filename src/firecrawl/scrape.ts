/** One page, waited for: an ordinary run without a job, kept as long as crawls are. */
import { OrbError } from "../base/errors.ts";
import { type FailureReason, failure } from "../domain/failure.ts";
import { cancelUnlessEnded } from "../orchestrator/runs/control.ts";
import { runEnded } from "../orchestrator/runs/ended.ts";
import { newPageRun } from "../orchestrator/runs/start.ts";
import { type JobInput, pageJobFrom } from "../orchestrator/jobs/input.ts";
import type { RunRecord } from "../store/port.ts";
import { readUrl } from "./crawl-options.ts";
import { type FirecrawlDeps, type FirecrawlMark, markOf } from "./deps.ts";
import { type FirecrawlDocument, toDocument } from "./document.ts";
import { FirecrawlFault } from "./fault.ts";
import { Given } from "./given.ts";
import { codeOf } from "./page-errors.ts";
import { readScrapeOptions, type ScrapeAsk, type Version } from "./scrape-options.ts";
import { reuseMark, reuseOf } from "./start.ts";

export interface ScrapeOrder extends ScrapeAsk {
  url: string;
}

export function readScrape(body: unknown, version: Version, known: { llm: boolean }): ScrapeOrder {
  const given = new Given(body);
  const url = readUrl(given);
  const ask = readScrapeOptions(given, version, known);
  given.nothingElse();
  given.done();
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
  const timer = deps.clock.after(order.timeoutMs, () => late.abort(), { keepAlive: true });
  try {
    const look = async () => null;
    await runEnded(deps, run.id, look, { signal: AbortSignal.any([late.signal, gone]) });
  } catch (error) {
    if (!late.signal.aborted) throw error;
    await cancelUnlessEnded(deps, run.id);
    throw new FirecrawlFault(408, `the page was not there after ${order.timeoutMs} ms`, {
      code: "SCRAPE_TIMEOUT",
      details: { run_id: run.id },
    });
  } finally {
    timer.cancel();
  }
  return documentOf(deps, run.id, base);
}

async function startScrape(deps: FirecrawlDeps, order: ScrapeOrder): Promise<RunRecord> {
  const input: JobInput = { ...order.recipe, target_url: order.url };
  const { url, site, recipe } = pageJobFrom(input, deps);
  const { run, tasks } = newPageRun(deps, { id: null, name: null, url, site, recipe });
  const mark: FirecrawlMark = { kind: "scrape", json: order.json };
  const asked = { ...run, snapshot: { ...(run.snapshot as object), firecrawl: mark }, brief: true as const };
  const { made, lanes } = await deps.store.startRun({ ...asked, ...reuseOf(deps, order) }, tasks, deps.clock.now());
  if (lanes.length > 0) await deps.wake(lanes);
  return made;
}

/** A page that was got in the same way not long ago. */
async function foundAgain(deps: FirecrawlDeps, order: ScrapeOrder, base: string): Promise<FirecrawlDocument | null> {
  if (order.maxAgeMs === 0 || order.recipe.headers !== undefined) return null;
  const page = await deps.store.reusablePage(reuseMark(deps, order), order.url, deps.clock.now() - order.maxAgeMs);
  if (page === null) return null;
  const [data] = await deps.store.resultsOf(page.taskId);
  const task = await deps.store.task(page.taskId);
  if (data === undefined || task === null) return null;
  const { url, endedAt } = task;
  const result = { id: "", taskId: page.taskId, runId: page.runId, url, ordinal: 0, data, createdAt: endedAt ?? 0 };
  return toDocument(result, { base, mark: { kind: "scrape", json: order.json }, cachedAt: page.gotAt });
}

async function documentOf(deps: FirecrawlDeps, id: string, base: string): Promise<FirecrawlDocument> {
  const run = await deps.store.run(id);
  if (run === null) throw new OrbError("not_found", "the run of this page was deleted");
  const [result] = await deps.store.results(id, { limit: 1 });
  if (run.status !== "completed" || result === undefined) throw failed(run);
  return toDocument(result, { base, mark: markOf(run) });
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
  const message = error_message ?? run.message ?? "the page could not be had";
  if (what?.code === "timeout") return new FirecrawlFault(408, message, { code: "SCRAPE_TIMEOUT", details });
  const status = what?.code === "forbidden_target" ? 403 : what?.reason === "action_failed" ? 400 : 500;
  return new FirecrawlFault(status, message, { code: codeOf(what), details });
}
