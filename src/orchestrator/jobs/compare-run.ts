/**
 * Compares the pages of an ended run with their last good states, chunk by chunk. Every chunk is one transaction that
 * also removes its pages from those that wait, so that after a crash the rest is compared, and nothing twice.
 */
import { setImmediate } from "node:timers/promises";
import { isOrbError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { Seal } from "../../base/seal.ts";
import type { Readable } from "node:stream";
import type { CrawlSnapshot } from "../../domain/crawl/crawl-options.ts";
import { PageComparer } from "../../domain/monitor/compare.ts";
import type { MonitoredContent, MonitoredFile } from "../../domain/monitor/monitored-page.ts";
import { MONITOR_DEFAULTS, type MonitorOptions } from "../../domain/monitor/options.ts";
import { NO_PROFILE } from "../../domain/monitor/volatile/profile.ts";
import { learnShared, type SharedProfile, withShared } from "../../domain/monitor/volatile/shared.ts";
import type { PageSnapshot } from "../../domain/run/recipe.ts";
import { SEALED_FOR_MONITOR } from "../../pages/monitored.ts";
import type { AlertRecord } from "../../store/ports/alert-port.ts";
import type { ComparedPage, MonitorRun, WaitingPage } from "../../store/ports/monitors/monitor-port.ts";
import type { RunRecord, Store } from "../../store/ports/port.ts";
import { readFetches, readMonitored } from "../../pages/monitor-files.ts";

export interface CompareDeps {
  store: Store;
  clock: Clock;
  seal: Seal;
  openArtifact(hash: string): Promise<Readable>;
  /** Stores a file that is recorded as orphaned until a row names it. */
  keepFile(bytes: Buffer): Promise<MonitoredFile | null>;
  /** Whether alerts are sent; otherwise they are only stored and logged. */
  deliver: boolean;
}

/** Pages per transaction; pages that differ are read from files, at most so many bytes at once. */
const CHUNK = 100;
const CHUNK_BYTES = 16 * 1024 * 1024;

/** The monitor of a run, as it was when the run started. */
function monitorOf({ kind, snapshot }: Pick<RunRecord, "kind" | "snapshot">): MonitorOptions | null {
  const found = kind === "crawl" ? (snapshot as CrawlSnapshot).monitor : (snapshot as PageSnapshot).recipe.monitor;
  return found === undefined || found === null ? null : { ...MONITOR_DEFAULTS, ...found };
}

/** Returns the alert of the changes that were found, if any. */
export async function compareRun(deps: CompareDeps, due: MonitorRun, signal: AbortSignal): Promise<AlertRecord | null> {
  const { store, clock } = deps;
  const run = await store.run(due.runId);
  // Deleted, or opened again meanwhile.
  if (run === null || run.generation !== due.generation) return null;
  const options = monitorOf(run);
  if (due.drop || options === null) while ((await store.dropWaitingPages(due.runId, CHUNK)) > 0) await setImmediate();
  else if (!(await comparePages(deps, due, options, signal))) return null;
  // Before it ends: after a crash, the rest is trimmed.
  const { keep } = options ?? MONITOR_DEFAULTS;
  while ((await store.trimMonitor(due.runId, keep, CHUNK)) > 0) {
    if (signal.aborted) return null;
    await setImmediate();
  }
  return (await store.concludeMonitor(due, { deliver: deps.deliver }, clock.now()))?.alert ?? null;
}

/** False: interrupted. */
async function comparePages(
  deps: CompareDeps,
  { runId }: MonitorRun,
  options: MonitorOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const { store, clock } = deps;
  const comparer = new PageComparer(options);
  for (let before = ""; ;) {
    const waiting = await store.waitingPages(runId, CHUNK);
    if (waiting.length === 0) break;
    const compared: ComparedPage[] = [];
    let shared = waiting.find(({ state }) => state !== null)?.state?.shared ?? null;
    let bytes = 0;
    for (const page of waiting) {
      if (signal.aborted) return false;
      const one = await comparePage(deps, comparer, page, shared);
      compared.push(one);
      if (one.profile !== null) shared = learnShared(shared, page.url, one.profile);
      await setImmediate();
      bytes += page.content?.hash === page.state?.content.hash ? 0 : (page.content?.size ?? 0) * 2;
      if (bytes > CHUNK_BYTES) break;
    }
    await store.recordComparisons(runId, options.what, compared, clock.now(), shared);
    // The run was opened again, or another process works on it: the next look decides.
    const position = `${waiting[0]!.number} ${waiting[0]!.state?.content.hash}`;
    if (position === before) return false;
    before = position;
  }
  while ((await store.recordUnreached(runId, options.what, CHUNK, clock.now())) > 0) {
    if (signal.aborted) return false;
    await setImmediate();
  }
  return true;
}

async function comparePage(
  deps: CompareDeps,
  comparer: PageComparer,
  page: WaitingPage,
  shared: SharedProfile | null,
): Promise<ComparedPage> {
  const { number, content, state } = page;
  const plain = { number, comparedWith: state?.content.hash ?? null, profile: null, digest: null, change: null };
  if (content === null) return { ...plain, verdict: "removed" };
  if (state === null) return { ...plain, verdict: "new", digest: content.digest };
  const known = withShared(state.profile ?? NO_PROFILE, shared);
  // What has been learned is observed in every run: it may have stayed the same for long.
  if (state.content.hash === content.hash && comparer.isSteady(known)) return { ...plain, verdict: "same" };
  const contents = await contentsOf(deps, page, content, state.content);
  // A file is missing: what cannot be compared is no change.
  if (contents === null) return { ...plain, verdict: "kept" };
  const { diff, isChanged, isUnsettled, added, removed, share, summary, profile } = comparer.compare({
    ...contents,
    profile: known,
    beforeAt: state.contentAt,
    afterAt: page.readAt,
  });
  // Contents without a difference may have other digests, as when a date is no longer today's: later ones are as `after`.
  const isSame = added + removed === 0 && !isUnsettled;
  const isAsAfter = isChanged || isSame;
  const digest = isAsAfter
    ? comparer.digestOf(contents.after, profile, page.readAt)
    : comparer.digestOf(contents.before, profile, state.contentAt);
  if (!isChanged) return { ...plain, verdict: isSame ? "same" : "kept", profile, digest };
  const json = Buffer.from(JSON.stringify(diff));
  // A difference shows both sides.
  const isSealed = content.isSealed || state.content.isSealed;
  const file = await deps.keepFile(
    isSealed ? Buffer.from(deps.seal.close(json.toString("base64"), SEALED_FOR_MONITOR)) : json,
  );
  const change = { added, removed, share, summary: isSealed ? null : summary, diff: file };
  return { ...plain, verdict: "changed", profile, digest, change };
}

async function contentsOf(
  deps: CompareDeps,
  { again }: WaitingPage,
  content: MonitoredContent,
  known: MonitoredContent,
): Promise<{ before: Buffer; after: Buffer; again: Buffer[] } | null> {
  try {
    const [before, after] = [await readMonitored(deps, known), await readMonitored(deps, content)];
    const more = again === null ? [] : readFetches(await readMonitored(deps, { ...again, isSealed: content.isSealed }));
    return { before, after, again: more };
  } catch (error) {
    if (isOrbError(error, "not_found")) return null;
    throw error;
  }
}
