/** The server: API and worker in one process. Part of the composition root, because it combines both. */
import { createClient } from "../api-client/client.ts";
import { apiDeps } from "./api-deps.ts";
import { createApi } from "../api/server.ts";
import { type RunningWorker, startWorker } from "./worker.ts";
import { openClient } from "./context.ts";
import { systemClock } from "../base/clock.ts";
import type { Gauge } from "../base/gauge.ts";
import type { Log } from "../base/log.ts";
import { mayBeAlive } from "../base/machine.ts";
import { OutageLogger } from "../base/outage-logger.ts";
import { ServiceStack } from "../base/service.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/options.ts";
import type { EngineRole } from "../engine/port.ts";
import { DemoHost } from "./one-off/demo-host.ts";
import { LOCAL_PRINCIPAL } from "../domain/access/principal.ts";
import { closeToOthers } from "./file-access.ts";
import { fetchFrom } from "./local-api.ts";
import { mcpRoutes } from "../mcp/http.ts";
import type { PageReader } from "../extract/pool.ts";
import { createPageTools } from "./page-tools.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { addFirecrawl } from "../firecrawl/routes.ts";
import { explainTakenPort } from "./port-in-use.ts";
import { watchFiles, watchRedis } from "./shared-means.ts";
import { startAlerting } from "../supervisor/alerting.ts";
import { WorkMetrics } from "./work-metrics.ts";

interface ServerOptions {
  version: string;
  /** False: this process only answers calls, and another one works. */
  worker: boolean;
  /** See `WorkerHooks`. */
  gauge?: Gauge;
  /** Threads that several servers of one process share; the caller closes them. */
  reader?: PageReader;
  onRole?: (role: EngineRole) => void;
  /** Sources of the configuration, for display. */
  sources?: LoadedConfig["sources"];
}

export interface RunningServer extends AsyncDisposable {
  readonly url: string;
  /** Null: this process does no work. */
  readonly role: EngineRole | null;
  /** Stops accepting, finishes or requeues running tasks within the grace period, then closes everything. */
  stop(): Promise<void>;
}

export async function startServer(config: Config, log: Log, options: ServerOptions): Promise<RunningServer> {
  const stack = new ServiceStack();
  try {
    closeToOthers(config, log);
    let worker: RunningWorker | null = null;
    const demo = new DemoHost({
      config,
      clock: systemClock,
      worksHere: () => client.cluster === null && worker?.role === "engine",
    });
    const poking = new OutageLogger(log);
    const client = await openClient(config, systemClock, {
      log,
      ownPorts: demo.ownPorts,
      onPoke: (delivered) =>
        delivered
          ? poking.ends("workers can be notified of new work again")
          : poking.begins("cannot notify workers of new work; they poll for it", {}),
    });
    stack.defer("store", () => client.close());
    void watchFiles(client, log);
    if (!options.worker) void watchRedis(client, log);
    // Reports errors of a user's module at startup.
    await client.stepKinds();
    const tools = createPageTools(config, log, client, options.reader);
    stack.defer("pages", () => tools.close());
    stack.defer("demo site", () => demo.close());
    const metrics = new WorkMetrics(client, () => worker, {
      reader: () => tools.reader,
      maxInFlight: config.maxWorkers,
    });
    stack.defer("metrics", async () => metrics.stop());
    const telemetry = await openTelemetry(config, client, log);
    if (telemetry !== null) stack.defer("telemetry", () => telemetry.close());
    let stopping = false;
    const parts = {
      pages: async () => tools,
      tools: () => tools,
      worker: () => worker,
      metrics,
      // A stopping worker closes its own connections; the client's stay open until the last call is answered.
      demo,
      listens: true,
      wake: (lanes: string[] | null) => (stopping || worker === null ? client : worker).wake(lanes),
    };
    const deps = apiDeps(config, log, options.version, client, parts, options.sources);
    telemetry?.pushMetrics(() => metrics.read());
    deps.live.start();
    stack.defer("live", async () => deps.live.stop());
    // Agents at /mcp call the API of this server.
    const api = await createApi(deps, [
      addFirecrawl,
      mcpRoutes(({ principal, callerIp: ip }) => {
        const { inject, end } = api.for({ principal: principal ?? LOCAL_PRINCIPAL, ip });
        const headers = { "orb-client": "mcp" };
        return {
          client: createClient({ url: "http://localhost", fetch: fetchFrom({ inject }), retries: 0, headers }),
          end,
        };
      }),
    ]);
    // Bind the port first: if it is taken, no work has started.
    const { url } = await api.listen().catch(async (error: unknown) => {
      const holder = client.cluster === null ? await client.store.engineHolder() : null;
      throw await explainTakenPort(error, config, holder !== null && mayBeAlive(holder) ? holder.pid : null);
    });
    stack.defer("api and worker", async () => {
      stopping = true;
      await Promise.all([deps.liveViews.stop(), api.close(), worker?.stop()]);
    });
    if (!options.worker) {
      const alerts = startAlerting(config, { ...client, log });
      stack.defer("alerts", () => alerts.stop());
    } else
      worker = await startWorker(config, log, {
        command: "serve",
        client,
        tools,
        telemetry,
        ...(options.gauge === undefined ? {} : { gauge: options.gauge }),
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
