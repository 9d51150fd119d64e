import { ERROR_CLASSES, type ErrorClass, errorClassOf } from "../../../domain/crawl/crawl-end.ts";
import type { TaskState } from "../../../domain/run/states.ts";
import type { SettledTask } from "../../ports/port.ts";
import type { RecentPages } from "../../ports/progress-port.ts";
import type { Collector } from "../kernel/connection.ts";
import { type Context, RANK } from "../kernel/context.ts";

const BUCKET_MS = 5000;
const KEPT_MS = 300_000;

type Ends = Record<"completed" | ErrorClass, number>;
const NO_ENDS: Ends = { completed: 0, timeout: 0, connection: 0, general: 0 };

/** Recent page ends of crawls, for the displayed rates: one row per five seconds. */
export class CrawlThroughput {
  readonly #ends = { ...NO_ENDS };
  #any = false;

  /** The state counts, not the verdict: a completed page may end as skipped. */
  note({ task, verdict }: SettledTask, state: TaskState): void {
    if (task.runKind !== "crawl" || task.auxiliary) return;
    if (state === "completed") this.#ends.completed += 1;
    else if (verdict.kind === "failed") this.#ends[errorClassOf(verdict.failure.code)] += 1;
    else return;
    this.#any = true;
  }

  write({ connection }: Context, now: number): void {
    if (this.#any) connection.atEnd(THROUGHPUT, { ends: { ...this.#ends }, now });
  }
}

/** All writers share the row of the current five seconds. */
const THROUGHPUT: Collector<{ ends: Ends; now: number }> = {
  rank: RANK.throughput,
  write(connection, list) {
    for (const { ends, now } of list) {
      connection
        .sql(
          `DELETE FROM crawl_throughput WHERE bucket IN
             (SELECT bucket FROM crawl_throughput WHERE bucket < ? ${connection.dialect.unlessLocked})`,
        )
        .run(Math.floor((now - KEPT_MS) / BUCKET_MS));
      connection
        .sql(
          `INSERT INTO crawl_throughput (bucket, completed, timeout, connection, general) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (bucket) DO UPDATE SET completed = crawl_throughput.completed + excluded.completed,
             timeout = crawl_throughput.timeout + excluded.timeout, connection = crawl_throughput.connection + excluded.connection,
             general = crawl_throughput.general + excluded.general`,
        )
        .run(Math.floor(now / BUCKET_MS), ends.completed, ends.timeout, ends.connection, ends.general);
    }
  },
};

export function readRecentPages({ connection }: Context, now: number): RecentPages {
  const from = Math.floor((now - KEPT_MS) / BUCKET_MS) + 1;
  const sums = Object.keys(NO_ENDS).map((name) => `coalesce(sum(${name}), 0) AS ${name}`);
  // After the clock was set back, there are buckets in the future.
  const row = connection
    .sql(`SELECT min(bucket) AS first, ${sums.join(", ")} FROM crawl_throughput WHERE bucket BETWEEN ? AND ?`)
    .get(from, Math.floor(now / BUCKET_MS)) as unknown as Ends & { first: number | null };
  const failed = Object.fromEntries(ERROR_CLASSES.map((name) => [name, row[name]])) as Record<ErrorClass, number>;
  return { completed: row.completed, failed, since: Math.min(now, (row.first ?? from) * BUCKET_MS) };
}

/** A held crawl does not count as running, and will queue again. */
export function countCrawls({ connection }: Context): { running: number; queued: number } {
  const count = connection.sql(
    "SELECT count(*) AS n, count(hold) AS held FROM runs WHERE kind = 'crawl' AND status = 'running'",
  );
  const { n, held } = count.get() as { n: number; held: number };
  const waiting = connection.sql("SELECT count(*) AS n FROM runs WHERE kind = 'crawl' AND status = 'queued'");
  return { running: n - held, queued: (waiting.get() as { n: number }).n + held };
}
