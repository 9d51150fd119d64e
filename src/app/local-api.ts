/** The API without a port: for commands on the database of this machine. */
import { apiDeps } from "./api-deps.ts";
import type { Fetch } from "../api-client/client.ts";
import type { ApiDeps } from "../api/deps.ts";
import { routeFinder } from "../api/routes/on-demand.ts";
import { type Api, createApi } from "../api/server.ts";
import type { RunningWorker, WorkerHooks } from "./worker.ts";
import type { Log } from "../base/log.ts";
import { mayBeAlive, ownIdentity } from "../base/machine.ts";
import { ServiceStack } from "../base/service.ts";
import { openClient } from "./context.ts";
import type { Config } from "../config/options.ts";
import type { PageTools } from "./page-tools.ts";
import { WorkMetrics } from "./work-metrics.ts";

interface LocalApi extends AsyncDisposable {
  /** Answers a client's calls without a connection, whatever host they name. */
  fetch: Fetch;
  /** Every route with the role that it needs; all of them only if `observed`. */
  routes: Api["routes"];
  /** Whether a process works on this database now. */
  engineRuns(): Promise<boolean>;
  /** Starts a worker in this process; stands by if another one works. */
  work(hooks: Pick<WorkerHooks, "onRole" | "givesWay" | "onEnded">): Promise<RunningWorker>;
  close(): Promise<void>;
}

interface LocalOptions {
  command?: string;
  observed?: boolean;
}

/** `observed`: with OpenAPI description and metrics, which a command does not need. */
export async function openLocalApi(
  config: Config,
  log: Log,
  version: string,
  { command = "library", observed = false, reader }: LocalOptions & Pick<WorkerHooks, "reader"> = {},
): Promise<LocalApi> {
  const stack = new ServiceStack();
  try {
    const client = await openClient(config);
    stack.defer("store", () => client.close());
    // Loaded on first use: most commands fetch no page.
    let tools: Promise<PageTools> | null = null;
    const pages = () => {
      tools ??= import("./page-tools.ts").then(({ createPageTools }) => createPageTools(config, log, client, reader));
      return tools;
    };
    stack.defer("pages", async () => (await tools)?.close());
    let worker: RunningWorker | null = null;
    const metrics = new WorkMetrics(client, () => worker, { reader: () => null, maxInFlight: config.maxWorkers });
    stack.defer("metrics", async () => metrics.stop());
    const deps = apiDeps(config, log, version, client, {
      pages,
      tools: () => null,
      worker: () => worker,
      metrics,
      wake: (lanes) => (worker ?? client).wake(lanes),
    });
    const api = observed
      ? await createApi(deps, [(await import("../firecrawl/routes.ts")).addFirecrawl])
      : apiOnDemand(deps);
    stack.defer("api", () => api.close());
    const close = () => stack.stop();
    return {
      fetch: fetchFrom(api),
      routes: api.routes,
      engineRuns: async () => {
        if (client.cluster !== null) return (await import("./choose-engine.ts")).hasActiveWorker(client.store);
        const holder = await client.store.engineHolder();
        return holder !== null && holder.boot === ownIdentity().boot && mayBeAlive(holder);
      },
      work: async (hooks) => {
        // It starts while this thread loads the worker.
        if (hooks.givesWay !== true) (await pages()).reader.warm();
        const { startWorker } = await import("./worker.ts");
        const started = await startWorker(config, log, {
          ...hooks,
          command,
          client,
          tools: await pages(),
          standBy: true,
        });
        stack.defer("worker", async () => {
          worker = null;
          await started.stop();
        });
        worker = started;
        return started;
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

/** An API whose routes are built with the first call of them. */
function apiOnDemand(deps: ApiDeps): Pick<Api, "inject" | "routes" | "close"> {
  const routesAt = routeFinder(deps);
  const parts = new Map<string, Promise<Api>>();
  return {
    routes: [],
    async inject(call) {
      const [path = ""] = String(call.url).split("?", 1);
      const urls = routesAt(path);
      const name = [...urls].join(" ");
      let part = parts.get(name);
      if (part === undefined)
        parts.set(name, (part = createApi(deps, [], { observed: false, wants: (url) => urls.has(url) })));
      return (await part).inject(call);
    },
    async close() {
      for (const part of parts.values()) await (await part).close();
    },
  };
}

/** A `fetch` that an in-process API answers. */
export function fetchFrom(api: Pick<Api, "inject">): Fetch {
  return async (url, { method, headers, body, signal }) => {
    const { pathname, search } = new URL(url);
    const answer = await api.inject({
      method: method as "GET",
      url: `${pathname}${search}`,
      headers,
      payloadAsStream: true,
      signal,
      ...(body === undefined ? {} : { payload: body }),
    });
    const get = (name: string) => {
      const value = answer.headers[name];
      return value === undefined ? null : [value].flat().join(", ");
    };
    return { status: answer.statusCode, headers: { get }, body: answer.stream() };
  };
}
