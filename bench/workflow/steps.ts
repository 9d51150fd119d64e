/** No-op steps from definition to end of run, against bare statements for the same transitions. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/load.ts";
import { Orchestrator } from "../../src/app/library/library.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { STATE } from "../../src/store/sql/kernel/context.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { perSecond, print, race, seconds, verdict } from "../support/measure.ts";
import { chains, list, type Shape, wide } from "./shapes.ts";

async function inTempDir<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), "orb-bench-"));
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The product as a library; measured from the first create to the last end. */
function own({ definition, workflows, steps }: Shape): Promise<number> {
  return inTempDir(async (dir) => {
    const { config } = loadConfig({ cwd: dir, env: { APP_LOG_LEVEL: "error" } });
    await using orb = await Orchestrator.start(config);
    // Warm up: lazy loading is not measured.
    const { id } = await orb.workflows.create({ definition: wide(1).definition });
    await orb.workflows.wait(id);
    const took = await seconds(async () => {
      const created = await Promise.all(Array.from({ length: workflows }, () => orb.workflows.create({ definition })));
      const ends = await Promise.all(created.map(({ id }) => orb.workflows.wait(id)));
      for (const { status, error_message: why } of ends)
        if (status !== "completed") throw new Error(`a workflow of the benchmark ${status}: ${why}`);
    });
    return steps / took;
  });
}

/**
 * The upper bound of the same tables without checks, leases or batches: a step is claimed in one transaction and ended
 * in another, which opens the next one. Both write their event.
 */
function bare(steps: number): Promise<number> {
  return inTempDir(async (dir) => {
    const path = join(dir, "orb.db");
    const store = openSqliteStore({ path, clock: systemClock });
    const created = await store.startRun(
      {
        kind: "workflow",
        name: "bare",
        maxAttempts: null,
        snapshot: null,
        workflow: {
          steps: Array.from({ length: steps }, (_, index) => ({
            name: `step-${index}`,
            kind: "wait",
            dependencies: index === 0 ? [] : [index - 1],
            maxRetries: 0,
            estimatedMs: null,
          })),
          start: true,
          metadata: {},
          maxRecoveryAttempts: 0,
          template: null,
          rerunOf: null,
          similarityKey: "bare",
        },
      },
      [],
      1,
    );
    await store.close();
    const connection = new SqliteConnection(path);
    migrate(connection);
    const { db } = connection;
    // As the store does for these transitions: a kill loses nothing, a power cut the last transactions.
    db.exec("PRAGMA synchronous = NORMAL");
    const { n } = db.prepare("SELECT n FROM runs WHERE id = ?").get(created.created.id) as { n: number };
    const tasks = db.prepare("SELECT task FROM steps WHERE run = ? ORDER BY idx").all(n) as { task: number }[];
    const take = db.prepare(`UPDATE tasks SET state = ${STATE.running} WHERE id = ? AND state = ${STATE.queued}`);
    const started = db.prepare("UPDATE steps SET started_at = ?, updated_at = ? WHERE task = ?");
    const end = db.prepare(
      `UPDATE tasks SET state = ${STATE.completed}, tries = 1, attempts = ?, outcome = ?, ended_at = ? WHERE id = ?`,
    );
    const ended = db.prepare("UPDATE steps SET progress = 1, updated_at = ? WHERE task = ?");
    const follow = db.prepare(
      "UPDATE steps SET open_deps = open_deps - 1 WHERE task IN (SELECT dependent FROM step_edges WHERE run = ? AND step = ?) RETURNING task",
    );
    const open = db.prepare(`UPDATE tasks SET state = ${STATE.queued} WHERE id = ?`);
    const event = db.prepare(
      "INSERT INTO events (run, seq, generation, created_at, level, message, meta) VALUES (?, ?, 1, 2, 'info', ?, '{}')",
    );
    let seq = 1000;
    const attempts = JSON.stringify([{ attempt: 1, strategy: "wait", started_at: "2026-01-01T00:00:00.000Z" }]);
    const outcome = JSON.stringify({ output: { waited_seconds: 0 }, items: null });
    const transaction = (work: () => void) => {
      db.exec("BEGIN IMMEDIATE");
      work();
      db.exec("COMMIT");
    };
    const took = await seconds(() => {
      for (const { task } of tasks) {
        transaction(() => {
          take.run(task);
          started.run(2, 2, task);
          event.run(n, (seq += 1), "Step started");
        });
        transaction(() => {
          end.run(attempts, outcome, 3, task);
          ended.run(3, task);
          for (const row of follow.all(n, task)) open.run((row as { task: number }).task);
          event.run(n, (seq += 1), "Step completed");
        });
      }
    });
    connection.close();
    return steps / took;
  });
}

/** Target for every shape, on a quiet machine. */
const WANTED = 500;

export async function benchSteps(rounds: number, small: boolean): Promise<boolean> {
  const shapes = small ? [chains(5, 20), wide(200), list(1000)] : [chains(100, 100), wide(1000), list(10_000)];
  print(`\nDurable steps that do nothing, SQLite, from create to completed, median of ${rounds} rounds`);
  let good = true;
  for (const shape of shapes) {
    const rates = await race({ own: () => own(shape), bare: () => bare(Math.min(shape.steps, 1000)) }, rounds);
    print(
      `  ${shape.name.padEnd(32)} ${perSecond(rates.own)}   bare statements ${perSecond(rates.bare)}   ratio ${(rates.own / rates.bare).toFixed(2)}`,
    );
    good = verdict(shape.name, rates.own, WANTED, " steps/s") && good;
  }
  return good;
}
