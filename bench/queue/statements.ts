/** Enqueue, claim and settle in batches of 100: the store against bare prepared statements on the same tables. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import type { ClaimedTask, LaneGrant, NewTask, SettleBatch, Store } from "../../src/store/ports/port.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { perSecond, print, race, seconds, verdict } from "../support/measure.ts";

const BATCH = 100;
const ROWS = 20_000;

export function makeTasks(count: number, from = 0, lanes = 1): NewTask[] {
  return Array.from({ length: count }, (_, index) => {
    const number = from + index;
    const site = `site-${number % lanes}.test`;
    return {
      key: `artifact-${number}`,
      lane: `site:${site}`,
      site,
      resolver: null,
      url: `https://${site}/files/${number}`,
      priority: 0,
      handler: null,
      payload: null,
    };
  });
}

interface Rates {
  enqueue: number;
  claim: number;
  settle: number;
}

async function inTempDir<T>(work: (path: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), "orb-bench-"));
  try {
    return await work(join(dir, "orb.db"));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export async function takeTheLane(store: Store, lane: string): Promise<LaneGrant> {
  await store.takeEngine({ id: "bench", boot: "b", pid: 1, pidStart: "", address: "" }, 600_000);
  return (await store.takeLane(lane, "bench", 600_000)) as LaneGrant;
}

export async function claimAll(store: Store, grant: LaneGrant, count: number): Promise<ClaimedTask[][]> {
  const batches: ClaimedTask[][] = [];
  for (let taken = 0; taken < count; taken += BATCH) {
    batches.push((await store.claim(grant, { limit: BATCH }, 1))?.tasks ?? []);
  }
  return batches;
}

const ATTEMPT = {
  attempt: 1,
  strategy: "http",
  proxy: null,
  started_at: "2026-01-01T00:00:00.000Z",
  duration_ms: 12,
  http_status: 200,
  failure_code: null,
  failure_reason: null,
};

async function ownRates(): Promise<Rates> {
  return inTempDir(async (path) => {
    const store = openSqliteStore({ path, clock: systemClock });
    const run = await store.openRun({ kind: "queue", alias: "queue", maxAttempts: null, snapshot: {} }, 1);
    const tasks = makeTasks(ROWS);
    const enqueue = await seconds(async () => {
      for (let start = 0; start < ROWS; start += BATCH)
        await store.enqueue(run.id, tasks.slice(start, start + BATCH), 1);
    });
    const grant = await takeTheLane(store, "site:site-0.test");
    let batches: ClaimedTask[][] = [];
    const claim = await seconds(async () => {
      batches = await claimAll(store, grant, ROWS);
    });
    const outcomes = batches.map((batch): SettleBatch[] => [
      {
        hold: grant,
        tasks: batch.map((task) => ({
          task,
          attempt: ATTEMPT,
          verdict: { kind: "completed", artifacts: [], results: [], detail: null },
        })),
      },
    ]);
    const settle = await seconds(async () => {
      for (const batch of outcomes) await store.settle(batch, 2);
    });
    await store.close();
    return { enqueue: ROWS / enqueue, claim: ROWS / claim, settle: ROWS / settle };
  });
}

/**
 * The upper bound of the same tables and indexes when only the task rows are written; without the trigger, when
 * transitions are not checked either.
 */
async function bareRates(options: { trigger: boolean }): Promise<Rates> {
  return inTempDir(async (path) => {
    const connection = new SqliteConnection(path);
    migrate(connection);
    const { db } = connection;
    if (!options.trigger) db.exec("DROP TRIGGER tasks_transition");
    const insert = db.prepare(
      "INSERT INTO tasks (stream, state, priority, created_at, key_hash, key, url, handler, payload) VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?)",
    );
    const take = db.prepare(
      `UPDATE tasks SET state = 2 WHERE id IN (SELECT id FROM tasks WHERE stream = ? AND state = 1 ORDER BY priority DESC, id LIMIT ?)
       RETURNING id, stream, priority, tries, waits, key, url, next_url, handler, payload, attempts, outcome`,
    );
    const end = db.prepare(
      "UPDATE tasks SET state = 4, tries = ?, attempts = ?, outcome = ?, ended_at = ? WHERE id = ? AND state = 2",
    );
    const tasks = makeTasks(ROWS).map((task) => ({ ...task, hash: randomBytes(16) }));
    const transaction = (work: () => void) => {
      db.exec("BEGIN IMMEDIATE");
      work();
      db.exec("COMMIT");
    };
    db.exec("PRAGMA synchronous = FULL");
    const enqueue = await seconds(() => {
      for (let start = 0; start < ROWS; start += BATCH) {
        transaction(() => {
          for (const task of tasks.slice(start, start + BATCH))
            insert.run(1, 0, 1, task.hash, task.key, task.url, null, null);
        });
      }
    });
    db.exec("PRAGMA synchronous = NORMAL");
    const batches: { id: number }[][] = [];
    const claim = await seconds(() => {
      for (let taken = 0; taken < ROWS; taken += BATCH)
        transaction(() => batches.push(take.all(1, BATCH) as unknown as { id: number }[]));
    });
    const attempts = JSON.stringify([ATTEMPT]);
    const settle = await seconds(() => {
      for (const batch of batches) {
        transaction(() => {
          for (const row of batch) end.run(1, attempts, null, 2, row.id);
        });
      }
    });
    connection.close();
    return { enqueue: ROWS / enqueue, claim: ROWS / claim, settle: ROWS / settle };
  });
}

export async function benchStatements(rounds: number): Promise<boolean> {
  print(`\nBatches of ${BATCH}, ${ROWS} tasks, median of ${rounds} rounds`);
  let good = true;
  for (const verb of ["enqueue", "claim", "settle"] as const) {
    const rates = await race(
      {
        own: async () => (await ownRates())[verb],
        bare: async () => (await bareRates({ trigger: true }))[verb],
        unchecked: async () => (await bareRates({ trigger: false }))[verb],
      },
      rounds,
    );
    print(
      `  ${verb.padEnd(8)} store ${perSecond(rates.own)}   bare statements ${perSecond(rates.bare)}   without the trigger ${perSecond(rates.unchecked)}`,
    );
    good = verdict(`${verb} against bare statements`, rates.own / rates.bare, 0.6) && good;
  }
  return good;
}

/** The cost of claiming 100 of a thousand and of a million queued tasks, and the bytes per pending task. */
export async function benchDepth(): Promise<boolean> {
  print("\nClaim of 100 by queue depth");
  return inTempDir(async (path) => {
    const store = openSqliteStore({ path, clock: systemClock });
    const run = await store.openRun({ kind: "queue", alias: "queue", maxAttempts: null, snapshot: {} }, 1);
    const connection = new SqliteConnection(path, { readOnly: true });
    const bytes = () =>
      Object.values(
        connection.db.prepare("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").get() ?? {},
      )[0] as number;
    const empty = bytes();
    let depth = 0;
    let grant: LaneGrant | null = null;
    const costs: { depth: number; ms: number }[] = [];
    for (const target of [1000, 10_000, 100_000, 1_000_000]) {
      for (; depth < target; depth += 1000) await store.enqueue(run.id, makeTasks(1000, depth), 1);
      grant ??= await takeTheLane(store, "site:site-0.test");
      const hold = grant;
      const samples: number[] = [];
      for (let round = 0; round < 60; round += 1) {
        let claimed: ClaimedTask[] = [];
        const took = await seconds(async () => {
          claimed = (await store.claim(hold, { limit: BATCH }, 1))?.tasks ?? [];
        });
        samples.push(took * 1000);
        await store.settle(
          [{ hold, tasks: claimed.map((task) => ({ task, attempt: null, verdict: { kind: "handed_back" } })) }],
          1,
        );
      }
      const ms = samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0;
      costs.push({ depth: target, ms });
      print(`  ${target.toLocaleString("en-US").padStart(9)} queued: ${ms.toFixed(3)} ms`);
    }
    print(
      `  ${((bytes() - empty) / 1_000_000).toFixed(0)} bytes of database per pending task (44 of them its key and URL)`,
    );
    connection.close();
    await store.close();
    const list = costs.map((cost) => cost.ms);
    const spread = Math.max(...list) / Math.min(...list) - 1;
    print(
      `${spread <= 0.2 ? "reached" : "MISSED "}  claim cost from 1,000 to 1,000,000 varies by ${(spread * 100).toFixed(0)} % (wanted ≤ 20 %)`,
    );
    return spread <= 0.2;
  });
}
