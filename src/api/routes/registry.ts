import type { ApiDeps } from "../deps.ts";
import type { ApiInstance } from "../instance.ts";
import type { ApiMetrics } from "../metrics.ts";
import { alertRoutes } from "./alerts.ts";
import { credentialRoutes } from "./credentials.ts";
import { healthRoutes } from "./health.ts";
import { jobRoutes } from "./jobs.ts";
import { previewRoutes } from "./preview.ts";
import { crawlResultRoutes } from "./crawl-results.ts";
import { proxyRoutes } from "./proxies.ts";
import { queueRoutes } from "./queue.ts";
import { resolverRoutes } from "./resolvers.ts";
import { resultRoutes } from "./results.ts";
import { eventRoutes } from "./run-events.ts";
import { runProgressRoutes } from "./run-progress.ts";
import { runRoutes } from "./runs.ts";
import { scheduleRoutes } from "./schedules.ts";
import { scrapingRoutes } from "./scraping.ts";
import { sessionRoutes } from "./session.ts";
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
  runProgressRoutes,
  eventRoutes,
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
  resolverRoutes,
  siteRoutes,
  proxyRoutes,
  workerRoutes,
  scheduleRoutes,
  alertRoutes,
];

export function addRoutes(api: ApiInstance, deps: ApiDeps, metrics: ApiMetrics): void {
  healthRoutes(api, deps, metrics);
  for (const add of RESOURCES) add(api, deps);
}
