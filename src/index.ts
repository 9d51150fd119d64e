/**
 * Orbweaver as a library, without the command line. What is exported here is public; everything else may change.
 *
 * ```ts
 * const { config } = loadConfig({ env: process.env, cwd: process.cwd() });
 * await using worker = await startWorker(config, silentLog);
 * await submitItems(worker, [{ artifact_id: "a", url: "https://example.com/" }]);
 * console.log(await queueDrained(worker));
 * ```
 */

// Processes: a client reads and writes the database, a worker also does the work (or stands by to).
export { type RunningWorker, startWorker, type WorkerHooks } from "./app.ts";
export { type Client, openClient } from "./client.ts";

// Configuration is handed in; nothing reads the environment by itself.
export { type ConfigInput, type LoadedConfig, loadConfig } from "./config/load.ts";
export type { Config } from "./config/options.ts";

// The queue.
export { queueDrained } from "./orchestrator/queue/drained.ts";
export type { EnqueueReport } from "./orchestrator/queue/enqueue.ts";
export { type BadLine, importItems, type ImportReport } from "./orchestrator/queue/import.ts";
export { listItems, type QueueItemDetail, type QueueItemView, showItem } from "./orchestrator/queue/items.ts";
export { retryFailed } from "./orchestrator/queue/retry-failed.ts";
export { type QueueCounts, queueStats, type QueueStats } from "./orchestrator/queue/stats.ts";
export { type SubmittedItem, submitItems } from "./orchestrator/queue/submit.ts";

// Sites and their limits.
export { changeSite, listSites, resetSite, showSite, type SiteView } from "./orchestrator/sites.ts";

// Handlers of a user's own; their modules import `orbweaver/handlers`, which loads nothing else.
export {
  defineHandlers,
  type Handler,
  type HandlerContext,
  type HandlerDefinition,
} from "./lanes/handlers/user/define.ts";
export type { FetchedPage, HandlerItem, StoredFile } from "./lanes/handlers/user/protocol.ts";

// Errors and logs.
export { type ErrorCode, type FieldError, isOrbError, OrbError, type Reaction } from "./base/errors.ts";
export { createLog, type Log, type LogLevel, type LogOptions, silentLog } from "./base/log.ts";
