import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, test } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import { identityOf } from "../../src/base/machine.ts";
import { encodeId } from "../../src/domain/run/ids.ts";
import { NO_TASKS } from "../../src/domain/run/run-end.ts";
import { TASK_STATES, type TaskState } from "../../src/domain/run/states.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { keyHash } from "../../src/store/sql/kernel/context.ts";
import { migrate, MIGRATIONS, schemaVersion } from "../../src/store/sqlite/migrate.ts";
import { core } from "../../src/store/sqlite/migrations/0001-0016/0001-core.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { DONE, evidence, Kit, LANE, retryAt } from "../contract/store/kit.ts";
import { Child, handClock, sqliteHarness, tempFolder } from "./bench.ts";
import {
  CHANGED_TABLES,
  LATER_ROWS,
  LATER_TABLES,
  LATER_VALUES,
  expectUpgraded,
  OLD_ANSWERS,
  OLD_PERMITS,
  OLD_TABLES,
  oldName,
  PERMITS,
} from "./before-renames.ts";
import { fillDatabase } from "./full-database.ts";
import { OLD_EVENTS } from "./old-events.ts";

const QUEUE = "0b0f3f0e-1111-4a6f-9d55-000000000001";
const ENDED = "0b0f3f0e-2222-4a6f-9d55-000000000002";
const OTHER = "site:b.example";

interface OldTask {
  run: number;
  stream: number;
  key: string;
  state: TaskState;
  results?: unknown[];
  file?: string;
}

/** The first run is a queue in the middle of its work, in two lanes; the second one has ended. */
const TASKS: readonly OldTask[] = [
  { run: 1, stream: 1, key: "done", state: "completed", results: [{ n: 1 }, null, "three"], file: "a" },
  { run: 1, stream: 1, key: "waits", state: "queued" },
  { run: 1, stream: 1, key: "flies", state: "running" },
  { run: 1, stream: 1, key: "failed", state: "failed" },
  { run: 1, stream: 2, key: "far", state: "completed", results: ["far"], file: "b" },
  { run: 1, stream: 2, key: "retries", state: "retrying" },
  { run: 2, stream: 3, key: "done", state: "completed", results: [1, 2] },
  { run: 2, stream: 3, key: "skipped", state: "skipped" },
];

/** A database as the first version of the schema had it, filled by hand. */
function makeOld(path: string): string {
  const connection = new SqliteConnection(path);
  migrate(connection, [core]);
  assert.equal(schemaVersion(connection), 1);
  const { db } = connection;
  db.exec(`
    INSERT INTO runs (n, id, kind, alias, status, generation, open_streams, max_attempts, snapshot, message, last_seq, created_at, started_at, finished_at)
      VALUES (1, '${QUEUE}', 'queue', 'queue', 'running', 2, 2, 3, '{"old":true}', 'Run reopened', 4, 100, 110, NULL),
             (2, '${ENDED}', 'crawl', NULL, 'completed', 1, 0, NULL, 'null', 'Run completed: 2 of 2 done', 2, 200, 210, 290);
    INSERT INTO events (run, seq, generation, terminal, level, message, meta, created_at) VALUES
      (1, 1, 1, 0, 'info', 'Run created', '{"kind":"queue"}', 100), (2, 1, 1, 0, 'info', 'Run created', NULL, 200),
      (1, 2, 1, 0, 'info', 'Run started', NULL, 110), (1, 3, 1, 1, 'info', 'Run completed: 1 of 1 done', NULL, 120),
      (1, 4, 2, 0, 'info', 'Run reopened', NULL, 130), (2, 2, 1, 1, 'info', 'Run completed: 2 of 2 done', NULL, 290);
    INSERT INTO lanes (id, lane) VALUES (1, '${LANE}'), (2, '${OTHER}');
    INSERT INTO sites (site, lane, max_concurrency, paused, hold_until, breaker_failures) VALUES
      ('a.example', 1, 2, 0, 0, 3), ('b.example', 2, NULL, 0, 77, 0);
    INSERT INTO streams (id, run, lane, resolver) VALUES (1, 1, 1, ''), (2, 1, 2, 'crossref'), (3, 2, 1, '');
    INSERT INTO budgets VALUES ('resolver:crossref', 4);
    UPDATE control SET version = 41;
  `);
  for (const [index, task] of TASKS.entries()) {
    const id = index + 1;
    const runId = task.run === 1 ? QUEUE : ENDED;
    db.prepare(
      "INSERT INTO tasks (id, stream, state, created_at, key_hash, key, url, payload, attempts, outcome) VALUES (?, ?, ?, 300, ?, ?, ?, ?, ?, ?)",
    ).run(
      id,
      task.stream,
      TASK_STATES.indexOf(task.state),
      keyHash(runId, task.key),
      task.key,
      `https://a.example/${task.key}`,
      JSON.stringify({ old: id }),
      `[[1,"http",null,1000,5,200,null,null]]`,
      task.state === "failed" ? `{"failure":{"code":"network","reason":"dns_failed","message":"no such name"}}` : null,
    );
    db.exec(`UPDATE streams SET ${task.state} = ${task.state} + 1 WHERE id = ${task.stream}`);
    for (const [ordinal, data] of (task.results ?? []).entries()) {
      db.prepare("INSERT INTO results (task, ordinal, data, created_at) VALUES (?, ?, ?, 400)").run(
        id,
        ordinal,
        JSON.stringify(data),
      );
    }
    if (task.file === undefined) continue;
    db.prepare(
      "INSERT INTO artifacts (task, ordinal, hash, size, content_type, url, created_at) VALUES (?, 0, ?, 9, 'text/plain', 'https://a.example/f', 500)",
    ).run(id, Buffer.from(task.file.repeat(64), "hex"));
  }
  const instance = String(db.prepare("SELECT value FROM meta WHERE name = 'instance'").get()?.["value"]);
  connection.close();
  return instance;
}

/** All that the old database said, said by the new one. */
async function expectAll(store: Store, instance: string): Promise<void> {
  assert.equal(store.instance, instance);
  const [newer, older] = await store.runs({ limit: 10 });
  assert.deepEqual([newer?.id, older?.id], [ENDED, QUEUE]);
  assert.deepEqual(older, {
    id: QUEUE,
    kind: "queue",
    alias: "queue",
    status: "running",
    generation: 2,
    jobId: null,
    jobDeletedAt: null,
    kept: false,
    temporary: false,
    degraded: null,
    jobKeepRuns: null,
    jobKeepDays: null,
    parent: null,
    name: null,
    url: null,
    site: null,
    facts: {},
    maxAttempts: 3,
    snapshot: { old: true },
    pagesKnown: 0,
    timeLimitMs: null,
    ranMs: 0,
    progress: 0,
    hold: null,
    runningSince: null,
    message: "Run reopened",
    createdAt: 100,
    startedAt: 110,
    startedBy: null,
    finishedAt: null,
  });
  assert.deepEqual(await store.runByAlias("queue"), older);
  assert.deepEqual(
    (await store.events(QUEUE, { limit: 10 })).map(({ seq, type, message }) => [seq, type, message]),
    [
      [1, "run.created", "Run created"],
      [2, "run.started", "Run started"],
      [3, "run.completed", "Run completed: 1 of 1 done"],
      [4, "run.reopened", "Run reopened"],
    ],
  );
  for (const [index, old] of TASKS.entries()) {
    const id = encodeId(instance, "task", index + 1);
    const task = await store.task(id);
    assert.deepEqual(
      [task?.key, task?.state, task?.payload, task?.attempts.length],
      [old.key, old.state, { old: index + 1 }, 1],
    );
    assert.deepEqual(await store.taskByKey(task?.runId ?? "", old.key), task);
    assert.deepEqual(await store.resultsOf(id), old.results ?? []);
    const files = await store.artifactsOf(id);
    assert.deepEqual(
      files.map(({ hash, role, size, createdAt }) => [hash[0], role, size, createdAt]),
      old.file === undefined ? [] : [[old.file, "file", 9, 500]],
    );
    for (const file of files) assert.deepEqual(await store.artifact(file.id), file);
  }
  const records = await store.results(QUEUE, { limit: 10 });
  assert.deepEqual(
    records.map(({ data, ordinal, runId }) => [data, ordinal, runId]),
    [
      [{ n: 1 }, 0, QUEUE],
      [null, 1, QUEUE],
      ["three", 2, QUEUE],
      ["far", 0, QUEUE],
    ],
  );
  assert.deepEqual([await store.countResults(QUEUE), await store.countResults(ENDED)], [4, 2]);
  assert.deepEqual(
    (await store.sites({ limit: 10 }, 1)).map(({ site, lane, maxConcurrency, holdUntil, breaker, learned }) => [
      site,
      lane,
      maxConcurrency,
      holdUntil,
      breaker.failures,
      learned,
    ]),
    [
      ["a.example", LANE, 2, 0, 3, null],
      ["b.example", OTHER, null, 77, 0, null],
    ],
  );
  assert.equal(await store.budgetCap("resolver:crossref"), 4);
  assert.equal(await store.controlVersion(), 41);
  assert.deepEqual([await store.jobs({ limit: 10 }), await store.sessions({ limit: 10 })], [[], []]);
  assert.deepEqual((await store.audit()).findings, []);
}

describe("SQLite: a database of the first schema", () => {
  test("becomes one of today's: nothing is lost, records know their run, and the work goes on", async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, "orb.db");
    const instance = makeOld(path);
    const { times, clock } = handClock();
    const open = async () => openSqliteStore({ path, clock });
    await using store = await open();
    await expectAll(store, instance);

    const kit = new Kit(store, { open, clock: times, close: async () => {} });
    const files = await store.artifactsSince(0, 0, 100);
    const lane = await kit.take("A");
    assert.equal(lane.recovered, 1);
    const { tasks } = await kit.claim(lane);
    assert.deepEqual(
      tasks.map(({ key, memory }) => [key, memory]),
      [
        ["waits", null],
        ["flies", null],
      ],
    );
    await kit.report(lane, tasks.slice(0, 1), retryAt(0), { evidence: [evidence("c")] });
    const [picture] = await store.artifactsOf(tasks[0]?.id ?? "");
    assert.ok((picture?.row ?? 0) > (files.at(-1)?.row ?? 0));
    await kit.settle(lane, tasks.slice(1), { kind: "completed", artifacts: [], results: ["new"], detail: null });
    await kit.work(lane, DONE);
    await kit.work(await kit.take("A", OTHER), DONE);
    const ended = await store.run(QUEUE);
    assert.deepEqual([ended?.status, ended?.generation], ["partial", 2]);
    assert.equal(await store.countResults(QUEUE), 5);
    const { requeued } = await store.retryFailed(QUEUE, { limit: 10 }, kit.now);
    assert.equal(requeued, 1);
    const job = await store.createJob(
      {
        name: null,
        kind: "page",
        url: "https://a.example/",
        site: "a.example",
        tags: [],
        recipe: {},
        nextAt: null,
        nextOccurrenceAt: null,
      },
      kit.now,
    );
    await kit.page("page", { jobId: job.created.id });
    await kit.expectClean();
  });

  test("gives every event of the version before its type", async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, "orb.db");
    makeOld(path);
    const old = new SqliteConnection(path);
    migrate(
      old,
      MIGRATIONS.filter(({ version }) => version < 23),
    );
    const insert = old.db.prepare(
      "INSERT INTO events (run, seq, generation, level, message, created_at) VALUES (2, ?, 1, ?, ?, 1)",
    );
    for (const [index, [level, message]] of OLD_EVENTS.entries()) insert.run(index + 10, level, message);
    old.close();
    await using store = await openSqliteStore({ path, clock: handClock().clock });
    const events = (await store.events(ENDED, { limit: 1000 })).slice(2);
    assert.deepEqual(
      events.map(({ level, message, type }) => [level, message, type]),
      OLD_EVENTS,
    );
    const unknown = await store.events(ENDED, { types: ["event.unknown"], limit: 10 });
    assert.deepEqual(unknown, events.slice(-1));
  });

  test("keeps the versions and the decided repair of a job, of which nobody knows who made them", async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, "orb.db");
    const old = new SqliteConnection(path);
    migrate(
      old,
      MIGRATIONS.filter(({ version }) => version < 32),
    );
    const definition = "'prices', 'page', 'https://a.example/', 'a.example', '[]', '{}'";
    old.db.exec(`
      INSERT INTO jobs (n, id, name, kind, url, site, tags, recipe, created_at, updated_at)
        VALUES (1, '${QUEUE}', ${definition}, 1, 2);
      INSERT INTO job_versions (job, version, made_at, author, name, kind, url, site, tags, recipe, auto_repair)
        VALUES (1, 1, 1, 'cli', ${definition}, 0);
      INSERT INTO repairs (job, number, run, run_id, made_at, version, state, decided_at, proposal)
        VALUES (1, 3, 1, 'r', 5, 1, 'rejected', 6, '{}');`);
    old.close();
    await using store = await openSqliteStore({ path, clock: handClock().clock });
    assert.deepEqual(await store.jobVersions(QUEUE, { limit: 10 }), [
      { version: 1, madeAt: 1, author: "cli", madeBy: null, restored: null },
    ]);
    const repair = await store.repair(QUEUE);
    assert.deepEqual([repair?.state, repair?.decidedAt, repair?.decidedBy], ["rejected", 6, null]);
  });

  test("knows its open work by site, which may move into a group; steps have no site", async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, "orb.db");
    makeOld(path);
    const old = new SqliteConnection(path);
    migrate(old, MIGRATIONS.slice(0, 4));
    old.db.exec(`
      INSERT INTO runs (n, id, kind, status, open_streams, snapshot, created_at) VALUES (3, 'w', 'workflow', 'paused', 1, 'null', 1);
      INSERT INTO lanes (id, lane) VALUES (9, 'step:w/0');
      INSERT INTO streams (id, run, lane, pending) VALUES (9, 3, 9, 1);`);
    old.close();
    const { times, clock } = handClock();
    const open = async () => openSqliteStore({ path, clock });
    await using store = await open();
    const sites = await store.sites({ limit: 10 }, 1);
    assert.deepEqual(
      sites.map(({ site, firstSeenAt, counts }) => [site, firstSeenAt, counts]),
      [
        ["a.example", 100, { ...NO_TASKS, queued: 1, running: 1, completed: 2, failed: 1, skipped: 1 }],
        ["b.example", 100, { ...NO_TASKS, retrying: 1, completed: 1 }],
      ],
    );
    assert.deepEqual(
      (await store.counts("w")).map(({ site, lane, counts }) => [site, lane, counts.pending]),
      [[null, "step:w/0", 1]],
    );
    for (const { site } of sites) await store.setSite(site, { group: "both" });
    const kit = new Kit(store, { open, clock: times, close: async () => {} });
    const lane = await kit.take("A", "group:both");
    const claimed = await kit.claim(lane);
    assert.deepEqual(
      claimed.tasks.map(({ key, site }) => [key, site]),
      [
        ["waits", "a.example"],
        ["retries", "b.example"],
        ["flies", "a.example"],
      ],
    );
    await kit.settle(lane, claimed.tasks, DONE);
    assert.equal((await store.run(QUEUE))?.status, "partial");
  });

  test("knows which page was the first to say something", async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, "orb.db");
    makeOld(path);
    const said = "ab".repeat(32);
    const old = new SqliteConnection(path);
    migrate(old, MIGRATIONS.slice(0, 10));
    old.db.exec(`
      UPDATE results SET data = '{"url":"https://a.example/first"}' WHERE task = 1 AND ordinal = 0;
      INSERT INTO contents (run, hash, task) VALUES (1, x'${said.slice(0, 32)}', 1), (2, x'${"cd".repeat(16)}', 7);`);
    old.close();
    const { times, clock } = handClock();
    const open = async () => openSqliteStore({ path, clock });
    await using store = await open();
    const kit = new Kit(store, { open, clock: times, close: async () => {} });
    const lane = await kit.take("A");
    const [again, other] = (await kit.claim(lane)).tasks;
    assert.ok(again !== undefined && other !== undefined);
    const page = { kind: "completed", artifacts: [], results: [{ url: "later" }], detail: null } as const;
    await kit.report(lane, [again], page, { content: said });
    // What another run has said is no repetition.
    await kit.report(lane, [other], page, { content: "cd".repeat(32) });
    assert.deepEqual(await store.resultsOf(again.id), [{ url: "later", duplicate_of: "https://a.example/first" }]);
    assert.deepEqual(await store.resultsOf(other.id), [{ url: "later" }]);
    await kit.expectClean();
  });

  test("is as it was when the upgrade is killed at its end, and is upgraded the next time", async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, "orb.db");
    const instance = makeOld(path);
    await using child = new Child("upgrade", path);
    assert.equal(await child.line(), "inside");
    await child.kill();
    const old = new SqliteConnection(path);
    assert.equal(schemaVersion(old), 1);
    assert.equal(old.db.prepare("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'jobs'").get()?.["n"], 0);
    assert.equal(old.db.prepare("SELECT count(*) AS n FROM artifacts").get()?.["n"], 2);
    old.close();
    await using store = openSqliteStore({ path, clock: handClock().clock });
    await expectAll(store, instance);
  });

  test("is upgraded once by three processes that open it at the same moment", async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, "orb.db");
    const instance = makeOld(path);
    const children = [1, 2, 3].map(() => new Child("open"));
    try {
      for (const child of children) assert.equal(await child.line(), "ready");
      for (const child of children) child.say(path);
      for (const child of children) assert.equal(await child.line(), instance);
    } finally {
      for (const child of children) await child.kill();
    }
    const connection = new SqliteConnection(path);
    assert.equal(schemaVersion(connection), MIGRATIONS.at(-1)?.version);
    connection.close();
    await using store = openSqliteStore({ path, clock: handClock().clock });
    await expectAll(store, instance);
  });
});

const SINCE_RENAMES = MIGRATIONS.filter(({ version }) => version >= 24).map(({ name }) => name);

describe("SQLite: a database of the version before tables were renamed", () => {
  const SIZE = 20;
  const rowsOf = (connection: SqliteConnection, table: string) => connection.db.prepare(`SELECT * FROM ${table}`).all();

  test("keeps all rows; keys still answer, files are still orphaned, times have had their turn", async () => {
    const harness = await sqliteHarness();
    await using folder = await tempFolder();
    const path = join(folder.path, "old.db");
    const kit = new Kit(await harness.open(), harness);
    await fillDatabase(kit, SIZE);
    await kit.store.close();

    const old = new SqliteConnection(path);
    migrate(
      old,
      MIGRATIONS.filter(({ version }) => version < 24),
    );
    old.db.exec(`ATTACH '${harness.path}' AS today`);
    const tables = old.db
      .prepare("SELECT name FROM today.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite@_%' ESCAPE '@'")
      .all()
      .map(({ name }) => String(name));
    const columnsOf = (table: string) => rowsOf(old, `pragma_table_info('${table}')`).map(({ name }) => String(name));
    for (const table of tables.filter((name) => !LATER_TABLES.includes(name))) {
      const before = columnsOf(oldName(table));
      const columns = rowsOf(old, `pragma_table_info('${table}', 'today')`).map(({ name }) => String(name));
      old.db.exec(
        `DELETE FROM main.${oldName(table)};
         INSERT INTO main.${oldName(table)} SELECT ${columns.slice(0, before.length).join(", ")} FROM today.${table}`,
      );
    }
    old.db.exec(`${OLD_PERMITS}; ${OLD_ANSWERS}; ${LATER_ROWS}`);
    old.db.exec("DETACH today");
    assert.deepEqual(migrate(old), { from: 23, to: MIGRATIONS.at(-1)!.version, applied: SINCE_RENAMES });
    const today = new SqliteConnection(harness.path);
    today.db.exec(LATER_VALUES);
    for (const table of tables.filter((name) => ![...CHANGED_TABLES, ...LATER_TABLES].includes(name))) {
      const rows = rowsOf(old, table);
      assert.deepEqual(rows, rowsOf(today, table), table);
      assert.ok(rows.length > 0 || OLD_TABLES[table] === undefined, `${table} is tried with rows`);
    }
    assert.deepEqual(rowsOf(old, "budget_permits").map(Object.values), PERMITS);
    assert.throws(() => old.db.exec("UPDATE tasks SET state = 3 WHERE state = 4"), /illegal transition of a task/);
    const schema = (connection: SqliteConnection) =>
      connection.db.prepare("SELECT type, name, tbl_name FROM sqlite_schema ORDER BY 1, 2").all();
    assert.deepEqual(schema(old), schema(today));
    today.close();
    old.close();
    await harness.close();

    const open = async () => openSqliteStore({ path, clock: harness.clockOfStore });
    await using store = await open();
    await expectUpgraded(store, SIZE, kit.now);
  });
});

test("a database that a server of an earlier version works on is not upgraded under it", async () => {
  await using folder = await tempFolder();
  const before = MIGRATIONS.filter(({ version }) => version < 24);
  const older = new SqliteConnection(join(folder.path, "older.db"));
  migrate(older, before);
  const server = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
  try {
    const { boot, pidStart } = identityOf(server.pid!)!;
    older.db
      .prepare("UPDATE engine SET holder = 'older', epoch = 1, boot = ?, pid = ?, pid_start = ?")
      .run(boot, server.pid!, pidStart);
    assert.throws(
      () => migrate(older),
      (error) =>
        isOrbError(error, "database_busy") &&
        error.message.includes(`while process ${server.pid} uses it`) &&
        error.hint?.includes(`kill ${server.pid}`) === true,
    );
    assert.equal(schemaVersion(older), 23, "nothing has changed");
  } finally {
    server.kill("SIGKILL");
    await once(server, "exit");
  }
  assert.deepEqual(migrate(older).applied, SINCE_RENAMES);
  older.close();
});
