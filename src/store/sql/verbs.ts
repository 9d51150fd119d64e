import type { Store } from "../port.ts";
import { alertVerbs } from "./alerts.ts";
import { audit } from "./audit.ts";
import { borrow, budgetCap, giveBack, setBudgetCap } from "./budgets.ts";
import { admitCrawls } from "./admit-crawls.ts";
import { countCrawls, readRecentPages } from "./crawl-pace.ts";
import { passTime } from "./crawls.ts";
import { endByTime } from "./end-run.ts";
import { growRun } from "./grow-run.ts";
import { readTraps } from "./frontier.ts";
import { claim, ClaimCursor } from "./claim.ts";
import type { Context } from "./context.ts";
import { enqueue, startRun } from "./enqueue.ts";
import { readEvents, readFeed } from "./events.ts";
import { createJob, deleteJob, readJob, readJobs, updateJob } from "./jobs.ts";
import { dutyVerbs } from "./duties-due.ts";
import { engineHolder, heartbeat, releaseEngine, takeEngine } from "./engine-lock.ts";
import { holdVerbs } from "./holds.ts";
import { liveVerbs } from "./live.ts";
import { lanesWithWork, releaseLane, takeLane } from "./lanes.ts";
import { readLastRuns } from "./last-runs.ts";
import { ownerVerbs } from "./owners.ts";
import { proxyVerbs } from "./proxies.ts";
import { readAnswer } from "./once.ts";
import { dropFiles, expireCrawls, forgetLoose, isLoose, looseFiles, noteLoose, removeExpired } from "./retention.ts";
import { goOn, retryFailed } from "./requeue.ts";
import { readPageCopy } from "./page-copies.ts";
import { readPageChanges, readPageDigest } from "./page-states.ts";
import { keepRobots, readRobots } from "./robots.ts";
import { answerHuman, sweepEnded } from "./run-ends.ts";
import { readErrors, readRetryReasons } from "./run-errors.ts";
import { readIdsFrom } from "./ids-from.ts";
import { countRunsLike, readRuns } from "./run-lists.ts";
import { readRunSites } from "./run-sites.ts";
import { changeRun, countRuns, openRun, readRun, readRunByAlias, readRunStates, requireRun } from "./runs.ts";
import { createSession, deleteSession, noteSessionHealth, readSession, readSessions } from "./sessions.ts";
import { settle } from "./settle.ts";
import { openBreakers } from "./sites.ts";
import { siteVerbs } from "./site-verbs.ts";
import { scheduleVerbs } from "./slots.ts";
import { openTasks, readCounts, readOverview, readTask, readTaskByKey, readTasks } from "./tasks.ts";
import { webhookVerbs } from "./webhooks.ts";
import { workerVerbs } from "./worker-verbs.ts";
import { workflowVerbs } from "./workflow-verbs.ts";
import {
  artifactsOf,
  artifactsSince,
  countResults,
  readArtifact,
  readExchanges,
  readResults,
  resultsOf,
} from "./yields.ts";

/** All verbs of the store, on whichever database the connection leads to. */
export type Verbs = Omit<
  Store,
  "capabilities" | "instance" | "deployment" | "close" | "watch" | typeof Symbol.asyncDispose
>;

export function storeVerbs(context: Context): Verbs {
  const { connection } = context;
  const cursor = new ClaimCursor();
  const number = (sql: string) => Number(Object.values(connection.sql(sql).get() ?? {})[0]);

  return {
    engineHolder: async () => engineHolder(context),
    takeEngine: async (candidate, ttlMs, evict) => takeEngine(context, candidate, ttlMs, evict),
    releaseEngine: async (holder) => releaseEngine(context, holder),
    heartbeat: async (owner, ttlMs) => heartbeat(context, owner, ttlMs),

    answered: async (once, now) => readAnswer(context, once, now),

    createJob: async (job, now, once) => createJob(context, job, now, once),
    job: async (id) => readJob(context, id),
    jobs: async (filter) => readJobs(context, filter),
    updateJob: async (id, change, now) => updateJob(context, id, change, now),
    deleteJob: async (id, now) => deleteJob(context, id, now),

    openRun: async (run, now) => openRun(context, run, now),
    startRun: async (run, tasks, now, once) => startRun(context, run, tasks, now, once),
    runs: async (filter) => readRuns(context, filter),
    idsFrom: async (what, beginning, limit) => readIdsFrom(context, what, beginning, limit),
    runStates: async (ids) => readRunStates(context, ids),
    answerHuman: async (id, answer, now) => answerHuman(context, id, answer, now),
    growRun: async (hold, task, growth, now) => growRun(context, hold, task, growth, now),
    admitCrawls: async (most, now) => admitCrawls(context, most, now),
    goOn: async (id, window, now) => goOn(context, id, window, now),
    endByTime: async (id, now) => connection.write(() => endByTime(context, requireRun(context, id).n, now)),
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
    expireCrawls: async (endedBefore, limit, now) => expireCrawls(context, endedBefore, limit, now),
    removeExpired: async (limit) => removeExpired(context, limit),
    looseFiles: async (window) => looseFiles(context, window),
    noteLoose: async (hashes) => connection.write(() => noteLoose(context, hashes)),
    isLoose: async (hash) => isLoose(context, hash),
    dropFiles: async (ids) => dropFiles(context, ids),
    forgetLoose: async (hashes) => forgetLoose(context, hashes),
    pageCopy: async (jobId, key, fingerprint) => readPageCopy(context, jobId, key, fingerprint),
    pageDigest: async (jobId, key) => readPageDigest(context, jobId, key),
    pageChanges: async (id, options) => readPageChanges(context, id, options),
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
    releaseLane: async (hold, restMs) => {
      cursor.forget(hold.laneId);
      releaseLane(context, hold, restMs);
    },
    claim: async (hold, choice, now) => claim(context, cursor, hold, choice, now),
    settle: async (batches, now) => settle(context, batches, now),

    borrow: async (key, owner, units, cap) => borrow(context, key, owner, units, cap),
    giveBack: async (key, owner, units) => giveBack(context, key, owner, units),
    budgetCap: async (key) => budgetCap(context, key),
    setBudgetCap: async (key, cap) => setBudgetCap(context, key, cap),

    robots: async (origin) => readRobots(context, origin),
    keepRobots: async (copy, age) => keepRobots(context, copy, age),

    createSession: async (session, now, once) => createSession(context, session, now, once),
    session: async (id) => readSession(context, id),
    sessions: async (filter) => readSessions(context, filter),
    noteSessionHealth: async (id, health) => noteSessionHealth(context, id, health),
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
    ...siteVerbs(context),
    ...scheduleVerbs(context),
    ...workerVerbs(context),
    ...workflowVerbs(context),
    ...holdVerbs(context),
    ...ownerVerbs(context),
    ...alertVerbs(context),
    ...dutyVerbs(context),
    ...proxyVerbs(context),
    ...liveVerbs(context),
    ...webhookVerbs(context),
  };
}
