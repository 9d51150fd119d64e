/** The library: the product for use in other programs, on top of the API's use cases. */
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { startWorker } from "../worker.ts";
import { OrbError } from "../../base/errors.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { type Client, openClient } from "../context.ts";
import type { Config } from "../../config/options.ts";
import type { CrawlInput } from "../../domain/crawl/crawl-options.ts";
import type { EngineRole } from "../../engine/port.ts";
import { proxiesOf } from "./proxies.ts";
import { workflowsOf } from "./workflows.ts";
import { listCrawlErrors, listCrawls, showCrawl } from "../../orchestrator/crawls/read.ts";
import { startCrawl } from "../../orchestrator/crawls/start.ts";
import type { CrawlDetail } from "../../orchestrator/crawls/view.ts";
import { requireExtractor } from "../../orchestrator/jobs/extractor-input.ts";
import { type JobInput, pageJobFrom } from "../../orchestrator/jobs/input.ts";
import { changeJob, createJob, deleteJob, listJobs, showJob } from "../../orchestrator/jobs/manage.ts";
import { queueDrained } from "../../orchestrator/queue/drained.ts";
import { type BadLine, importItems, type ImportReport } from "../../orchestrator/queue/import.ts";
import { listItems, showItem } from "../../orchestrator/queue/items.ts";
import { retryFailed } from "../../orchestrator/queue/retry-failed.ts";
import { queueStats } from "../../orchestrator/queue/stats.ts";
import { type SubmittedItem, submitItems } from "../../orchestrator/queue/submit.ts";
import { cancelRun, pauseRun, resumeRun } from "../../orchestrator/runs/control.ts";
import { type DeletionFilter, deleteRun, deleteRuns, keepRun, showDeletion } from "../../orchestrator/runs/delete.ts";
import { runEnded, type Waiting } from "../../orchestrator/runs/ended.ts";
import { retryFailedTasks } from "../../orchestrator/runs/failed.ts";
import { allResults, listEvents, listRuns, listTasks, showRun } from "../../orchestrator/runs/read.ts";
import type { RunSiteDeps } from "../../orchestrator/runs/sites.ts";
import { startJobRun, startPageRun } from "../../orchestrator/runs/start.ts";
import type { ResultView, RunView } from "../../orchestrator/runs/view.ts";
import { sitesProgress, SitesWatch } from "../../orchestrator/sites/sites-progress.ts";
import { changeSite, forgetLearned, listSites, resetSite, showSite } from "../../orchestrator/sites/sites.ts";
import { endWithProgram } from "./program-end.ts";
import type { SiteLimits } from "../../store/records/site-records.ts";

export interface OrchestratorOptions {
  /** Default: no log. */
  log?: Log;
  /** The module of your handlers and step kinds, instead of the configured one. */
  handlers?: string;
  /** False: this program submits work and reads results; another process executes it. */
  work?: boolean;
  onRole?: (role: EngineRole) => void;
  /**
   * Whether Ctrl-C, SIGTERM and SIGHUP stop it gracefully and then end the program. Default: yes, unless the program
   * has its own handler for the signal, which should call `stop`. False: never.
   */
  handleSignals?: boolean;
}

/** The configuration, with a deprecated alias. */
export type OrchestratorConfig = Config & {
  /** @deprecated Alias of `maxPerConcurrencyKey`. */
  maxPerResolver?: Config["maxPerConcurrencyKey"];
};

function withoutAliases({ maxPerResolver: alias, ...config }: OrchestratorConfig): Config {
  if (alias === undefined) return config;
  const limits = config.maxPerConcurrencyKey;
  // Empty is the default, so an alias set in code may stand beside it.
  if (Object.keys(limits).length > 0 && !isDeepStrictEqual(limits, alias)) {
    const message = "differs from its alias maxPerResolver; set only one of them";
    const fields = [{ path: "maxPerConcurrencyKey", message }];
    throw new OrbError("config_invalid", `maxPerConcurrencyKey: ${message}`, { fields });
  }
  return { ...config, maxPerConcurrencyKey: alias };
}

/**
 * Starting twice with the same configuration returns a shared orchestrator with the options of the first start: it
 * stops when both have been stopped. Running tasks then finish within the grace period or are requeued, and everything
 * is closed in order. Managed services stop with the last orchestrator of the program that needs them.
 */
export class Orchestrator implements AsyncDisposable {
  readonly #shared: Shared;
  readonly #opened: Opened;
  readonly queue: ReturnType<typeof queueOf>;
  readonly jobs: ReturnType<typeof jobsOf>;
  readonly runs: ReturnType<typeof runsOf>;
  readonly crawls: ReturnType<typeof crawlsOf>;
  readonly workflows: ReturnType<typeof workflowsOf>;
  readonly sites: ReturnType<typeof sitesOf>;
  readonly proxies: ReturnType<typeof proxiesOf>;
  #stopped: Promise<void> | null = null;

  private constructor(shared: Shared, opened: Opened) {
    const { deps } = opened;
    this.#shared = shared;
    this.#opened = opened;
    this.queue = queueOf(deps);
    this.jobs = jobsOf(deps);
    this.runs = runsOf(deps);
    this.crawls = crawlsOf(deps);
    this.workflows = workflowsOf(deps);
    this.sites = sitesOf(deps);
    this.proxies = proxiesOf(deps);
  }

  static async start(input: OrchestratorConfig, options: OrchestratorOptions = {}): Promise<Orchestrator> {
    const config = withoutAliases(input);
    const { handlers, work = true } = options;
    const effective = handlers === undefined ? config : { ...config, handlers: resolve(handlers) };
    const shared = await join(
      JSON.stringify([effective, work]),
      () => open(effective, options),
      options.handleSignals ?? true,
    );
    try {
      return new Orchestrator(shared, await shared.opened);
    } catch (error) {
      await leave(shared);
      throw error;
    }
  }

  /** Whether this process works or stands by; null: started with `work: false`. */
  get role(): EngineRole | null {
    return this.#opened.role();
  }

  /** Idempotent. */
  stop(): Promise<void> {
    this.#stopped ??= leave(this.#shared);
    return this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Fetches one page now. The run is stored; a failed fetch throws `fetch_failed`. */
  async scrape(url: string, recipe: PageRecipe = {}, waiting: Waiting<RunView> = {}): Promise<ResultView["data"][]> {
    const { deps } = this.#opened;
    await requireExtractor(deps, recipe);
    const { id } = await startPageRun(deps, { ...pageJobFrom({ ...recipe, target_url: url }, deps), id: null });
    const run = await this.runs.wait(id, waiting);
    if (run.status === "failed" || run.status === "cancelled")
      throw new OrbError("fetch_failed", run.error_message ?? `the run was ${run.status}`);
    const records: ResultView["data"][] = [];
    for await (const { data } of this.runs.results(id)) records.push(data);
    return records;
  }
}

/** Fetch and extraction options, as in a job. */
export type PageRecipe = Omit<JobInput, "kind" | "target_url" | "crawl" | "schedule" | "timezone" | "tags">;

type Deps = Client & RunSiteDeps;

function queueOf(deps: Deps) {
  return {
    submit: (items: readonly SubmittedItem[]) => submitItems(deps, items),
    /** One item per line; a bad line is reported and skipped. */
    import: (
      file: AsyncIterable<Uint8Array>,
      callbacks: { bad: (line: BadLine) => void; progress?: (report: ImportReport) => void },
    ) => importItems(deps, file, callbacks),
    /** Resolves when the queue is empty; an aborted signal resolves with the current state. */
    drained: (signal?: AbortSignal) => queueDrained(deps, signal),
    stats: () => queueStats(deps),
    list: (filter: Parameters<typeof listItems>[1]) => listItems(deps, filter),
    get: (artifactId: string) => showItem(deps, artifactId, deps.pathOf),
    retryFailed: (options: { site?: string } = {}) => retryFailed(deps, options),
  };
}

function jobsOf(deps: Deps) {
  return {
    create: (job: JobInput) => createJob(deps, job, undefined, "library"),
    get: (id: string) => showJob(deps, id),
    list: (filter: Parameters<typeof listJobs>[1]) => listJobs(deps, filter),
    change: (id: string, change: JobInput) => changeJob(deps, id, change, undefined, "library"),
    /** Its runs stay, unless `runs` is "delete". */
    delete: (id: string, options: Parameters<typeof deleteJob>[2] = { force: false }) => deleteJob(deps, id, options),
    /** Starts a run; `runs.wait` waits for its end. */
    run: (id: string) => startJobRun(deps, id),
  };
}

function runsOf(deps: Deps) {
  const get = (id: string) => showRun(deps, id);
  const then = (change: Promise<{ id: string }>) => change.then(({ id }) => get(id));
  return {
    get,
    list: (filter: Parameters<typeof listRuns>[1]) => listRuns(deps, filter),
    wait: (id: string, waiting: Waiting<RunView> = {}) => runEnded(deps, id, () => get(id), waiting),
    /** Records of a run so far. */
    results: (id: string): AsyncGenerator<ResultView> => allResults(deps, id),
    tasks: (id: string, filter: Parameters<typeof listTasks>[2]) => listTasks(deps, id, filter),
    events: (id: string, window: Parameters<typeof listEvents>[2]) => listEvents(deps, id, window),
    pause: (id: string) => then(pauseRun(deps, id)),
    resume: (id: string) => then(resumeRun(deps, id)),
    cancel: (id: string) => then(cancelRun(deps, id)),
    /** Exempts it from retention; `keep` false ends that. */
    keep: (id: string, keep = true) => then(keepRun(deps, id, keep)),
    /** With its results and files. */
    delete: (id: string, options = { force: false }) => deleteRun(deps, id, options),
    /** Bulk deletion, in the background. */
    deleteMany: (filter: DeletionFilter) => deleteRuns(deps, filter),
    deletion: (id: string) => showDeletion(deps, id),
    retryFailed: (id: string, choice: Parameters<typeof retryFailedTasks>[2] = {}) =>
      retryFailedTasks(deps, id, choice),
  };
}

function crawlsOf(deps: Deps) {
  const get = (id: string) => showCrawl(deps, id);
  return {
    start: async (crawl: CrawlInput): Promise<CrawlDetail> => get((await startCrawl(deps, crawl)).id),
    get,
    list: (filter: Parameters<typeof listCrawls>[1]) => listCrawls(deps, filter),
    wait: (id: string, waiting: Waiting<CrawlDetail> = {}) => runEnded(deps, id, () => get(id), waiting),
    results: (id: string): AsyncGenerator<ResultView> => allResults(deps, id),
    errors: (id: string, window: Parameters<typeof listCrawlErrors>[2]) => listCrawlErrors(deps, id, window),
    pause: (id: string) => pauseRun(deps, id).then(() => get(id)),
    resume: (id: string) => resumeRun(deps, id).then(() => get(id)),
    cancel: (id: string) => cancelRun(deps, id).then(() => get(id)),
  };
}

function sitesOf(deps: Deps) {
  const watch = new SitesWatch(deps);
  const change = (site: string, limits: Partial<SiteLimits>) => changeSite(deps, site, limits);
  return {
    list: (filter: Parameters<typeof listSites>[1]) => listSites(deps, filter),
    get: (site: string) => showSite(deps, site),
    /** The site need not be known yet; running work follows. */
    change,
    pause: (site: string) => change(site, { paused: true }),
    resume: (site: string) => change(site, { paused: false }),
    resetBreaker: (site: string) => resetSite(deps, site),
    forgetLearned: (site: string) => forgetLearned(deps, site),
    /** Progress of all sites. */
    progress: () => sitesProgress(deps),
    /** The same, on every change, until `signal` aborts. */
    follow: (signal: AbortSignal) => watch.follow(signal),
  };
}

interface Opened {
  deps: Deps;
  role(): EngineRole | null;
  stop(): Promise<void>;
  /** Signals child processes to end, without waiting for them. */
  endNow(): void;
}

async function open(config: Config, options: OrchestratorOptions): Promise<Opened> {
  if (config.managedServices === null) return openWork(config, options);
  const services = await shareServices(config, options.log ?? silentLog);
  try {
    const opened = await openWork(config, options);
    return { ...opened, stop: () => opened.stop().finally(() => services.stop()), endNow: () => services.hurry() };
  } catch (error) {
    await services.stop();
    throw error;
  }
}

async function openWork(
  config: Config,
  { log = silentLog, work = true, onRole }: OrchestratorOptions,
): Promise<Opened> {
  if (!work) {
    const client = await openClient(config);
    return { deps: client, role: () => null, stop: () => client.close(), endNow: () => {} };
  }
  const worker = await startWorker(config, log, onRole === undefined ? {} : { onRole });
  return { deps: worker, role: () => worker.role, stop: () => worker.stop(), endNow: () => {} };
}

/** An open or opening orchestrator, and its number of users. */
interface Shared {
  key: string;
  opened: Promise<Opened>;
  users: number;
  stopping: Promise<void> | null;
  /** Unregisters it from the end of the program. */
  release(): void;
}

const inUse = new Map<string, Shared>();

async function join(key: string, begin: () => Promise<Opened>, handlesSignals: boolean): Promise<Shared> {
  for (let existing = inUse.get(key); existing !== undefined; existing = inUse.get(key)) {
    if (existing.stopping === null) {
      existing.users += 1;
      return existing;
    }
    // The last user is closing it: start a new one afterwards, however that ends.
    await existing.stopping.catch(() => {});
  }
  const shared: Shared = { key, opened: begin(), users: 1, stopping: null, release: () => {} };
  let running: Opened | null = null;
  void shared.opened.then(
    (opened) => (running = opened),
    () => {},
  );
  const ending = { stop: () => end(shared), endNow: () => running?.endNow(), handlesSignals };
  shared.release = endWithProgram(ending);
  inUse.set(key, shared);
  return shared;
}

async function leave(shared: Shared): Promise<void> {
  shared.users -= 1;
  if (shared.users === 0 || shared.stopping !== null) await end(shared);
}

function end(shared: Shared): Promise<void> {
  shared.stopping ??= stop(shared).finally(() => inUse.delete(shared.key));
  return shared.stopping;
}

async function stop({ opened, release }: Shared): Promise<void> {
  // A failed start has closed itself.
  const orchestrator = await opened.catch(() => null);
  try {
    await orchestrator?.stop();
  } finally {
    release();
  }
}

interface Services {
  stop(): Promise<void>;
  hurry(): void;
}

/** Services by data directory, and how many orchestrators of this program use them. */
const inService = new Map<string, { running: Promise<Services>; users: number; ended: Promise<void> | null }>();

async function shareServices(config: Config, log: Log): Promise<Services> {
  const { startServices } = await import("../supervise.ts");
  const { dataDir } = config;
  for (let old = inService.get(dataDir); old?.ended; old = inService.get(dataDir)) await old.ended.catch(() => {});
  const entry = inService.get(dataDir) ?? { running: startServices(config, log), users: 0, ended: null };
  inService.set(dataDir, entry);
  entry.users += 1;
  const stop = async () => {
    entry.users -= 1;
    if (entry.users > 0) return;
    entry.ended = entry.running.then((running) => running.stop()).finally(() => inService.delete(dataDir));
    await entry.ended;
  };
  try {
    const running = await entry.running;
    return { stop, hurry: () => running.hurry() };
  } catch (error) {
    inService.delete(dataDir);
    throw error;
  }
}
