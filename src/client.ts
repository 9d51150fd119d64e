/**
 * A process's part in the store. With `app.ts` the only place that knows which implementation stands behind which port;
 * apart from it, because most commands only look or write something down, and should not load all that does the work.
 */
import { dirname } from "node:path";
import { type ArtifactStore, createArtifactStore } from "./artifacts/store.ts";
import { type Clock, systemClock } from "./base/clock.ts";
import { DiskRoom } from "./base/disk-room.ts";
import { OrbError } from "./base/errors.ts";
import { systemRandom } from "./base/random.ts";
import type { Seal } from "./base/seal.ts";
import type { Config } from "./config/options.ts";
import { poke } from "./engine/embedded/link.ts";
import { parseAddressPolicy } from "./net/address.ts";
import { knownKinds } from "./known-kinds.ts";
import type { CrawlDeps } from "./orchestrator/jobs/deps.ts";
import type { ProxyRules } from "./orchestrator/proxies/rules.ts";
import { openSeal } from "./secret-key.ts";
import type { Store } from "./store/port.ts";
import { refuseWhenFull } from "./store/refuse-when-full.ts";
import { openSqliteStore } from "./store/sqlite/store.ts";

export interface Client extends CrawlDeps, AsyncDisposable {
  artifacts: ArtifactStore;
  /** What is left on its disks. */
  room: DiskRoom;
  /** The path of a stored file. */
  pathOf(hash: string): string;
  close(): Promise<void>;
}

export function requireSqlite(config: Config): string {
  if (config.database.kind === "sqlite") return config.database.path;
  throw new OrbError("config_invalid", "APP_DATABASE_URL: this version keeps its data in SQLite", {
    hint: "Set APP_DATABASE_URL=sqlite:./data/orb.db",
    fields: [{ path: "APP_DATABASE_URL", message: "expected sqlite:PATH" }],
  });
}

function artifactsDir(config: Config): string {
  if (config.artifacts.kind === "local") return config.artifacts.path;
  throw new OrbError("config_invalid", "APP_ARTIFACTS_URL: this version keeps files in a directory", {
    hint: "Set APP_ARTIFACTS_URL to a path, or leave it out.",
    fields: [{ path: "APP_ARTIFACTS_URL", message: "expected a directory" }],
  });
}

/** A lane has as many tasks at work as a site may have, and a process no more than it may have in all. */
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

/** Whoever waits for the end of a crawl gets to read what it found, however short crawls are to be kept. */
const SHORTEST_KEPT_MS = 60_000;

/** A process that reads and writes the store without being its engine. A store that is given is closed with it, too. */
export async function openClient(
  config: Config,
  clock: Clock = systemClock,
  given: { store?: Store; seal?: Seal; onPoke?: (heard: boolean) => void } = {},
): Promise<Client> {
  const opened = given.store ?? openSqliteStore({ path: requireSqlite(config), clock });
  const artifacts = createArtifactStore({ dir: artifactsDir(config), clock });
  const room = new DiskRoom({
    clock,
    minBytes: config.minFreeDiskMb * 1024 * 1024,
    places: [
      ...(given.store === undefined ? [{ what: "the database", path: dirname(requireSqlite(config)) }] : []),
      { what: "artifacts", path: artifactsDir(config) },
    ],
  });
  const store = refuseWhenFull(opened, () => room.check());
  const close = () => store.close();
  return {
    store,
    clock,
    artifacts,
    room,
    seal: given.seal ?? openSeal(config),
    random: systemRandom,
    policy: parseAddressPolicy(config.allowPrivateNetworks),
    defaultMaxAttempts: config.defaultMaxAttempts,
    proxyRules: proxyRules(config),
    maxConcurrentCrawls: config.maxConcurrentTasks,
    respectRobots: config.respectRobots,
    stepKinds: knownKinds(config, clock),
    crawlsKeptMs: Math.max(config.retentionMs, SHORTEST_KEPT_MS),
    pathOf: (hash) => artifacts.placeOf(hash),
    wake: async (lanes) => {
      const holder = await store.engineHolder();
      if (holder === null) return;
      const heard = await poke(holder.address, lanes);
      given.onPoke?.(heard);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
