/** Duties of a worker besides tasks: schedules, maintenance, alerts and webhooks. */
import type { Log } from "../../base/log.ts";
import type { ServiceStack } from "../../base/service.ts";
import type { Config } from "../../config/options.ts";
import { ALERT_RETRY } from "../../domain/run/alerts.ts";
import type { ArchivePolicy } from "../../domain/run/retention.ts";
import { webhookBody } from "../../firecrawl/webhook-body.ts";
import { startAlerting } from "../../supervisor/alerting.ts";
import { Duties } from "../../supervisor/duties.ts";
import { archiveFiles } from "../../supervisor/duties/archive-files.ts";
import { fixtureWriter } from "../../lanes/handlers/fixtures.ts";
import { compareMonitoredRuns } from "../../supervisor/duties/compare-monitored-runs.ts";
import { deliverWebhooks } from "../../supervisor/duties/deliver-webhooks.ts";
import { keepCrawls } from "../../supervisor/duties/keep-crawls.ts";
import { keepProxies } from "../../supervisor/duties/keep-proxies.ts";
import { keepWorkflows } from "../../supervisor/duties/keep-workflows.ts";
import { profileEndedRuns } from "../../supervisor/duties/profile-ended-runs.ts";
import { repairDegradedRuns } from "../../supervisor/duties/repair-degraded-runs.ts";
import { removeExpiredRuns } from "../../supervisor/duties/remove-expired-runs.ts";
import { sealStoredSecrets } from "../../supervisor/duties/seal-stored-secrets.ts";
import { startDueJobs } from "../../supervisor/duties/start-due-jobs.ts";
import { sweepEndedRuns } from "../../supervisor/duties/sweep-ended-runs.ts";
import { sweepOrphanedFiles } from "../../supervisor/duties/sweep-orphaned-files.ts";
import { trimAuditLog } from "../../supervisor/duties/trim-audit-log.ts";
import { watchBudget } from "../../supervisor/duties/watch-budget.ts";
import { createWebhookSender } from "../../supervisor/webhook-sender.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import type { Client } from "../context.ts";
import type { PageTools } from "../page-tools.ts";

interface DutyDeps {
  log: Log;
  /** Its `wake` reaches the engine of this process. */
  client: Client;
  /** Any worker may be assigned due jobs. */
  isCluster: boolean;
  leads: () => boolean;
  tools: PageTools;
  telemetry: Telemetry | null;
  stack: ServiceStack;
}

interface WorkerDuties {
  dueJobs: ReturnType<typeof startDueJobs>;
  /** Run by every worker. */
  everywhere: Duties;
  /** Run by the leader. */
  leading: Duties;
}

export function createDuties(
  config: Config,
  { log, client, isCluster, leads, tools, telemetry, stack }: DutyDeps,
): WorkerDuties {
  const { clock, store } = client;
  const alerts = startAlerting(config, { ...client, log, works: true });
  stack.defer("alerts", () => alerts.stop());
  const webhooks = createWebhookSender({ ...client, secret: config.webhookSecret, userAgent: config.userAgent });
  stack.defer("webhooks", () => webhooks.close());
  const dueJobs = startDueJobs({ ...client, log }, { notified: isCluster });
  // In a cluster any worker may be assigned due jobs, so all of them announce themselves.
  const everywhere = new Duties({ clock, log, look: alerts.look, duties: isCluster ? [dueJobs.presence] : [] });
  stack.defer("shared duties", () => everywhere.stop());
  const leading = new Duties({
    clock,
    log,
    look: alerts.look,
    may: leads,
    duties: [
      sweepEndedRuns(client),
      profileEndedRuns({ ...client, log, deliver: config.alertWebhookUrl !== null }),
      repairDegradedRuns({
        ...client,
        log,
        pages: async () => tools,
        openArtifact: (hash) => client.artifacts.open(hash),
        deliver: config.alertWebhookUrl !== null,
      }),
      compareMonitoredRuns({
        ...client,
        log,
        openArtifact: (hash) => client.artifacts.open(hash),
        keepFile: fixtureWriter(store, client.artifacts, log),
        deliver: config.alertWebhookUrl !== null,
      }),
      dueJobs,
      keepCrawls(client),
      keepWorkflows(client),
      keepProxies(client),
      removeExpiredRuns(client),
      sweepOrphanedFiles(client),
      archiveFiles({ ...client, log, policy: archivePolicy(config) }),
      watchBudget({ ...client, log, raise: alerts.raise, budget: client.diskBudget }),
      trimAuditLog({ ...client, keepDays: config.auditKeepDays }),
      sealStoredSecrets({ ...client, log }),
      deliverWebhooks({
        ...client,
        log,
        sender: webhooks,
        retry: { ...ALERT_RETRY, baseMs: config.retryBaseMs },
        bodyOf: (id, call, to) => webhookBody(store, id, call, to),
        traceparentOf: telemetry?.runs?.traceparentOf,
      }),
      ...alerts.engineDuties,
    ],
  });
  stack.defer("duties", () => leading.stop());
  return { dueJobs, everywhere, leading };
}

function archivePolicy({ archiveAfterDays, archiveMinKb }: Config): ArchivePolicy {
  return { afterMs: archiveAfterDays * 86_400_000, minBytes: archiveMinKb * 1024 };
}
