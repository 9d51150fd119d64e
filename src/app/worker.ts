/** The worker: puts together all that executes tasks. Part of the composition root. */
import { type Clock, systemClock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { type Gauge, processGauge } from "../base/gauge.ts";
import type { Log } from "../base/log.ts";
import type { Seal } from "../base/seal.ts";
import { machineName, ownIdentity } from "../base/machine.ts";
import { systemRandom } from "../base/random.ts";
import { ServiceStack } from "../base/service.ts";
import { productVersion } from "../base/version.ts";
import { keepYoungHeapSmall } from "../base/young-heap.ts";
import { chooseEngine } from "./choose-engine.ts";
import { type Client, openClient } from "./context.ts";
import type { Config } from "../config/options.ts";
import type { ArchivePolicy } from "../domain/run/retention.ts";
import { ALERT_RETRY } from "../domain/run/alerts.ts";
import { CRAWL_HANDLER } from "../domain/crawl/crawl-options.ts";
import { SITEMAP_HANDLER } from "../domain/crawl/crawl-sitemaps.ts";
import { PROXY_CHECK_HANDLER } from "../domain/proxy/proxy-refresh.ts";
import { waitForProxies } from "../domain/run/run-hold.ts";
import { STEP_HANDLER } from "../domain/workflow/definition.ts";
import { productTokenOf } from "../domain/site/robots.ts";
import type { EngineRole } from "../engine/port.ts";
import { createHttpStrategy } from "../fetch/http/download.ts";
import type { Strategy } from "../fetch/strategy.ts";
import { webhookBody } from "../firecrawl/webhook-body.ts";
import { closeArtifacts, closeToOthers } from "./file-access.ts";
import { crawlHandler } from "../lanes/handlers/crawl/crawl.ts";
import { CrawlRuns } from "../lanes/handlers/crawl/crawl-runs.ts";
import { downloadHandler } from "../lanes/handlers/download.ts";
import type { HandlerLookup, TaskHandler } from "../lanes/handlers/handler.ts";
import { pageHandler } from "../lanes/handlers/page.ts";
import { proxyCheckHandler } from "../lanes/handlers/proxy-check.ts";
import { withOpenedAddresses } from "../lanes/handlers/sealed-addresses.ts";
import { sitemapHandler } from "../lanes/handlers/crawl/sitemap.ts";
import { stepHandler } from "../lanes/handlers/step/step.ts";
import { throughProxies } from "../lanes/handlers/through-proxies.ts";
import { userSolver } from "../lanes/handlers/solver.ts";
import type { UserCode } from "../lanes/handlers/user/user-code.ts";
import type { LaneRules } from "../lanes/rules.ts";
import { LaneWorker } from "../lanes/worker.ts";
import { parseAddressPolicy } from "../net/address.ts";
import { createHttpClient, type HttpClient } from "../net/http-client.ts";
import { PAGE_HANDLER } from "../orchestrator/runs/start.ts";
import { createChildRuns } from "../orchestrator/workflows/child-runs.ts";
import { createPageTools, downloadLimits, type PageTools } from "./page-tools.ts";
import { createPageFileKeeper } from "../pages/document.ts";
import { createEvidenceKeeper } from "../pages/evidence.ts";
import { createExchangeKeeper } from "../pages/exchange.ts";
import { ProxyPool } from "../proxies/pool.ts";
import { RobotsGate } from "../sites/robots.ts";
import type { SettledTask, Store } from "../store/ports/port.ts";
import { problemsOf } from "./own-worker.ts";
import type { WorkerHeartbeat } from "../store/ports/worker-port.ts";
import { watchFiles } from "./shared-means.ts";
import { startAlerting } from "../supervisor/alerting.ts";
import { Duties } from "../supervisor/duties.ts";
import { deliverWebhooks } from "../supervisor/duties/deliver-webhooks.ts";
import { keepCrawls } from "../supervisor/duties/keep-crawls.ts";
import { archiveFiles } from "../supervisor/duties/archive-files.ts";
import { keepProxies } from "../supervisor/duties/keep-proxies.ts";
import { keepWorkflows } from "../supervisor/duties/keep-workflows.ts";
import { removeExpiredRuns } from "../supervisor/duties/remove-expired-runs.ts";
import { startDueJobs } from "../supervisor/duties/start-due-jobs.ts";
import { sweepEndedRuns } from "../supervisor/duties/sweep-ended-runs.ts";
import { watchBudget } from "../supervisor/duties/watch-budget.ts";
import { sealStoredSecrets } from "../supervisor/duties/seal-stored-secrets.ts";
import { sweepOrphanedFiles } from "../supervisor/duties/sweep-orphaned-files.ts";
import { sweepParts } from "../supervisor/duties/sweep-parts.ts";
import { Registration } from "../supervisor/registration.ts";
import { createWebhookSender } from "../supervisor/webhook-sender.ts";
import { watchLimit } from "../supervisor/processes/watch-limit.ts";
import { keyDiffers, keyMarkOf } from "./secret-key.ts";
import { loadUserCode } from "./user-code.ts";
import { createImageInspector } from "../images/inspector.ts";
import { createStepKinds } from "../workflows/registry.ts";

export interface RunningWorker extends Client {
  /** Its name in the registry of workers. */
  readonly workerId: string;
  readonly role: EngineRole;
  readonly inFlight: number;
  /** Why work pauses, when it does. */
  readonly paused: string | null;
  readonly pausedSince: number | null;
  /** Its current state for the registry. */
  heartbeat(): Promise<WorkerHeartbeat>;
  /** Finishes or hands back what runs, then closes everything. */
  stop(): Promise<void>;
  /** Hands back what runs without waiting for it; `stop` then ends soon. */
  hurry(): void;
}

export interface WorkerHooks {
  /** Which command of `orb` it is; absent: a program that uses the library. */
  command?: string;
  /**
   * Shared with others in the process, who close it. Two connections would empty each other's cache with every write,
   * although they take turns anyway.
   */
  client?: Client;
  /** This process has created work: in a cluster it runs it itself only when no other worker does. */
  standBy?: boolean;
  /** It works only while no process does that is there for it: a tool of an agent comes and goes with the agent. */
  givesWay?: boolean;
  /** Shared with others in the process, who close them; without it the worker has its own. */
  tools?: PageTools;
  /** How hard this process has it; absent: it is measured. */
  gauge?: Gauge;
  onRole?: (role: EngineRole) => void;
  onTask?: (name: string, what: "started" | "ended", settled?: SettledTask) => void;
}

/** A process that executes tasks, or stands by to. */
export async function startWorker(config: Config, log: Log, hooks: WorkerHooks = {}): Promise<RunningWorker> {
  if (hooks.client === undefined) closeToOthers(config, log);
  const client = hooks.client ?? (await openClient(config, systemClock, { log }));
  const { store, artifacts, clock } = client;
  const stack = new ServiceStack();
  if (hooks.client === undefined) {
    stack.defer("store", () => store.close());
    void watchFiles(client, log);
  }
  const closing = new AbortController();
  stack.defer("file access", async () => closing.abort());
  void closeArtifacts(config, log, closing.signal);
  const heap = keepYoungHeapSmall(clock);
  stack.defer("heap", async () => heap.stop());
  try {
    const tools = hooks.tools ?? createPageTools(config, log, client);
    if (hooks.tools === undefined) stack.defer("pages", () => tools.close());
    const user = await loadUserCode(config, { clock, http: tools.http, artifacts });
    if (user !== null) stack.defer("user code", () => user.stop());
    const strategy = createHttpStrategy({ client: tools.http, artifacts });
    const pool = new ProxyPool({ store, clock, seal: client.seal, log, rotation: config.proxyRotation });
    stack.defer("proxies", () => pool.stop());
    const proxied = throughProxies({
      store,
      clock,
      seal: client.seal,
      pool,
      holdRun: (id, triedMs) => holdForProxies(client, id, triedMs),
    });
    const others = queueHandlers(config, { clock, strategy, user, proxied, seal: client.seal });
    const pages = {
      ...tools,
      store,
      seal: client.seal,
      evidence: createEvidenceKeeper(artifacts, log),
      files: createPageFileKeeper(artifacts),
      exchanges: createExchangeKeeper(artifacts, { clock, random: systemRandom }),
      robots: robotsGate(config, tools.http, clock, store),
      solve: userSolver(others),
    };
    const checks = proxyChecks(config, clock);
    stack.defer("proxy checks", () => checks.http.close());
    const images = createImageInspector({ clock });
    stack.defer("image inspector", () => images.close());
    const crawls = new CrawlRuns({ store, clock, reader: tools.reader });
    const builtIn = new Map([
      [PROXY_CHECK_HANDLER, proxyCheckHandler({ ...client, ...checks })],
      [PAGE_HANDLER, proxied(pageHandler(pages))],
      [CRAWL_HANDLER, proxied(crawlHandler(pages, crawls))],
      [SITEMAP_HANDLER, proxied(sitemapHandler(pages, crawls))],
      [
        STEP_HANDLER,
        stepHandler({
          store,
          clock,
          random: systemRandom,
          http: tools.http,
          artifacts,
          seal: client.seal,
          kinds: createStepKinds({ webhookSecret: config.webhookSecret, images }, user?.steps ?? []),
          children: createChildRuns(client),
        }),
      ],
    ]);
    const handlers: HandlerLookup = (name) => (name === null ? undefined : builtIn.get(name)) ?? others(name);
    const gauge = hooks.gauge ?? processGauge();
    stack.defer("gauge", async () => gauge.stop());
    const worker = new LaneWorker({
      store,
      clock,
      random: systemRandom,
      log,
      rules: laneRules(config),
      handlers,
      maxWorkers: config.maxWorkers,
      gauge,
      probeRoom: async () => {
        await artifacts.probe();
        client.room.check();
      },
      onOpened: (lanes) => engine.offer(lanes),
      onOwner: () => crawls.forget(),
      onTask: (lane, what, settled) => {
        // A beginning of a download is of use only to a task that goes on.
        const over = settled?.verdict.kind === "failed" || settled?.verdict.kind === "skipped";
        if (over && artifacts.resumable(settled.task.id) !== null) artifacts.dropPart(settled.task.id);
        if (settled !== undefined) registration.note(settled);
        hooks.onTask?.(lane, what, settled);
      },
    });
    stack.defer("lanes", () => worker.stop());
    const disk = watchLimit({
      clock,
      check: async () => client.room.check(),
      onCheck: (error) => error !== null && worker.pause(error),
    });
    stack.defer("disk", () => disk.stop());
    const memory = watchLimit({ clock, check: () => tools.memory.check(), onCheck: (error) => worker.short(error) });
    stack.defer("memory", () => memory.stop());
    const { engine, kind } = await chooseEngine(config, client, {
      host: worker,
      timetable: { keep: () => dueJobs.keep(), nextAt: () => dueJobs.nextAt() },
      log,
      standBy: hooks.standBy === true,
      givesWay: hooks.givesWay === true,
      onLead: (leads) => {
        if (leads) duties.start();
        else void duties.stop();
      },
      onRole: (role) => {
        if (role === "engine") shared.start();
        else void shared.stop();
        // Each process has beginnings of downloads on its own machine.
        if (role === "engine")
          sweepParts(client).catch((error: unknown) =>
            log.warn("old partial downloads were not removed", { error: messageOf(error) }),
          );
        hooks.onRole?.(role);
      },
    });
    const registration = new Registration({
      store,
      clock,
      log,
      self: {
        id: systemRandom.uuid(),
        machine: machineName(),
        identity: ownIdentity(),
        version: productVersion(),
        command: hooks.command ?? "library",
        maxWorkers: config.maxWorkers,
      },
      key: client.cluster === null ? null : { mark: keyMarkOf(client.seal), differs: () => keyDiffers(config) },
      engine,
      engineKind: kind,
      worker,
      memory: () => tools.memory.used(),
      troubles: () => problemsOf(tools),
      llm: () => tools.extractors.llm?.endpoint.usage ?? null,
    });
    const inside = { ...client, wake: (lanes: string[] | null) => running.wake(lanes) };
    const alerts = startAlerting(config, { ...client, log, works: true });
    stack.defer("alerts", () => alerts.stop());
    const webhooks = createWebhookSender({ ...client, secret: config.webhookSecret, userAgent: config.userAgent });
    stack.defer("webhooks", () => webhooks.close());
    const notified = kind === "bullmq";
    const dueJobs = startDueJobs({ ...inside, log }, { notified });
    // In a cluster any worker may be assigned due jobs, so all of them announce themselves.
    const shared = new Duties({ clock, log, look: alerts.look, duties: notified ? [dueJobs.presence] : [] });
    stack.defer("shared duties", () => shared.stop());
    const duties = new Duties({
      clock,
      log,
      look: alerts.look,
      may: () => engine.leads(),
      duties: [
        sweepEndedRuns(client),
        dueJobs,
        keepCrawls(inside),
        keepWorkflows(inside),
        keepProxies(inside),
        removeExpiredRuns(client),
        sweepOrphanedFiles(client),
        archiveFiles({ ...client, log, policy: archivePolicy(config) }),
        watchBudget({ ...client, log, raise: alerts.raise, budget: client.diskBudget }),
        sealStoredSecrets({ ...client, log }),
        deliverWebhooks({
          ...client,
          log,
          sender: webhooks,
          retry: { ...ALERT_RETRY, baseMs: config.retryBaseMs },
          bodyOf: (id, call, to) => webhookBody(store, id, call, to),
        }),
        ...alerts.engineDuties,
      ],
    });
    stack.defer("duties", () => duties.stop());
    const running: RunningWorker = {
      ...client,
      wake: async (lanes) => {
        if (engine.role !== "engine") return client.wake(lanes);
        if (lanes === null) engine.controlChanged();
        else engine.offer(lanes);
      },
      workerId: registration.id,
      get role() {
        return engine.role;
      },
      get inFlight() {
        return worker.inFlight;
      },
      get paused() {
        return worker.paused;
      },
      get pausedSince() {
        return worker.pausedSince;
      },
      heartbeat: () => registration.reading(),
      stop: () => stack.stop(),
      hurry: () => engine.hurry(),
      close: () => stack.stop(),
      [Symbol.asyncDispose]: () => stack.stop(),
    };
    await stack.start("registration", registration);
    await stack.start("engine", engine);
    return running;
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

function archivePolicy({ archiveAfterDays, archiveMinKb }: Config): ArchivePolicy {
  return { afterMs: archiveAfterDays * 86_400_000, minBytes: archiveMinKb * 1024 };
}

/** robots.txt is asked about under the product's own name, which the user agent begins with. */
function robotsGate(config: Config, http: HttpClient, clock: Clock, store: Store): RobotsGate {
  const productToken = productTokenOf(config.userAgent);
  const backoff = { baseMs: 3 * config.retryBaseMs, maxMs: config.retryMaxMs };
  return new RobotsGate({ http, clock, store, productToken, backoff });
}

function proxyChecks(config: Config, clock: Clock) {
  const { proxyCheckUrl: checkUrl, proxyCheckTimeoutMs: timeoutMs, userAgent } = config;
  const policy = parseAddressPolicy(config.allowPrivateNetworks);
  const http = createHttpClient({ policy, clock, userAgent, limits: { connectMs: timeoutMs } });
  return { http, checkUrl, timeoutMs };
}

/** The run has no proxy left, or has tried many in vain. */
async function holdForProxies({ store, clock, proxyRules }: Client, runId: string, triedMs: number): Promise<void> {
  const now = clock.now();
  const there = { ...(await store.countProxies()), usable: 0 };
  await store.holdRun(runId, waitForProxies(there, 1, { now, waitMs: proxyRules.waitMs }), now, triedMs);
}

function laneRules(config: Config): LaneRules {
  return {
    maxPerSite: config.maxPerHost,
    minDelayMs: config.minHostDelayMs,
    breaker: { failures: config.breakerFailures, cooldownMs: config.breakerCooldownMs },
    retry: {
      backoff: { baseMs: config.retryBaseMs, maxMs: config.retryMaxMs },
      maxAttempts: config.defaultMaxAttempts,
      retryAfterMaxMs: config.retryAfterMaxMs,
      rateLimitMaxWaits: config.rateLimitMaxWaits,
    },
    maxPerResolver: config.maxPerResolver,
  };
}

/** What the queue's items name: the user's handlers, and the plain download. */
function queueHandlers(
  config: Config,
  deps: {
    clock: Clock;
    strategy: Strategy;
    user: UserCode | null;
    proxied: (handler: TaskHandler) => TaskHandler;
    seal: Seal;
  },
): HandlerLookup {
  const { clock, strategy, user, proxied, seal } = deps;
  const limits = downloadLimits(config);
  const download = proxied(downloadHandler({ strategy, clock, limits, maxBodyBytes: config.maxBodyBytes }));
  return (name) => {
    const handler = user?.handler(name) ?? (name === null || name === "download" ? download : undefined);
    return handler === undefined ? undefined : withOpenedAddresses(seal, handler);
  };
}
