/** The API without a port: for commands that speak it on the database of this machine. */
import { apiDeps } from "./api-deps.ts";
import { type Api, createApi } from "./api/server.ts";
import type { RunningWorker, WorkerHooks } from "./app.ts";
import type { Log } from "./base/log.ts";
import { mayBeAlive, ownIdentity } from "./base/machine.ts";
import { ServiceStack } from "./base/service.ts";
import type { Send } from "./cli/api/caller.ts";
import { openClient } from "./client.ts";
import type { Config } from "./config/options.ts";
import type { PageTools } from "./page-tools.ts";
import { WorkMetrics } from "./work-metrics.ts";

export interface LocalApi extends AsyncDisposable {
  /** A call, answered without a connection. */
  send: Send;
  /** Whether some process works on this database now. */
  engineRuns(): Promise<boolean>;
  /** From now on this process works, too, or stands by if another one does. */
  work(hooks: Pick<WorkerHooks, "onRole">): Promise<RunningWorker>;
  close(): Promise<void>;
}

/** `observed`: with its description and its metrics, which a command has no use for. */
export async function openLocalApi(
  config: Config,
  log: Log,
  version: string,
  { command = "library", observed = false }: { command?: string; observed?: boolean } = {},
): Promise<LocalApi> {
  const stack = new ServiceStack();
  try {
    const client = await openClient(config);
    stack.defer("store", () => client.close());
    // Most commands get no page: what does is loaded for those that do.
    let tools: Promise<PageTools> | null = null;
    const pages = () => {
      tools ??= import("./page-tools.ts").then(({ createPageTools }) => createPageTools(config, log, client));
      return tools;
    };
    stack.defer("pages", async () => (await tools)?.close());
    let worker: RunningWorker | null = null;
    const metrics = new WorkMetrics(client, () => worker);
    stack.defer("metrics", async () => metrics.stop());
    const api = await createApi(
      apiDeps(config, log, version, client, {
        pages,
        tools: () => null,
        worker: () => worker,
        metrics,
        wake: (lanes) => (worker ?? client).wake(lanes),
      }),
      [],
      { observed },
    );
    stack.defer("api", () => api.close());
    const close = () => stack.stop();
    return {
      send: (call) => sendTo(api, call),
      engineRuns: async () => {
        if (client.cluster !== null) return (await import("./choose-engine.ts")).someoneWorks(client.store);
        const holder = await client.store.engineHolder();
        return holder !== null && holder.boot === ownIdentity().boot && mayBeAlive(holder);
      },
      work: async (hooks) => {
        const { startWorker } = await import("./app.ts");
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

async function sendTo(api: Api, { method, path, headers, body, signal }: Parameters<Send>[0]): ReturnType<Send> {
  const answer = await api.inject({
    method: method as "GET",
    url: path,
    headers,
    payloadAsStream: true,
    ...(body === undefined ? {} : { payload: body }),
    ...(signal === undefined ? {} : { signal }),
  });
  const flat = Object.entries(answer.headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]);
  return { status: answer.statusCode, headers: Object.fromEntries(flat), stream: answer.stream() };
}
