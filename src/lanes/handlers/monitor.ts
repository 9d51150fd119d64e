/** Keeps the pages of a monitor's run, to be compared when it has ended. */
import { sleep, type Clock } from "../../base/clock.ts";
import type { Seal } from "../../base/seal.ts";
import { PageComparer } from "../../domain/monitor/compare.ts";
import type { MonitoredContent, MonitoredFile, MonitoredPage } from "../../domain/monitor/monitored-page.ts";
import type { MonitorOptions } from "../../domain/monitor/options.ts";
import { NO_PROFILE } from "../../domain/monitor/volatile.ts";
import type { Handled } from "../../domain/run/outcome.ts";
import type { Recipe } from "../../domain/run/recipe.ts";
import type { PageGot } from "../../pages/get-page.ts";
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
  url: string;
  isRedirected: boolean;
  again: () => Promise<PageGot>;
}

/** Second fetches per run and process: pages that differ are few, unless the whole site has changed. */
const MAX_AGAIN = 200;
/** A site that wants longer pauses is not asked twice. */
const LONGEST_WAIT_MS = 10_000;
/** What changes on its own often changes once a second. */
const SHORTEST_WAIT_MS = 1000;

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

  /** Whether there is a state to compare with: only then is a page that the server calls unchanged known. */
  async isKnown(key: string): Promise<boolean> {
    return (await this.#state(key)) !== null;
  }

  /** The outcome of a page, with what the monitor compares. A page that failed for another reason is not compared. */
  async with(handled: Handled, got: PageGot, visit: PageVisit, context: HandlerContext): Promise<Handled> {
    if (handled.kind === "failed" && handled.failure.reason === "http_not_found")
      return this.#reported(handled, visit, null, null);
    if (handled.kind !== "completed") return handled;
    const content = monitoredContent(this.#options, got);
    if (content === null) return handled;
    const state = await this.#state(visit.key);
    const profile = state?.profile ?? NO_PROFILE;
    const digest = this.#comparer.digestOf(content, profile);
    if (state?.content.digest === digest) return this.#reported(handled, visit, state.content, null);
    const second = state === null ? null : await this.#again(visit, context);
    const isSteady = second === null || this.#comparer.digestOf(second, profile) === digest;
    const file = await this.#write(content);
    if (file === null) return handled;
    const again = isSteady ? null : await this.#write(second);
    return this.#reported(handled, visit, { ...file, isSealed: this.#isSecret, digest }, again);
  }

  /** The server says that the page has not changed. */
  async same(handled: Handled, visit: Omit<PageVisit, "again">): Promise<Handled> {
    const state = await this.#state(visit.key);
    return state === null || handled.kind !== "completed"
      ? handled
      : this.#reported(handled, visit, state.content, null);
  }

  #reported(
    handled: Handled,
    { key, url, isRedirected }: Omit<PageVisit, "again">,
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

  /** What differs between two fetches close in time is no change of the page. */
  async #again({ again }: PageVisit, context: HandlerContext): Promise<Buffer | null> {
    if (!mayFetchAgain(this.#options, this.#recipe) || this.#fetchedAgain >= MAX_AGAIN) return null;
    const waitMs = Math.max(SHORTEST_WAIT_MS, context.nextTurn());
    if (waitMs > LONGEST_WAIT_MS) return null;
    this.#fetchedAgain += 1;
    await sleep(this.#deps.clock, waitMs, context.signal);
    context.signal.throwIfAborted();
    try {
      context.mayAsk();
      return monitoredContent(this.#options, await again());
    } catch (error) {
      if (context.signal.aborted) throw error;
      // The first fetch is good: the page is compared without the second.
      return null;
    }
  }

  async #write(content: Buffer): Promise<MonitoredFile | null> {
    const { seal, keepFixture } = this.#deps;
    const bytes = this.#isSecret ? Buffer.from(seal.close(content.toString("base64"), SEALED_FOR_MONITOR)) : content;
    return keepFixture(bytes);
  }
}
