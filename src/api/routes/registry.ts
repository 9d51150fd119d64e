import type { ApiDeps } from "../deps.ts";
import type { ApiInstance } from "../instance.ts";
import type { ApiMetrics } from "../metrics.ts";
import { auditLogRoutes } from "./access/audit-log.ts";
import { keyRoutes } from "./access/keys.ts";
import { alertRoutes } from "./system/alerts.ts";
import { boardRoutes } from "./queue/board.ts";
import { configRoutes } from "./system/config.ts";
import { credentialRoutes } from "./system/credentials.ts";
import { demoRoutes } from "./system/demo.ts";
import { healthRoutes } from "./system/health.ts";
import { jobHealthRoutes } from "./jobs/job-health.ts";
import { fixtureRoutes } from "./jobs/fixtures.ts";
import { jobChangeRoutes } from "./jobs/job-changes.ts";
import { jobRepairRoutes } from "./jobs/job-repair.ts";
import { jobVersionRoutes } from "./jobs/job-versions.ts";
import { jobRoutes } from "./jobs/jobs.ts";
import { laneRoutes } from "./queue/lanes.ts";
import { liveRoutes } from "./system/live.ts";
import { notificationRoutes } from "./notifications/notifications.ts";
import { learnRoutes } from "./pages/learn.ts";
import { liveViewRoutes } from "./pages/live-views.ts";
import { previewRoutes } from "./pages/preview.ts";
import { searchRoutes } from "./pages/search.ts";
import { crawlResultRoutes } from "./pages/crawl-results.ts";
import { proxyRoutes } from "./sites/proxies.ts";
import { queueRoutes } from "./queue/queue.ts";
import { concurrencyKeyRoutes } from "./queue/concurrency-keys.ts";
import { resultRoutes } from "./runs/results.ts";
import { bulkRoutes } from "./runs/run-bulk.ts";
import { eventRoutes } from "./runs/run-events.ts";
import { runDeletionRoutes } from "./runs/run-deletion.ts";
import { runProgressRoutes } from "./runs/run-progress.ts";
import { runRecipeRoutes } from "./runs/run-recipes.ts";
import { runRoutes } from "./runs/runs.ts";
import { scheduleRoutes } from "./jobs/schedules.ts";
import { scrapingRoutes } from "./pages/scraping.ts";
import { sessionRoutes } from "./system/session.ts";
import { siteDetailRoutes } from "./sites/site-details.ts";
import { siteRoutes } from "./sites/sites.ts";
import { singleSignOnRoutes } from "./access/single-sign-on.ts";
import { storageRoutes } from "./system/storage.ts";
import { workerRoutes } from "./system/workers.ts";
import { workflowControlRoutes } from "./workflows/workflow-control.ts";
import { workflowTaskRoutes } from "./workflows/workflow-tasks.ts";
import { workflowTemplateRoutes } from "./workflows/workflow-templates.ts";
import { workflowRoutes } from "./workflows/workflows.ts";

/** The routes of one resource, listed below. */
export type Routes = (api: ApiInstance, deps: ApiDeps) => void;

const RESOURCES: readonly Routes[] = [
  sessionRoutes,
  singleSignOnRoutes,
  keyRoutes,
  auditLogRoutes,
  jobRoutes,
  jobVersionRoutes,
  jobRepairRoutes,
  jobHealthRoutes,
  fixtureRoutes,
  jobChangeRoutes,
  runRoutes,
  bulkRoutes,
  runDeletionRoutes,
  runProgressRoutes,
  runRecipeRoutes,
  eventRoutes,
  liveRoutes,
  resultRoutes,
  credentialRoutes,
  liveViewRoutes,
  previewRoutes,
  searchRoutes,
  learnRoutes,
  scrapingRoutes,
  crawlResultRoutes,
  workflowRoutes,
  workflowControlRoutes,
  workflowTaskRoutes,
  workflowTemplateRoutes,
  queueRoutes,
  laneRoutes,
  concurrencyKeyRoutes,
  storageRoutes,
  siteRoutes,
  siteDetailRoutes,
  proxyRoutes,
  workerRoutes,
  scheduleRoutes,
  alertRoutes,
  notificationRoutes,
  configRoutes,
  boardRoutes,
  demoRoutes,
];

export function addRoutes(api: ApiInstance, deps: ApiDeps, metrics: ApiMetrics | null): void {
  healthRoutes(api, deps, metrics);
  for (const add of RESOURCES) add(api, deps);
}
