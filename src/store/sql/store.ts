import type { StoreMethods } from "../ports/access.ts";
import { alertStore } from "./catalog/alerts.ts";
import { loginStore } from "./catalog/logins.ts";
import { sealStore } from "./kernel/seal-texts.ts";
import { audit } from "./ops/audit.ts";
import { accessStore } from "./ops/audit-log.ts";
import { acquirePermits, budgetCap, releasePermits, setBudgetCap } from "./lanes/budgets.ts";
import { admitCrawls } from "./crawls/admit-crawls.ts";
import { countCrawls, readRecentPages } from "./crawls/crawl-throughput.ts";
import { passTime } from "./crawls/crawls.ts";
import { endByTime } from "./runs/end-run.ts";
import { growRun } from "./crawls/grow-run.ts";
import { readTraps } from "./crawls/frontier.ts";
import { claim, ClaimCursor } from "./lanes/claim.ts";
import type { Context } from "./kernel/context.ts";
import { enqueue, startRun } from "./tasks/enqueue.ts";
import { readEvents, readFeed } from "./runs/events.ts";
import { createJob, deleteJob, readJob, readJobs, updateJob } from "./catalog/jobs.ts";
import { dutyStore } from "./catalog/duties-due.ts";
import { fixtureStore } from "./catalog/fixtures.ts";
import { repairStore } from "./catalog/repairs.ts";
import { readJobVersion, readJobVersions } from "./catalog/job-versions.ts";
import { engineHolder, heartbeat, releaseEngine, takeEngine } from "./lanes/engine-lock.ts";
import { healthStore } from "./runs/run-health.ts";
import { holdStore } from "./runs/holds.ts";
import { keyUse, openUnderKey } from "./lanes/key-use.ts";
import { liveStore } from "./ops/live.ts";
import { lanesWithWork, releaseLane, takeLane } from "./lanes/lanes.ts";
import { readLastRuns } from "./runs/last-runs.ts";
import { monitorStore } from "./monitors/monitor-store.ts";
import { ownerStore } from "./lanes/owners.ts";
import { proxyStore } from "./catalog/proxies.ts";
import { storedResponse } from "./kernel/idempotency-keys.ts";
import { retentionStore } from "./runs/retention-store.ts";
import { goOn, retryFailed } from "./tasks/requeue.ts";
import { readPageCopy } from "./crawls/page-copies.ts";
import { readChangesAmong, readPageChanges, readPageDigest } from "./crawls/page-states.ts";
import { keepRobots, readRobots } from "./sites/robots.ts";
import { answerHuman, sweepEnded } from "./runs/run-ends.ts";
import { readErrors, readRetryReasons } from "./runs/run-errors.ts";
import { readIdsFrom } from "./kernel/ids-from.ts";
import { countRunsLike, readRuns } from "./runs/run-lists.ts";
import { readRunSites } from "./runs/run-sites.ts";
import { changeRun, countRuns, openRun, readRun, readRunByAlias, readRunStates, requireRun } from "./runs/runs.ts";
import {
  createSession,
  deleteSession,
  noteSessionHealth,
  noteSessionUse,
  readSession,
  readSessions,
} from "./catalog/sessions.ts";
import { settle } from "./tasks/settle.ts";
import { openBreakers } from "./sites/sites.ts";
import { siteStore } from "./sites/site-store.ts";
import { scheduleStore } from "./catalog/schedule-occurrences.ts";
import { openTasks, readCounts, readOverview, readTask, readTaskByKey, readTasks } from "./tasks/tasks.ts";
import { webhookStore } from "./catalog/webhooks.ts";
import { workerStore } from "./ops/worker-store.ts";
import { workflowStore } from "./workflows/workflow-store.ts";
import { lockRuns } from "./kernel/lock-runs.ts";
import {
  artifactsOf,
  artifactsSince,
  countResults,
  readArtifact,
  readExchanges,
  readResults,
  resultsOf,
} from "./tasks/outputs.ts";

export function storeMethods(context: Context): StoreMethods {
  const { connection } = context;
  const cursor = new ClaimCursor();
  const number = (sql: string) => Number(Object.values(connection.sql(sql).get() ?? {})[0]);

  return {
    engineHolder: async () => engineHolder(context),
    takeEngine: async (candidate, ttlMs, evict) => takeEngine(context, candidate, ttlMs, evict),
    releaseEngine: async (holder) => releaseEngine(context, holder),
    heartbeat: async (owner, ttlMs) => heartbeat(context, owner, ttlMs),

    answered: async (once, now) => storedResponse(context, once, now),

    createJob: async (job, now, once, source) => createJob(context, job, now, once, source),
    job: async (id) => readJob(context, id),
    jobs: async (filter) => readJobs(context, filter),
    updateJob: async (id, change, now, version, source) => updateJob(context, id, change, now, version, source),
    jobVersions: async (id, options) => readJobVersions(context, id, options),
    jobVersion: async (id, version) => readJobVersion(context, id, version),
    deleteJob: async (id, now, options) => deleteJob(context, id, now, options),

    openRun: async (run, now) => openRun(context, run, now),
    startRun: async (run, tasks, now, once) => startRun(context, run, tasks, now, once),
    runs: async (filter) => readRuns(context, filter),
    idsFrom: async (what, beginning, limit) => readIdsFrom(context, what, beginning, limit),
    runStates: async (ids) => readRunStates(context, ids),
    answerHuman: async (id, answer, now) => answerHuman(context, id, answer, now),
    growRun: async (hold, task, growth, now) => growRun(context, hold, task, growth, now),
    admitCrawls: async (most, now) => admitCrawls(context, most, now),
    goOn: async (id, window, now) => goOn(context, id, window, now),
    endByTime: async (id, now) =>
      connection.write(() => {
        lockRuns(context, [id]);
        endByTime(context, requireRun(context, id).n, now);
      }),
    passTime: async (elapsedMs, now, limit) => passTime(context, elapsedMs, now, limit),
    exchanges: async (id, window) => readExchanges(context, id, window),
    trapState: async (id) => readTraps(context, requireRun(context, id).n),
    runErrors: async (id) => readErrors(context, requireRun(context, id).n),
    retryReasons: async (id) => readRetryReasons(context, requireRun(context, id).n),
    runSites: async (id, filter) => readRunSites(context, requireRun(context, id).n, filter),
    lastRuns: async (jobIds) => readLastRuns(context, jobIds),
    countRuns: async () => countRuns(context),
    countRunsLike: async (filter) => countRunsLike(context, filter),
    crawlCounts: async () => countCrawls(context),
    openBreakers: async (now, limit) => openBreakers(context, now, limit),
    recentPages: async (now) => readRecentPages(context, now),
    pageCopy: async (jobId, key, fingerprint) => readPageCopy(context, jobId, key, fingerprint),
    pageDigest: async (jobId, key) => readPageDigest(context, jobId, key),
    pageChanges: async (id, options) => readPageChanges(context, id, options),
    changesAmong: async (id, keys) => readChangesAmong(context, id, keys),
    sweepEnded: async (limit, now, runId) => sweepEnded(context, limit, now, runId),
    run: async (id) => readRun(context, id),
    runByAlias: async (alias) => readRunByAlias(context, alias),
    changeRun: async (id, to, message, now) => changeRun(context, id, to, message, now),
    events: async (runId, window) => readEvents(context, runId, window),
    feed: async (window) => readFeed(context, window),

    enqueue: async (runId, tasks, now) => enqueue(context, runId, tasks, now),
    task: async (id) => readTask(context, id),
    taskByKey: async (runId, key) => readTaskByKey(context, runId, key),
    tasks: async (runId, filter) => readTasks(context, runId, filter),
    retryFailed: async (runId, choice, now) => retryFailed(context, runId, choice, now),
    counts: async (runId) => readCounts(context, runId),
    overview: async (runId, mostSites) => readOverview(context, runId, mostSites),

    lanesWithWork: async (owner) => lanesWithWork(context, owner),
    takeLane: async (lane, owner, ttlMs) => takeLane(context, lane, owner, ttlMs),
    releaseLane: async (hold, restMs) => releaseLane(context, hold, restMs),
    claim: async (hold, choice, now) => claim(context, cursor, hold, choice, now),
    settle: async (batches, now, turn) => settle(context, batches, now, turn),

    acquirePermits: async (key, owner, units, cap) => acquirePermits(context, key, owner, units, cap),
    releasePermits: async (key, owner, units, wantsAgain) => releasePermits(context, key, owner, units, wantsAgain),
    keyUse: async (runId, keys) => keyUse(context, runId, keys),
    openUnderKey: async (runId, key, limit) => openUnderKey(context, runId, key, limit),
    budgetCap: async (key) => budgetCap(context, key),
    setBudgetCap: async (key, cap) => setBudgetCap(context, key, cap),

    robots: async (origin) => readRobots(context, origin),
    keepRobots: async (copy, age) => keepRobots(context, copy, age),

    createSession: async (session, now, once) => createSession(context, session, now, once),
    session: async (id) => readSession(context, id),
    sessions: async (filter) => readSessions(context, filter),
    noteSessionHealth: async (id, health) => noteSessionHealth(context, id, health),
    noteSessionUse: async (id, now) => noteSessionUse(context, id, now),
    deleteSession: async (id) => deleteSession(context, id),

    controlVersion: async () => number("SELECT version FROM control"),
    foreignVersion: async () => connection.dialect.foreignVersion(connection),

    audit: async () => audit(context),
    probe: async () => connection.write(() => connection.dialect.probe(connection)),
    artifactsSince: async (time, after, limit) => artifactsSince(context, time, after, limit),
    artifactsOf: async (taskId) => artifactsOf(context, taskId),
    artifact: async (id) => readArtifact(context, id),
    resultsOf: async (taskId) => resultsOf(context, taskId),
    results: async (runId, window) => readResults(context, runId, window),
    countResults: async (runId) => countResults(context, runId),
    openTasks: async (ids) => openTasks(context, ids),
    ...siteStore(context),
    ...scheduleStore(context),
    ...workerStore(context),
    ...workflowStore(context),
    ...holdStore(context),
    ...healthStore(context),
    ...ownerStore(context),
    ...accessStore(context),
    ...alertStore(context),
    ...sealStore(context),
    ...loginStore(context),
    ...dutyStore(context),
    ...fixtureStore(context),
    ...repairStore(context),
    ...monitorStore(context),
    ...proxyStore(context),
    ...liveStore(context),
    ...webhookStore(context),
    ...retentionStore(context),
  };
}
