/** A database that has something in every table, made by the methods of the store. */
import { newChannel } from "../contract/store/notifications.ts";
import { hash } from "node:crypto";
import { asCaller, type Caller } from "../../src/domain/access/caller.ts";
import { ProfileBuilder } from "../../src/domain/health/profile.ts";
import { NO_TRAPS } from "../../src/domain/crawl/traps.ts";
import type { ClaimedTask, NewRun, RunRecord, SettledTask } from "../../src/store/ports/port.ts";
import { missedAt, newJob } from "../contract/store/jobs.ts";
import {
  attempt,
  evidence,
  FAILED,
  type Kit,
  LANE,
  newTask,
  NOBODY,
  retryAt,
  SKIPPED,
  TTL,
} from "../contract/store/kit.ts";
import { newSession } from "../contract/store/sessions.ts";
import { newWorkflow, workOn } from "../contract/store/workflow-kit.ts";

const OWNER = "A";
const CRAWL: NewRun = { kind: "crawl", maxAttempts: 3, snapshot: { options: {} } };

export interface FullDatabase {
  /** Stands still in the middle of its work, with pages in all states. */
  paused: RunRecord;
  /** How many of its pages are not at their end. */
  open: number;
  /** The names of a few of its pages, which are ids for everybody. */
  taskIds: string[];
}

/** `size`: rows of most tables; of tasks there are a few times as many. */
export async function fillDatabase(kit: Kit, size: number): Promise<FullDatabase> {
  await kit.enter(OWNER);
  await savedCrawl(kit, size);
  await workflows(kit, Math.ceil(size / 10));
  await things(kit, size);
  return pausedRun(kit, size);
}

const SOMEBODY: Caller = {
  actor: { kind: "token", id: null, name: "APP_API_TOKEN" },
  limits: null,
  ip: "192.0.2.1",
  requestId: "a call",
};

const KEY = {
  name: "ci",
  hash: "ab".repeat(32),
  prefix: "orb_abcdef",
  role: "viewer",
  limits: { jobs: null, sites: ["a.example"], tags: null },
  requestsPerMinute: 60,
  expiresAt: null,
} as const;

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Pages with all that they leave: records, files, copies, what they say and where they were found. */
async function savedCrawl(kit: Kit, size: number): Promise<void> {
  const { created: job } = await kit.store.createJob(newJob("saved", { kind: "crawl", nextAt: kit.now }), kit.now);
  const deleted = await kit.store.createJob(newJob("gone", { kind: "crawl" }), kit.now);
  const tasks = numbers(size).map((n) => newTask(`page ${n}`));
  const { created: run } = await kit.store.startRun(
    {
      ...CRAWL,
      jobId: job.id,
      budget: { key: "run:crawl", cap: 3 },
      webhook: { events: ["page"], sealed: new Uint8Array([7]) },
      reuse: "mark",
    },
    tasks,
    kit.now,
    { key: "once", fingerprint: "same" },
  );
  await kit.store.startRun({ ...CRAWL, jobId: deleted.created.id }, [newTask("p")], kit.now);
  await kit.store.admitCrawls(1000, kit.now);
  await work(kit, (task, n) => {
    if (n % 10 === 9) return { task, verdict: FAILED, attempt: attempt(1), report: { evidence: [evidence("e")] } };
    const verdict = {
      kind: "completed" as const,
      artifacts: [{ ...evidence("f"), role: "file" as const }],
      results: [{ said: `${task.key}: ä \u{1F578} \0 "\\u0000"` }],
      detail: { title: "a\0b" },
    };
    const fixture = {
      url: task.url ?? "",
      hash: hash("sha256", `fixture ${n}`, "hex"),
      size: 10,
      filled: 1,
      rules: "rules",
      contentType: "text/html",
      form: "bytes" as const,
      recordCount: 1,
      records: JSON.stringify([{ said: "a\0b" }]),
      isSealed: false,
    };
    const report = {
      // The other job is deleted, and its saved pages would become orphaned files.
      ...(task.key.startsWith("page ") ? { fixture } : {}),
      landed: { key: `at ${task.key}`, url: `https://a.example/at/${n}` },
      content: hash("sha256", task.key, "hex"),
      traps: NO_TRAPS,
      copy: {
        url: task.url ?? "",
        etag: '"1"',
        lastModified: null,
        fingerprint: "rules",
        payload: new Uint8Array([n % 256]),
      },
      page: {
        key: task.key,
        scopeHash: "00",
        isRedirected: false,
        url: task.url ?? "",
        digest: "0f".repeat(16),
        change: "new" as const,
      },
    };
    return { task, verdict, attempt: attempt(1), report };
  });
  await kit.store.deleteJob(deleted.created.id, kit.now);
  await kit.store.createDeletion({ ids: [NOBODY] }, kit.now);
  await kit.store.noteDiskUse({ bytes: 1, isNear: false }, kit.now);
  await kit.store.recordOrphanedFiles(numbers(size).map((n) => hash("sha256", String(n), "hex")));
  await kit.store.skipOccurrences(job.id, missedAt(kit.now), null, kit.now);
  await kit.store.run(run.id);
  const builder = new ProfileBuilder();
  builder.add({ 'sai\0d "\\u0000"': 'ä \u{1F578} \0 "\\u0000"', lone: "\ud800" }, "page");
  const found = { rules: "rules", profile: builder.profile() };
  for (const ended of await kit.store.runsWithoutHealth(10))
    await kit.store.recordRunHealth(ended, found, { deliver: false }, kit.now);
  const proposal = { fields: [], pages: { paired: 0, others: 0 }, reason: 'a\0b "\\u0000"' };
  await kit.store.recordRepair(job.id, { runId: run.id, version: 1, state: "abstained", proposal }, {}, kit.now);
  for (const text of ["first", "second", "third"] as const) await monitored(kit, job.id, text);
  // A run that is not compared yet: its page is still kept.
  await kit.store.startRun({ ...CRAWL, jobId: job.id }, [newTask("kept")], kit.now);
  await kit.store.admitCrawls(1000, kit.now);
  await work(kit, (task) => {
    const keptPage = { url: task.url ?? "", hash: hash("sha256", "kept", "hex"), size: 10, contentType: null };
    const verdict = { kind: "completed" as const, artifacts: [], results: [], detail: null };
    const report = { keptPage: { ...keptPage, form: "text" as const, isSealed: false } };
    return { task, verdict, attempt: attempt(1), report };
  });
}

/** A run of a monitor: its page is new, then changed, and at last waits to be compared. */
async function monitored(kit: Kit, jobId: string, text: "first" | "second" | "third"): Promise<void> {
  const { created } = await kit.store.startRun({ ...CRAWL, jobId }, [newTask(`monitored ${text}`)], kit.now);
  await kit.store.admitCrawls(1000, kit.now);
  const file = { hash: hash("sha256", `monitored ${text}`, "hex"), size: 10, isSealed: false };
  await work(kit, (task) => {
    const verdict = { kind: "completed" as const, artifacts: [], results: [], detail: null };
    const about = { key: "monitored", url: `${task.url} a\0b`, rules: "rules", scopeHash: "00", isRedirected: false };
    const report = {
      monitored: { ...about, content: { ...file, digest: text }, again: null },
      ...(text === "first" ? { tracked: { key: "tracked", url: about.url, ...file, replaces: null } } : {}),
    };
    return { task, verdict, attempt: attempt(1), report };
  });
  await kit.store.recordRunHealth({ runId: created.id, generation: 1 }, null, { deliver: false }, kit.now);
  const [waiting] = await kit.store.waitingPages(created.id, 1);
  if (text === "third" || waiting === undefined) return;
  const change = { added: 1, removed: 1, share: 0.5, summary: "a\0b \u{1F578}", diff: null };
  const comparedWith = waiting.state?.content.hash ?? null;
  const verdict = comparedWith === null ? ("new" as const) : ("changed" as const);
  const profile = { lines: [], slots: [], suspects: [] };
  const compared = { number: waiting.number, comparedWith, verdict, profile, digest: text, change };
  await kit.store.recordComparisons(created.id, "text", [compared], kit.now);
  // What rows refer to is no longer listed as orphaned.
  await kit.store.orphanedFiles({ limit: 1000 });
}

/** Works on all that is ready at the usual site. */
async function work(kit: Kit, settled: (task: ClaimedTask, n: number) => SettledTask): Promise<void> {
  const hold = await kit.store.takeLane(LANE, OWNER, TTL);
  if (hold === null) throw new Error("the lane should be free");
  for (let n = 0, more = true; more;) {
    const claimed = await kit.claim(hold, 500);
    more = claimed.tasks.length > 0;
    const tasks = claimed.tasks.map((task) => settled(task, n++));
    if (more) await kit.store.settle([{ hold, tasks }], kit.now);
  }
  await kit.store.releaseLane(hold);
}

async function workflows(kit: Kit, count: number): Promise<void> {
  for (const n of numbers(count)) {
    const run = await newWorkflow(kit, { a: [], b: ["a"], c: ["a"] }, { metadata: { n } });
    if (n % 2 === 0)
      await workOn(kit, run, "a", { kind: "wait", sleep: { memory: "m", until: null, leftMs: 3000 + n } });
    await kit.store.putTemplate(`template ${n}`, { steps: n }, 1, kit.now);
  }
}

/** What is there beside runs. */
async function things(kit: Kit, size: number): Promise<void> {
  const { store, now } = kit;
  for (const n of numbers(size)) {
    await store.createSession(newSession(`session ${n}`), now);
    await store.createJob(newJob(`job ${n}`, { nextAt: now + n }), now, { key: `key ${n}`, fingerprint: "same" });
    await store.setSite(`s${n}.example`, { maxConcurrency: 1 + (n % 9), requestsPerSecond: 0.5 });
    await store.keepRobots(
      {
        origin: `https://s${n}.example`,
        site: `s${n}.example`,
        body: Buffer.from([0xff, 0, n % 256]),
        crawlDelayMs: n,
        fetchedAt: now,
      },
      { staleBefore: 0, uselessBefore: 0, mostBytes: 1_000_000 },
    );
    await store.setBudgetCap(`resolver:${n}`, n);
    await store.registerWorker(
      {
        id: `worker ${n}`,
        machine: "spider",
        identity: { boot: "another boot", pid: 7, pidStart: "7@ns" },
        version: "1.0.0",
        command: "serve",
        maxWorkers: 32,
        heartbeatMs: 2000,
      },
      now,
    );
  }
  await store.setSite("s1.example", { dependsOn: ["s2.example"] });
  await store.addProxies(
    numbers(size).map((port) => ({
      scheme: "http" as const,
      hostname: "proxy.example",
      port: 1 + port,
      sealed: new Uint8Array([port % 256]),
      userHash: "u",
      passwordHash: "p",
    })),
    now,
  );
  const outcome = { kind: "good", latencyMs: 80.5 } as const;
  const proxies = await store.proxies({ limit: 1000 });
  await store.noteProxies(
    proxies.map(({ id }) => ({ id, outcome, at: now, site: "shop.example" })),
    now,
  );
  const { created: channel } = await store.createChannel(newChannel("ops"), kit.now);
  await store.startTest(channel.id, kit.now, kit.now);
  await asCaller(SOMEBODY, () => store.createKey(KEY, kit.now));
  await store.raiseAlerts(
    numbers(size).map((n) => ({
      kind: "run_failed" as const,
      subject: "a run",
      message: "m",
      detail: { n },
      key: `${n}`,
    })),
    { deliver: true },
    now,
  );
}

async function pausedRun(kit: Kit, size: number): Promise<FullDatabase> {
  const count = 4 * size;
  const run = await kit.runWith(numbers(count).map((n) => newTask(`item ${n}`, { priority: n % 3, payload: { n } })));
  const hold = await kit.store.takeLane(LANE, OWNER, TTL);
  if (hold === null) throw new Error("the lane should be free");
  const { tasks } = await kit.claim(hold, size);
  const share = Math.floor(size / 5);
  await kit.settle(hold, tasks.slice(0, share), SKIPPED);
  await kit.settle(hold, tasks.slice(share, 2 * share), FAILED);
  await kit.settle(hold, tasks.slice(2 * share, 3 * share), retryAt(kit.now));
  // One is to be stopped, and others are in hand, of somebody who never comes back.
  const inHand = tasks.slice(3 * share);
  await kit.store.stopTask(inHand[0]?.id ?? "", kit.now);
  await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
  return { paused: run, open: count - 2 * share, taskIds: tasks.slice(0, 10).map(({ id }) => id) };
}
