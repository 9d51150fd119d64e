/** The probes of `GET /ready`. Part of the composition root, because they cover everything. */
import type { RunningWorker } from "./worker.ts";
import { sizeWords } from "../base/files/disk-space.ts";
import { messageOf } from "../base/errors.ts";
import type { Client } from "./context.ts";
import type { Cluster } from "./cluster.ts";
import { leastOf } from "../domain/run/run-hold.ts";
import type { Finding, Probe } from "../orchestrator/health.ts";
import { noWorkersReason } from "../orchestrator/workers/worker-availability.ts";
import { inMb, memoryWords, problemsOf } from "./own-worker.ts";
import type { PageTools } from "./page-tools.ts";
import { agreesOnKey } from "./secret-key.ts";
import type { WorkerRecord, WorkerProblem } from "../store/ports/worker-port.ts";

/** Components of this process, if present. */
export interface Parts {
  worker: () => RunningWorker | null;
  tools: () => Pick<PageTools, "browser" | "memory"> | null;
}

const MOST_WORKERS = 1000;
const REDIS_MS = 2000;
/** At most this many other workers are named when all is well. */
const MOST_NAMED = 5;

export function probesOf(client: Client, { worker, tools }: Parts): Record<string, Probe> {
  const { store, artifacts, diskSpace } = client;
  return {
    database: async () => {
      await store.probe();
      return { message: client.cluster === null ? "SQLite" : "Postgres" };
    },
    ...(client.cluster === null ? {} : clusterProbes(client, client.cluster)),
    disk: async () => {
      diskSpace.check();
      return {
        message: diskSpace.disks.map(({ what, freeBytes }) => `${sizeWords(freeBytes)} free for ${what}`).join(", "),
      };
    },
    artifacts: () => artifacts.probe(),
    worker: async () => workerFinding(client, worker()),
    memory: async () => {
      const own = tools();
      const others = await otherWorkers(client, worker());
      const problem = await problemOf("memory", own, others);
      if (problem !== null) return problem;
      const words = [
        ...(own === null ? [] : [`this process ${await memoryWords(own)}`]),
        ...others.slice(0, MOST_NAMED).map((one) => `${nameOf(one)} ${inMb(one.memoryBytes)} MB`),
      ];
      return words.length === 0 ? undefined : { message: words.join(", ") };
    },
    proxies: () => proxyFinding(client),
    browser: async () => (await problemOf("browser", tools(), await otherWorkers(client, worker()))) ?? undefined,
  };
}

/** Probes for clusters only. */
function clusterProbes({ store, seal, clock }: Client, { redisUrl }: Cluster): Record<string, Probe> {
  return {
    redis: async () => {
      const { probeRedis } = await import("../engine/bullmq/redis.ts");
      try {
        return { message: `Redis ${await probeRedis(redisUrl, clock, REDIS_MS)}` };
      } catch (error) {
        // Running work continues, and new work is stored.
        return { degraded: true, message: messageOf(error) };
      }
    },
    key: async () =>
      (await agreesOnKey(store, seal))
        ? undefined
        : { degraded: true, message: "APP_SECRET_KEY differs from the key of the workers" },
  };
}

async function workerFinding(client: Client, own: RunningWorker | null): Promise<Finding> {
  const paused = own?.paused ?? null;
  if (paused !== null) {
    const since = own?.pausedSince ?? null;
    return { degraded: true, message: `work pauses: ${paused}`, ...(since === null ? {} : { since }) };
  }
  const still = await noWorkersReason(client);
  if (still !== null) return { degraded: true, message: still.message };
  if (client.cluster === null)
    return { message: own?.role === "engine" ? "this process is the worker" : "another process is the worker" };
  const engines = (await otherWorkers(client, own)).filter(({ role }) => role === "engine");
  const pausing = engines.filter((one) => one.paused !== null);
  if (pausing.length > 0) {
    const work = engines.length - pausing.length + (own?.role === "engine" ? 1 : 0);
    const names = pausing.slice(0, MOST_NAMED).map((one) => `${nameOf(one)} ${one.paused}`);
    return {
      degraded: true,
      message: `${work} ${work === 1 ? "works" : "work"}, ${pausing.length} ${pausing.length === 1 ? "pauses" : "pause"}: ${names.join("; ")}`,
    };
  }
  const others = engines.length;
  const words = `${others} ${others === 1 ? "other worker" : "other workers"}, engine bullmq`;
  return { message: own?.role === "engine" ? `this process and ${words}` : words };
}

/** Whether runs that use the pool have enough proxies. */
async function proxyFinding({ store, proxyRules: rules }: Client): Promise<Finding | undefined> {
  const { total, disabled, usable } = await store.countProxies();
  const enabled = total - disabled;
  const least = leastOf(rules);
  // More than all cannot become usable: runs continue with those there are, if configured.
  const wanted = rules.shortage === "fail" ? least : Math.min(least, enabled);
  const waits = (await store.heldRuns("proxies", 1)).length > 0;
  if (enabled === 0 && !waits) return undefined;
  const message = `${usable} of ${enabled} proxies are usable`;
  const few = usable < Math.max(1, wanted) ? `, fewer than the required ${Math.max(1, wanted)} (APP_MIN_PROXIES)` : "";
  if (waits) return { degraded: true, message: `${message}${few}: runs wait for proxies` };
  return few === ""
    ? { message }
    : { degraded: true, message: `${message}${few}: runs that use the proxy pool have to wait` };
}

/** Workers in other processes: their figures are at most a few seconds old. */
async function otherWorkers({ store }: Client, own: RunningWorker | null): Promise<WorkerRecord[]> {
  const workers = await store.workers({ live: true, limit: MOST_WORKERS });
  return workers.filter(({ id, state }) => id !== own?.workerId && state !== "lost");
}

const nameOf = ({ command, identity }: WorkerRecord) => `orb ${command} (process ${identity.pid})`;

/** Its problem in this process, or else in another worker. */
async function problemOf(
  what: WorkerProblem["what"],
  tools: ReturnType<Parts["tools"]>,
  others: readonly WorkerRecord[],
): Promise<Finding | null> {
  const own = tools === null ? undefined : (await problemsOf(tools)).find((one) => one.what === what);
  if (own !== undefined) return { degraded: true, message: own.message, since: own.since };
  for (const other of others) {
    const problem = other.troubles.find((one) => one.what === what);
    if (problem !== undefined)
      return { degraded: true, message: `${nameOf(other)}: ${problem.message}`, since: problem.since };
  }
  return null;
}
