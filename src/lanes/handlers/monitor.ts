/** Keeps the pages of a monitor's run, to be compared when it has ended. */
import type { Readable } from "node:stream";
import { sleep, type Clock } from "../../base/clock.ts";
import { isOrbError } from "../../base/errors.ts";
import type { Seal } from "../../base/seal.ts";
import { PageComparer } from "../../domain/monitor/compare.ts";
import type { MonitoredContent, MonitoredFile, MonitoredPage } from "../../domain/monitor/monitored-page.ts";
import type { MonitorOptions } from "../../domain/monitor/options.ts";
import { NO_PROFILE } from "../../domain/monitor/volatile/profile.ts";
import { nextFetchMs } from "../../domain/monitor/volatile/refetch.ts";
import { withShared } from "../../domain/monitor/volatile/shared.ts";
import { isSameButNoise } from "../../domain/monitor/text-diff.ts";
import { holdsSite } from "../../domain/run/classify.ts";
import type { Failure } from "../../domain/run/failure.ts";
import type { Handled } from "../../domain/run/outcome.ts";
import type { Recipe } from "../../domain/run/recipe.ts";
import type { PageGot } from "../../pages/get-page.ts";
import { readMonitored, writeFetches } from "../../pages/monitor-files.ts";
import { mayFetchAgain, monitoredContent, rulesOfMonitor, SEALED_FOR_MONITOR } from "../../pages/monitored.ts";
import type { MonitorState } from "../../store/ports/monitors/monitor-port.ts";
import type { Store } from "../../store/ports/port.ts";
import { type FixtureWriter, isFetchedWithSecrets } from "./fixtures.ts";
import type { HandlerContext } from "./handler.ts";

interface RunMonitorDeps {
  store: Pick<Store, "monitorState">;
  clock: Clock;
  seal: Seal;
  keepFixture: FixtureWriter;
  openArtifact(hash: string): Promise<Readable>;
}

interface MonitoredRun {
  jobId: string | null;
  /** The session that was supplied for this run alone. */
  sessionId?: string | null;
  /** Of a crawl, see `scopeHashOf`. */
  scopeHash?: string;
}

/** How a page is identified, and how it is fetched again. */
interface PageVisit {
  key: string;
  /** Of the requested address: another one if it redirects. */
  askedKey: string;
  url: string;
  isRedirected: boolean;
  /** How long the crawl wants to wait until its next request. */
  pauseMs?: number;
  again: () => Promise<PageGot>;
}

/** Further fetches per run and process: pages that differ are few, unless the whole site has changed. */
const MAX_AGAIN = 200;
/** After so many, a page is fetched once more at most. */
const MANY_AGAIN = 100;
/** A site that wants longer pauses is not asked twice. */
const LONGEST_WAIT_MS = 10_000;

interface Refetched {
  contents: Buffer[];
  /** The site asked for a pause instead. */
  refused?: Failure;
}

const NO_MORE: Refetched = { contents: [] };

export class RunMonitor {
  readonly #deps: RunMonitorDeps;
  readonly #run: MonitoredRun & { jobId: string };
  readonly #options: MonitorOptions;
  readonly #recipe: Recipe;
  readonly #comparer: PageComparer;
  readonly #rules: string;
  readonly #isSecret: boolean;
  #fetchedAgain = 0;

  /** Null: the run has no job, or its job no monitor. */
  static of(
    deps: RunMonitorDeps,
    run: MonitoredRun,
    options: MonitorOptions | null | undefined,
    recipe: Recipe,
  ): RunMonitor | null {
    const { jobId } = run;
    return jobId === null || options === null || options === undefined
      ? null
      : new RunMonitor(deps, { ...run, jobId }, options, recipe);
  }

  private constructor(
    deps: RunMonitorDeps,
    run: MonitoredRun & { jobId: string },
    options: MonitorOptions,
    recipe: Recipe,
  ) {
    this.#deps = deps;
    this.#run = run;
    this.#options = options;
    this.#recipe = recipe;
    this.#comparer = new PageComparer(options);
    this.#rules = rulesOfMonitor(options, recipe);
    this.#isSecret = isFetchedWithSecrets(recipe) || (run.sessionId ?? null) !== null;
  }

  /** Whether a page may be fetched again: then it keeps its slot at the site until that is done. */
  get asksAgain(): boolean {
    return mayFetchAgain(this.#options, this.#recipe) && this.#fetchedAgain < MAX_AGAIN;
  }

  /** Whether there is a state to compare with: only then is a page that the server calls unchanged known. */
  async isKnown(key: string): Promise<boolean> {
    return (await this.#state(key)) !== null;
  }

  /** The outcome of a page, with what the monitor compares. A page that failed for another reason is not compared. */
  async with(handled: Handled, got: PageGot, visit: PageVisit, context: HandlerContext): Promise<Handled> {
    if (handled.kind === "failed" && handled.failure.reason === "http_not_found")
      return this.#reported(handled, visit, null, null);
    // A crawl with such a page counts as complete, like one with a sign-in.
    const isFile = handled.kind === "failed" && handled.failure.reason === "not_html";
    if (handled.kind !== "completed" && !isFile) return handled;
    const content = isFile ? null : monitoredContent(this.#options, got);
    if (content === null) return (await this.#isLost(visit)) ? withLoss(handled) : handled;
    const state = await this.#state(visit.key);
    const profile = withShared(state?.profile ?? NO_PROFILE, state?.shared ?? null);
    const now = this.#deps.clock.now();
    const digest = this.#comparer.digestOf(content, profile, now);
    if (state?.content.digest === digest) return this.#reported(handled, visit, state.content, null);
    const isNoise = state === null || isSameButNoise(state.content.digest, digest);
    const more = isNoise ? NO_MORE : await this.#again(content, state, visit, context);
    const told = more.refused === undefined ? handled : { ...handled, refused: more.refused };
    const file = await this.#write(content);
    if (file === null) return withLoss(told);
    const again = more.contents.length === 0 ? null : await this.#write(writeFetches(more.contents));
    return this.#reported(told, visit, { ...file, isSealed: this.#isSecret, digest }, again);
  }

  /** The server says that the page has not changed. */
  async same(handled: Handled, visit: Omit<PageVisit, "again" | "askedKey">): Promise<Handled> {
    if (handled.kind !== "completed") return handled;
    const state = await this.#state(visit.key);
    return state === null ? withLoss(handled) : this.#reported(handled, visit, state.content, null);
  }

  /** Whether an earlier run has read the page. One that always leads to a sign-in, or to a file, is no loss. */
  async #isLost({ key, askedKey }: Pick<PageVisit, "key" | "askedKey">): Promise<boolean> {
    return (await this.#state(askedKey)) !== null || (key !== askedKey && (await this.#state(key)) !== null);
  }

  #reported(
    handled: Handled,
    { key, url, isRedirected }: Omit<PageVisit, "again" | "askedKey">,
    content: MonitoredContent | null,
    again: MonitoredFile | null,
  ): Handled {
    const scopeHash = this.#run.scopeHash ?? null;
    const monitored: MonitoredPage = { key, url, rules: this.#rules, content, again, scopeHash, isRedirected };
    return { ...handled, report: { ...handled.report, monitored } };
  }

  async #state(key: string): Promise<MonitorState | null> {
    const state = await this.#deps.store.monitorState(this.#run.jobId, key);
    return state?.rules === this.#rules ? state : null;
  }

  /** Fetches the page again until what differs is known to be noise, or a change. */
  async #again(content: Buffer, state: MonitorState, visit: PageVisit, context: HandlerContext): Promise<Refetched> {
    const before = await this.#contentOf(state);
    if (before === null || !this.asksAgain) return NO_MORE;
    const profile = withShared(state.profile ?? NO_PROFILE, state.shared);
    const afterAt = this.#deps.clock.now();
    const contents: Buffer[] = [];
    // Places that are known to change on their own say nothing about the others.
    const digestOf = (bytes: Buffer) => this.#comparer.digestOf(bytes, profile, afterAt);
    const first = digestOf(content);
    let isDiffering = false;
    while (this.asksAgain) {
      const pair = { before, after: content, again: contents, profile, beforeAt: state.contentAt, afterAt };
      const isShort = this.#fetchedAgain >= MANY_AGAIN;
      const waitMs = nextFetchMs({ count: contents.length, isDiffering, isShort }, this.#comparer.compare(pair));
      const got = waitMs === null ? null : await this.#oneMore(visit, waitMs, context);
      if (got === null) break;
      if (got.refused !== undefined) return { contents, refused: got.refused };
      if (got.content === null) break;
      contents.push(got.content);
      isDiffering ||= !isSameButNoise(digestOf(got.content), first);
    }
    return { contents };
  }

  /** Null: the file is missing. */
  async #contentOf({ content }: MonitorState): Promise<Buffer | null> {
    try {
      return await readMonitored(this.#deps, content);
    } catch (error) {
      if (isOrbError(error, "not_found")) return null;
      throw error;
    }
  }

  /** Null: it cannot be had, or not soon. */
  async #oneMore(
    { again, pauseMs = 0 }: PageVisit,
    wantedMs: number,
    context: HandlerContext,
  ): Promise<{ content: Buffer | null; refused?: Failure } | null> {
    if (pauseMs > LONGEST_WAIT_MS) return null;
    // The slot at the site is kept, that of the process is not: the page only waits.
    context.leaveSlot();
    const waitMs = Math.max(wantedMs, pauseMs, context.nextTurn());
    if (waitMs > LONGEST_WAIT_MS) return null;
    this.#fetchedAgain += 1;
    await sleep(this.#deps.clock, waitMs, context.signal);
    context.signal.throwIfAborted();
    try {
      context.mayAsk();
      const got = await again();
      const { failure } = got;
      // An answer through a proxy may be the proxy's.
      const isRefused = failure !== null && holdsSite(failure) && context.via === undefined;
      return { content: monitoredContent(this.#options, got), ...(isRefused ? { refused: failure } : {}) };
    } catch (error) {
      if (context.signal.aborted) throw error;
      // The first fetch is good: the page is compared without another.
      return null;
    }
  }

  async #write(content: Buffer): Promise<MonitoredFile | null> {
    const { seal, keepFixture } = this.#deps;
    const bytes = this.#isSecret ? Buffer.from(seal.close(content.toString("base64"), SEALED_FOR_MONITOR)) : content;
    return keepFixture(bytes);
  }
}

/** What the crawl does not reach may exist beyond this page. */
function withLoss(handled: Handled): Handled {
  const { events = [], facts = {} } = handled.report?.run ?? {};
  return { ...handled, report: { ...handled.report, run: { events, facts: { ...facts, monitor_sees_part: true } } } };
}
