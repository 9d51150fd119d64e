/**
 * Orbweaver as a library, without the command line. What is exported here is public; everything else may change.
 *
 * ```ts
 * const { config } = loadConfig({ env: process.env, cwd: process.cwd() });
 * await using orb = await Orchestrator.start(config);
 * await orb.queue.submit([{ artifact_id: "a", url: "https://example.com/" }]);
 * console.log(await orb.queue.drained());
 * ```
 */

export {
  Orchestrator,
  type OrchestratorConfig,
  type OrchestratorOptions,
  type PageRecipe,
} from "./app/library/library.ts";

// Configuration is passed in; nothing reads the environment by itself.
export { type ConfigInput, type LoadedConfig, loadConfig } from "./config/load.ts";
export type { Config } from "./config/options.ts";

// Inputs and results.
export type { CrawlInput } from "./domain/crawl/crawl-options.ts";
export type { CrawlErrorView } from "./orchestrator/crawls/read.ts";
export type { CrawlDetail, CrawlView } from "./orchestrator/crawls/view.ts";
export type { JobInput } from "./orchestrator/jobs/input.ts";
export type { JobView } from "./orchestrator/jobs/view.ts";
export type { EnqueueReport } from "./orchestrator/queue/enqueue.ts";
export type { BadLine, ImportReport } from "./orchestrator/queue/import.ts";
export type { QueueItemDetail, QueueItemView } from "./orchestrator/queue/items.ts";
export type { QueueCounts, QueueStats } from "./orchestrator/queue/stats.ts";
export type { SubmittedItem } from "./orchestrator/queue/submit.ts";
export type { Waiting } from "./orchestrator/runs/ended.ts";
export type { EventType } from "./domain/run/event-catalogue.ts";
export type { EventView, ResultView, RunView, TaskView } from "./orchestrator/runs/view.ts";
export type { ProxyListView, ProxyView } from "./orchestrator/proxies/view.ts";
export type { RefreshView as ProxyRefresh } from "./orchestrator/proxies/refresh.ts";
export type { SiteProgress, SiteView } from "./orchestrator/sites/site-view.ts";
export type { SitesProgress } from "./orchestrator/sites/sites-progress.ts";
export type { WorkflowInput } from "./orchestrator/workflows/create.ts";
export type { StepProgress, WorkflowProgress } from "./orchestrator/workflows/progress.ts";
export type { RerunInput } from "./orchestrator/workflows/rerun.ts";
export type { WorkflowTaskView } from "./orchestrator/workflows/task-view.ts";
export type { TemplateView } from "./orchestrator/workflows/templates.ts";
export type { WorkflowDetail, WorkflowView } from "./orchestrator/workflows/view.ts";

// User handlers, step kinds and extractors; their modules import `orbweaver/handlers`, which loads nothing else.
export {
  type CustomExtractor,
  type CustomStep,
  type CustomStepContext,
  defineExtractor,
  defineHandlers,
  defineStep,
  type ExtractedRecord,
  type ExtractorContext,
  type ExtractorPage,
  type Handler,
  type HandlerContext,
  type HandlerDefinition,
  skip,
  type StepFile,
} from "./lanes/handlers/user/define.ts";
export type { FetchedPage, HandlerItem, StoredFile } from "./lanes/handlers/user/protocol.ts";

// Typed workflow definitions.
export { type BuiltInKind, kinds } from "./workflows/built-in-kinds.ts";
export {
  defineWorkflow,
  type Flow,
  type Step,
  type StepOptions,
  type WorkflowOptions,
  type WorkflowSource,
} from "./workflows/define-workflow.ts";
export { expression, type Given, pluck, type Reference } from "./workflows/reference.ts";
export { Type } from "typebox";

export { type ErrorCode, type FieldError, isOrbError, OrbError, type Reaction } from "./base/errors.ts";
export { createLog, type Log, type LogLevel, type LogOptions, silentLog } from "./base/log.ts";
