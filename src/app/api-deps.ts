import { asProgram } from "../domain/access/caller.ts";
import type { ApiDeps } from "../api/deps.ts";
import { Health } from "../orchestrator/health.ts";
import type { Resources } from "../orchestrator/live/overview.ts";
import { LiveWatch } from "../orchestrator/live/watch.ts";
import { LiveViews } from "../orchestrator/live-views/live-views.ts";
import type { ProxyPool } from "../proxies/pool.ts";
import { type Parts, probesOf } from "./probes.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { withoutCallersTraceparent } from "../base/tracing.ts";
import type { Client } from "./context.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/options.ts";
import { configRows } from "../config/show.ts";
import { productTokenOf } from "../domain/site/robots.ts";
import type { PageTools } from "./page-tools.ts";
import { singleSignOnOf } from "./single-sign-on.ts";
import type { Message } from "../domain/notify/message.ts";
import type { ChannelRecord } from "../store/ports/notify/notify-port.ts";
import { notifyPolicy, openMessageSender } from "../supervisor/notifications/open-sender.ts";
import type { AlertRecord } from "../store/ports/alert-port.ts";
import type { WorkMetrics } from "./work-metrics.ts";

/** Timeout of one probe of `GET /ready`. */
const PROBE_MS = 5000;

/** Dependencies of the API, whether it listens or is called in-process. */
export function apiDeps(
  config: Config,
  log: Log,
  version: string,
  client: Client,
  work: {
    pages: () => Promise<PageTools>;
    metrics: WorkMetrics;
    wake: ApiDeps["wake"];
    demo?: ApiDeps["demo"];
    /** People connect to it: live views can be opened. */
    listens?: boolean;
  } & Parts,
  sources?: LoadedConfig["sources"],
): ApiDeps {
  return {
    store: client.store,
    clock: client.clock,
    seal: client.seal,
    policy: client.policy,
    defaultMaxAttempts: client.defaultMaxAttempts,
    proxyRules: client.proxyRules,
    maxConcurrentCrawls: client.maxConcurrentCrawls,
    respectRobots: client.respectRobots,
    minScheduleMs: client.minScheduleMs,
    extractors: client.extractors,
    stepKinds: client.stepKinds,
    siteDefaults: client.siteDefaults,
    maxPerResolver: config.maxPerConcurrencyKey,
    retention: client.retention,
    diskBudget: client.diskBudget,
    pages: work.pages,
    search: async () => (config.searchUrl === null ? null : (await work.pages()).search),
    listFetcher: async () => (await work.pages()).http,
    openArtifact: (hash) => client.artifacts.open(hash),
    // The work that it wakes is not done for the caller.
    wake: (lanes) => withoutCallersTraceparent(() => asProgram(() => work.wake(lanes))),
    sendAlert: config.alertWebhookUrl === null ? null : (alert) => sendOne(config, { clock: client.clock, log }, alert),
    notifications: {
      policy: notifyPolicy(config),
      publicUrl: config.publicUrl,
      deliverAlerts: config.alertWebhookUrl !== null,
      send: (channel, message) => sendMessage(config, client, channel, message),
    },
    log,
    random: client.random,
    settings: {
      version,
      host: config.host,
      port: config.port,
      token: config.apiToken,
      publicUrl: config.publicUrl,
      graceMs: config.shutdownGraceMs,
      maxPerResolver: config.maxPerConcurrencyKey,
    },
    singleSignOn: singleSignOnOf(config, client.clock),
    pathOf: client.pathOf,
    health: new Health({ clock: client.clock, log, probes: probesOf(client, work), probeMs: PROBE_MS }),
    live: new LiveWatch({ ...client, log, resources: () => resourcesOf(client, work) }),
    configuration: configRows({ config, ...(sources === undefined ? {} : { sources }) }),
    robotsName: productTokenOf(config.userAgent),
    metrics: () => work.metrics.read(),
    board: client.board,
    demo: work.demo ?? null,
    liveViews: openLiveViews(config, log, client, work),
    pickProxy: proxyPicker(config, log, client),
  };
}

function openLiveViews(
  config: Config,
  log: Log,
  { store, clock, random, policy }: Client,
  { pages, listens = false }: { pages: () => Promise<PageTools>; listens?: boolean },
): LiveViews {
  return new LiveViews({
    store,
    clock,
    random,
    log,
    policy,
    settings: {
      most: config.liveViews,
      whyNot: listens ? null : "this program has no server that a browser can connect to",
      idleMs: config.liveViewIdleMs,
      totalMs: config.liveViewTotalMs,
      navigationMs: config.browserNavTimeoutMs,
    },
    browser: async () => (await pages()).browser,
  });
}

/** A server may have no worker, whose pool of proxies it could use; its own is opened with the first live view. */
function proxyPicker(config: Config, log: Log, { store, clock, seal }: Client): ApiDeps["pickProxy"] {
  let pool: Promise<ProxyPool> | null = null;
  return async (wanted) => {
    pool ??= import("../proxies/pool.ts").then(
      (proxies) => new proxies.ProxyPool({ store, clock, seal, log, rotation: config.proxyRotation }),
    );
    const proxies = await pool;
    const picked = await proxies.pick({ ...wanted, exclude: new Set() });
    // What a person sees says nothing about the proxy.
    if (picked !== null) proxies.report(picked, null);
    return picked?.upstream ?? null;
  };
}

const MB = 1024 * 1024;
/** Rounded: changes of a few bytes are not worth an event. */
const wholeMb = (bytes: number) => Math.round(bytes / MB) * MB;

async function resourcesOf({ diskSpace }: Client, { tools }: Parts): Promise<Resources> {
  const memory = tools()?.memory ?? null;
  return {
    disk: diskSpace.disks.map(({ what, freeBytes }) => ({
      what: what.replaceAll("the ", ""),
      free_bytes: wholeMb(freeBytes),
      least_free_bytes: diskSpace.minBytes,
    })),
    memory: {
      used_bytes: wholeMb(memory === null ? process.memoryUsage.rss() : await memory.used()),
      limit_bytes: memory?.limitBytes ?? null,
    },
  };
}

/** A rare manual action: loads the network only then. */
async function sendOne(config: Config, deps: { clock: Clock; log: Log }, alert: AlertRecord): Promise<void> {
  const { openAlertSender } = await import("../supervisor/alerting.ts");
  const sender = openAlertSender(config, deps);
  try {
    await sender?.send(alert);
  } finally {
    await sender?.close();
  }
}

/** A test of a channel, by hand: the same way as all its messages. */
async function sendMessage(
  config: Config,
  deps: Pick<Client, "seal" | "clock">,
  channel: ChannelRecord,
  message: Message,
): Promise<string | null> {
  const sender = await openMessageSender(config, deps);
  try {
    return await sender.send(channel, message);
  } finally {
    await sender.close();
  }
}
