/** The handlers of all task kinds that a worker executes. */
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { systemRandom } from "../../base/random.ts";
import type { Seal } from "../../base/seal.ts";
import type { ServiceStack } from "../../base/service.ts";
import type { Config } from "../../config/options.ts";
import { CRAWL_HANDLER } from "../../domain/crawl/crawl-options.ts";
import { SITEMAP_HANDLER } from "../../domain/crawl/crawl-sitemaps.ts";
import { PROXY_CHECK_HANDLER } from "../../domain/proxy/proxy-refresh.ts";
import { waitForProxies } from "../../domain/run/run-hold.ts";
import { productTokenOf } from "../../domain/site/robots.ts";
import { STEP_HANDLER } from "../../domain/workflow/definition.ts";
import { createHttpStrategy } from "../../fetch/http/download.ts";
import type { Strategy } from "../../fetch/strategy.ts";
import { createImageInspector } from "../../images/inspector.ts";
import { crawlHandler } from "../../lanes/handlers/crawl/crawl.ts";
import { CrawlRuns } from "../../lanes/handlers/crawl/crawl-runs.ts";
import { sitemapHandler } from "../../lanes/handlers/crawl/sitemap.ts";
import { downloadHandler } from "../../lanes/handlers/download.ts";
import type { HandlerLookup, TaskHandler } from "../../lanes/handlers/handler.ts";
import { pageHandler } from "../../lanes/handlers/page.ts";
import { proxyCheckHandler } from "../../lanes/handlers/proxy-check.ts";
import { withOpenedAddresses } from "../../lanes/handlers/sealed-addresses.ts";
import { userSolver } from "../../lanes/handlers/solver.ts";
import { stepHandler } from "../../lanes/handlers/step/step.ts";
import { throughProxies } from "../../lanes/handlers/through-proxies.ts";
import type { UserCode } from "../../lanes/handlers/user/user-code.ts";
import { parseAddressPolicy } from "../../net/address.ts";
import { createHttpClient, type HttpClient } from "../../net/http-client.ts";
import { PAGE_HANDLER } from "../../orchestrator/runs/start.ts";
import { createChildRuns } from "../../orchestrator/workflows/child-runs.ts";
import { createPageFileKeeper } from "../../pages/document.ts";
import { fixtureWriter } from "../../lanes/handlers/fixtures.ts";
import { createEvidenceKeeper } from "../../pages/evidence.ts";
import { createExchangeKeeper } from "../../pages/exchange.ts";
import { ProxyPool } from "../../proxies/pool.ts";
import { RobotsGate } from "../../sites/robots.ts";
import type { Store } from "../../store/ports/port.ts";
import { createStepKinds } from "../../workflows/registry.ts";
import type { Client } from "../context.ts";
import { downloadLimits, type PageTools } from "../page-tools.ts";

interface HandlerDeps {
  log: Log;
  client: Client;
  tools: PageTools;
  user: UserCode | null;
  /** Closes what the handlers need. */
  stack: ServiceStack;
}

/** Handlers by name, and their crawls in memory. */
export function createTaskHandlers(
  config: Config,
  { log, client, tools, user, stack }: HandlerDeps,
): { handlers: HandlerLookup; crawls: CrawlRuns } {
  const { store, artifacts, clock, seal } = client;
  const strategy = createHttpStrategy({ client: tools.http, artifacts });
  const pool = new ProxyPool({ store, clock, seal, log, rotation: config.proxyRotation });
  stack.defer("proxies", () => pool.stop());
  const proxied = throughProxies({
    store,
    clock,
    seal,
    pool,
    holdRun: (id, triedMs) => holdForProxies(client, id, triedMs),
  });
  const others = queueHandlers(config, { clock, strategy, user, proxied, seal });
  const keepFixture = fixtureWriter(store, artifacts, log);
  const pages = {
    ...tools,
    store,
    seal,
    evidence: createEvidenceKeeper(artifacts, log),
    files: createPageFileKeeper(artifacts),
    keepFixture,
    openArtifact: (hash: string) => artifacts.open(hash),
    exchanges: createExchangeKeeper(artifacts, { clock, random: systemRandom }),
    robots: robotsGate(config, tools.http, clock, store),
    solve: userSolver(others),
  };
  const checks = proxyChecks(config, clock);
  stack.defer("proxy checks", () => checks.http.close());
  const images = createImageInspector({ clock });
  stack.defer("image inspector", () => images.close());
  const crawls = new CrawlRuns({
    store,
    clock,
    reader: tools.reader,
    seal,
    keepFixture,
    openArtifact: pages.openArtifact,
  });
  const steps = stepHandler({
    store,
    clock,
    random: systemRandom,
    http: tools.http,
    artifacts,
    seal,
    kinds: createStepKinds({ webhookSecret: config.webhookSecret, images }, user?.steps ?? []),
    children: createChildRuns(client),
  });
  const builtIn = new Map([
    [PROXY_CHECK_HANDLER, proxyCheckHandler({ ...client, ...checks })],
    [PAGE_HANDLER, proxied(pageHandler(pages))],
    [CRAWL_HANDLER, proxied(crawlHandler(pages, crawls))],
    [SITEMAP_HANDLER, proxied(sitemapHandler(pages, crawls))],
    [STEP_HANDLER, steps],
  ]);
  const handlers: HandlerLookup = (name) => (name === null ? undefined : builtIn.get(name)) ?? others(name);
  return { handlers, crawls };
}

/** robots.txt rules are matched by the product's name, which the user agent starts with. */
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

/** The run has no proxy left, or many failed. */
async function holdForProxies({ store, clock, proxyRules }: Client, runId: string, triedMs: number): Promise<void> {
  const now = clock.now();
  const proxyCounts = { ...(await store.countProxies()), usable: 0 };
  await store.holdRun(runId, waitForProxies(proxyCounts, 1, { now, waitMs: proxyRules.waitMs }), now, triedMs);
}

/** Handlers of queue items: the user's, and the built-in download. */
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
