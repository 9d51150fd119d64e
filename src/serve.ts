/** The server: the API and the worker in one process. Part of the composition root, because it puts both together. */
import type { ApiDeps, GaugeReading } from "./api/deps.ts";
import { createApi } from "./api/server.ts";
import { type Client, openClient, type RunningWorker, startWorker } from "./app.ts";
import { systemClock } from "./base/clock.ts";
import type { Log } from "./base/log.ts";
import { ServiceStack } from "./base/service.ts";
import type { Config } from "./config/options.ts";
import type { EngineRole } from "./engine/port.ts";
import { createPageTools, type PageTools } from "./page-tools.ts";
import { queueOverview } from "./orchestrator/queue/stats.ts";

export interface ServerOptions {
  version: string;
  /** false: calls are answered, and another process does the work. */
  worker: boolean;
  onRole?: (role: EngineRole) => void;
}

export interface RunningServer extends AsyncDisposable {
  readonly url: string;
  /** null: this process does no work. */
  readonly role: EngineRole | null;
  /** Stops accepting, finishes or hands back what runs within the grace period, then closes everything. */
  stop(): Promise<void>;
}

export async function startServer(config: Config, log: Log, options: ServerOptions): Promise<RunningServer> {
  const stack = new ServiceStack();
  try {
    const client = await openClient(config);
    stack.defer("store", () => client.close());
    const tools = createPageTools(config, log, client.clock, client.store);
    stack.defer("pages", () => tools.close());
    let worker: RunningWorker | null = null;
    let stopping = false;
    const api = await createApi(
      apiDeps(config, log, options.version, client, tools, {
        worker: () => worker,
        // A worker that stops has closed its own doors; the client's stay open until the last call is answered.
        wake: (lanes) => (stopping || worker === null ? client : worker).wake(lanes),
      }),
    );
    // First the port: when it is taken, no work has been begun.
    const { url } = await api.listen();
    stack.defer("api and worker", async () => {
      stopping = true;
      await Promise.all([api.close(), worker?.stop()]);
    });
    if (options.worker)
      worker = await startWorker(config, log, {
        client,
        tools,
        ...(options.onRole === undefined ? {} : { onRole: options.onRole }),
      });
    return {
      url,
      get role() {
        return worker?.role ?? null;
      },
      stop: () => stack.stop(),
      [Symbol.asyncDispose]: () => stack.stop(),
    };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

/** What the API works with, whether it listens or is only called from inside the process. */
export function apiDeps(
  config: Config,
  log: Log,
  version: string,
  client: Client,
  tools: PageTools,
  work: { worker: () => RunningWorker | null; wake: ApiDeps["wake"] },
): ApiDeps {
  return {
    store: client.store,
    clock: client.clock,
    seal: client.seal,
    policy: client.policy,
    defaultMaxAttempts: client.defaultMaxAttempts,
    pages: tools,
    openArtifact: (hash) => client.artifacts.open(hash),
    wake: work.wake,
    log,
    random: client.random,
    settings: {
      version,
      host: config.host,
      port: config.port,
      token: config.apiToken,
      graceMs: config.shutdownGraceMs,
      maxPerResolver: config.maxPerResolver,
    },
    pathOf: client.pathOf,
    probes: {
      database: () => client.store.probe(),
      disk: async () => client.artifacts.probe(),
    },
    metrics: () => readings(client, work.worker()),
  };
}

const STARTED = systemClock.monotonic();

async function readings(client: Client, worker: RunningWorker | null): Promise<GaugeReading[]> {
  const { lanes: _, total: __, ...counts } = await queueOverview(client, 0);
  return [
    ...Object.entries(counts).map(([status, value]) => ({
      name: "orb_queue_items",
      help: "Items of the queue, by state.",
      labels: { status },
      value,
    })),
    { name: "orb_tasks_in_flight", help: "Tasks this process works on.", value: worker?.inFlight ?? 0 },
    { name: "orb_engine", help: "1 when this process is the engine.", value: worker?.role === "engine" ? 1 : 0 },
    { name: "orb_paused", help: "1 when work waits for a resource.", value: (worker?.paused ?? null) === null ? 0 : 1 },
    {
      name: "process_resident_memory_bytes",
      help: "Memory of the process.",
      value: process.memoryUsage.rss(),
    },
    {
      name: "orb_uptime_seconds",
      help: "Since the process started.",
      value: Math.round((systemClock.monotonic() - STARTED) / 1000),
    },
  ];
}
