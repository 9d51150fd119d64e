import type { ApiDeps } from "../deps.ts";
import type { ApiInstance } from "../instance.ts";
import type { ApiMetrics } from "../metrics.ts";
import { alertRoutes } from "./alerts.ts";
import { boardRoutes } from "./board.ts";
import { configRoutes } from "./config.ts";
import { credentialRoutes } from "./credentials.ts";
import { demoRoutes } from "./demo.ts";
import { healthRoutes } from "./health.ts";
import { jobRoutes } from "./jobs.ts";
import { laneRoutes } from "./lanes.ts";
import { liveRoutes } from "./live.ts";
import { previewRoutes } from "./preview.ts";
import { crawlResultRoutes } from "./crawl-results.ts";
import { proxyRoutes } from "./proxies.ts";
import { queueRoutes } from "./queue.ts";
import { resolverRoutes } from "./resolvers.ts";
import { resultRoutes } from "./results.ts";
import { bulkRoutes } from "./run-bulk.ts";
import { eventRoutes } from "./run-events.ts";
import { runProgressRoutes } from "./run-progress.ts";
import { runRecipeRoutes } from "./run-recipes.ts";
import { runRoutes } from "./runs.ts";
import { scheduleRoutes } from "./schedules.ts";
import { scrapingRoutes } from "./scraping.ts";
import { sessionRoutes } from "./session.ts";
import { siteDetailRoutes } from "./site-details.ts";
import { siteRoutes } from "./sites.ts";
import { workerRoutes } from "./workers.ts";
import { workflowControlRoutes } from "./workflow-control.ts";
import { workflowTaskRoutes } from "./workflow-tasks.ts";
import { workflowTemplateRoutes } from "./workflow-templates.ts";
import { workflowRoutes } from "./workflows.ts";

/** A resource: one file beside this one, listed below. */
export type Routes = (api: ApiInstance, deps: ApiDeps) => void;

const RESOURCES: readonly Routes[] = [
  sessionRoutes,
  jobRoutes,
  runRoutes,
  bulkRoutes,
  runProgressRoutes,
  runRecipeRoutes,
  eventRoutes,
  liveRoutes,
  resultRoutes,
  credentialRoutes,
  previewRoutes,
  scrapingRoutes,
  crawlResultRoutes,
  workflowRoutes,
  workflowControlRoutes,
  workflowTaskRoutes,
  workflowTemplateRoutes,
  queueRoutes,
  laneRoutes,
  resolverRoutes,
  siteRoutes,
  siteDetailRoutes,
  proxyRoutes,
  workerRoutes,
  scheduleRoutes,
  alertRoutes,
  configRoutes,
  boardRoutes,
  demoRoutes,
];

export function addRoutes(api: ApiInstance, deps: ApiDeps, metrics: ApiMetrics | null): void {
  healthRoutes(api, deps, metrics);
  for (const add of RESOURCES) add(api, deps);
}
