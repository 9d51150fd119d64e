/**
 * A process's client of the store, with the implementations behind its ports. Separate from `worker.ts`, because most
 * commands only read or write a row and should not load the worker.
 */
import type { Readable } from "node:stream";
import { dirname, join } from "node:path";
import type { ArtifactStore } from "../artifacts/port.ts";
import { createArtifactStore } from "../artifacts/store.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { DiskSpace } from "../base/files/disk-space.ts";
import { OrbError } from "../base/errors.ts";
import { type Log, silentLog } from "../base/log.ts";
import { systemRandom } from "../base/random.ts";
import { sharedClock } from "../base/shared-clock.ts";
import type { Seal } from "../base/seal.ts";
import { type Cluster, clusterOf, redisPrefix } from "./cluster.ts";
import type { Config } from "../config/options.ts";
import { poke } from "../engine/embedded/link.ts";
import { lazyBoard } from "../engine/lazy-board.ts";
import { parseAddressPolicy } from "../net/address.ts";
import { knownCode } from "./known-kinds.ts";
import { BOARD_PATH, type BoardDeps } from "../orchestrator/board.ts";
import type { CrawlDeps } from "../orchestrator/jobs/deps.ts";
import type { ProxyRules } from "../orchestrator/proxies/rules.ts";
import { agreesOnKey, keyDiffers, openSealOf } from "./secret-key.ts";
import type { Store } from "../store/ports/port.ts";
import { refuseWhenFull } from "../store/refuse-when-full.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";

export interface Client extends CrawlDeps, BoardDeps, AsyncDisposable {
  /** Null: one process on this machine works. */
  cluster: Cluster | null;
  artifacts: ArtifactStore;
  /** Free space on its disks. */
  diskSpace: DiskSpace;
  /** Path of a stored file, or its URL in the bucket. */
  pathOf(hash: string): string;
  openArtifact(hash: string): Promise<Readable>;
  close(): Promise<void>;
}

export function requireSqlite(config: Config): string {
  if (config.database.kind === "sqlite") return config.database.path;
  throw new OrbError("config_invalid", "APP_DATABASE_URL: expected sqlite:PATH", {
    fields: [{ path: "APP_DATABASE_URL", message: "expected sqlite:PATH" }],
  });
}

/** A store, and the clock that its users share. */
async function openStore(
  config: Config,
  cluster: Cluster | null,
  localClock: Clock,
  log: Log,
): Promise<{ opened: Store; clock: Clock }> {
  if (cluster === null)
    return { opened: openSqliteStore({ path: requireSqlite(config), clock: localClock }), clock: localClock };
  const { openPostgresStore } = await import("../store/postgres/store.ts");
  const clock = sharedClock(localClock, log);
  return { opened: await openPostgresStore({ url: cluster.databaseUrl, clock, log, onAhead: clock.setOffset }), clock };
}

interface WorkerNotifier extends BoardDeps {
  /** Wakes the workers; false: not delivered; null: no worker runs. */
  notify(lanes: string[] | null): Promise<boolean | null>;
  close(): Promise<void>;
}

/** How a process without a worker notifies those that have one. */
async function openNotifier(store: Store, cluster: Cluster | null, clock: Clock, log: Log): Promise<WorkerNotifier> {
  if (cluster === null) {
    const notify: WorkerNotifier["notify"] = async (lanes) => {
      const holder = await store.engineHolder();
      return holder === null ? null : poke(holder.address, lanes);
    };
    return { notify, board: null, close: async () => {} };
  }
  const { TicketClient } = await import("../engine/bullmq/client.ts");
  const redis = { redisUrl: cluster.redisUrl, prefix: redisPrefix(store), clock };
  const tickets = new TicketClient({ ...redis, store, log });
  let isReachable = true;
  const notify: WorkerNotifier["notify"] = async (lanes) => {
    const poking = tickets.poke(lanes).then((delivered) => (isReachable = delivered));
    // While Redis is unreachable callers do not wait for it; the notification is sent when it is back.
    return isReachable ? poking : false;
  };
  const board = lazyBoard(async () => {
    const { TicketBoard } = await import("../engine/bullmq/board.ts");
    return new TicketBoard({ ...redis, basePath: BOARD_PATH });
  });
  return { notify, board, close: async () => void (await Promise.all([tickets.close(), board.close()])) };
}

/** With a bucket: the local folder for files being written. */
function artifactsDir({ artifacts, dataDir }: Config): string {
  return artifacts.kind === "local" ? artifacts.path : join(dataDir, "artifacts");
}

async function openArtifacts(config: Config, clock: Clock): Promise<ArtifactStore> {
  const dir = artifactsDir(config);
  if (config.artifacts.kind === "local") return createArtifactStore({ dir, clock });
  const { openBucketArtifacts } = await import("../artifacts/s3/open.ts");
  const { bucket, prefix } = config.artifacts;
  return openBucketArtifacts({
    dir,
    clock,
    bucket,
    prefix,
    endpoint: config.s3Endpoint,
    region: config.s3Region,
    accessKeyId: config.s3AccessKeyId ?? "",
    secretAccessKey: config.s3SecretAccessKey ?? "",
  });
}

/** Bounded by the tasks in flight per site and per process. */
export function proxyRules(config: Config): ProxyRules {
  return {
    atLeast: config.minProxies,
    waitMs: config.proxyWaitMs,
    shortage: config.proxyShortage,
    checkUrl: config.proxyCheckUrl,
    checkTimeoutMs: config.proxyCheckTimeoutMs,
    refreshEveryMs: config.proxyRefreshMs,
    chunksAtOnce: Math.min(config.maxWorkers, config.maxPerHost),
  };
}

/** The client of a crawl can read its results after the end, however short the retention. */
const SHORTEST_KEPT_MS = 60_000;

/** A process that reads and writes the store without being its engine. Also closes a store that is passed in. */
export async function openClient(
  config: Config,
  localClock: Clock = systemClock,
  options: {
    store?: Store;
    seal?: Seal;
    log?: Log;
    onPoke?: (delivered: boolean) => void;
    /** Ports of this process's own sites. */
    ownPorts?: ReadonlySet<number>;
  } = {},
): Promise<Client> {
  const { log = silentLog } = options;
  const cluster = options.store === undefined ? await clusterOf(config) : null;
  const { opened, clock } =
    options.store === undefined
      ? await openStore(config, cluster, localClock, log)
      : { opened: options.store, clock: localClock };
  const seal = options.seal ?? (await openSealOf(config, opened));
  if (cluster !== null && !(await agreesOnKey(opened, seal))) {
    await opened.close();
    throw keyDiffers(config);
  }
  const producer = await openNotifier(opened, cluster, clock, log);
  const artifacts = await openArtifacts(config, localClock);
  const diskSpace = new DiskSpace({
    clock,
    minBytes: config.minFreeDiskMb * 1024 * 1024,
    paths: [
      ...(options.store === undefined && cluster === null
        ? [{ what: "the database", path: dirname(requireSqlite(config)) }]
        : []),
      { what: "artifacts", path: artifactsDir(config) },
    ],
  });
  const known = knownCode(config, clock);
  const store = refuseWhenFull(opened, () => diskSpace.check());
  const close = () => producer.close().finally(() => store.close());
  return {
    store,
    cluster,
    clock,
    artifacts,
    diskSpace,
    seal,
    random: systemRandom,
    policy: { ...parseAddressPolicy(config.allowPrivateNetworks), ownPorts: options.ownPorts ?? new Set() },
    defaultMaxAttempts: config.defaultMaxAttempts,
    siteDefaults: { maxPerSite: config.maxPerHost, minDelayMs: config.minHostDelayMs },
    proxyRules: proxyRules(config),
    maxPerResolver: config.maxPerConcurrencyKey,
    maxConcurrentCrawls: config.maxConcurrentTasks,
    respectRobots: config.respectRobots,
    minScheduleMs: config.minScheduleMs,
    extractors: { llm: config.llmUrl !== null, named: known.extractors },
    stepKinds: known.kinds,
    retention: {
      temporaryMs: Math.max(config.retentionMs, SHORTEST_KEPT_MS),
      keepRuns: config.keepRuns,
      keepDays: config.keepDays,
    },
    diskBudget: { bytes: config.diskBudgetMb * 1024 * 1024, action: config.diskBudgetAction },
    pathOf: (hash) => artifacts.locationOf(hash),
    openArtifact: (hash) => artifacts.open(hash),
    wake: async (lanes) => {
      const delivered = await producer.notify(lanes);
      if (delivered !== null) options.onPoke?.(delivered);
    },
    board: producer.board,
    close,
    [Symbol.asyncDispose]: close,
  };
}
