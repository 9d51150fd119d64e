/**
 * Pages of a crawl with a goal, whose priority is their score: a known page may turn out to be more promising, and when the
 * crawl knows as many pages as it may, a better one takes the row of the worst that waits.
 */
import { scoreOfPriority } from "../../../domain/crawl/goal-score.ts";
import type { NewTask } from "../../ports/port.ts";
import type { ForEach, Value } from "../kernel/connection.ts";
import { type Context, rows, STATE, toJson } from "../kernel/context.ts";

const RAISE: ForEach = {
  text: `UPDATE tasks SET priority = new.priority FROM new
    WHERE tasks.key_hash = new.key_hash AND tasks.state = ${STATE.queued} AND tasks.priority < new.priority`,
  columns: { priority: "bigint", key_hash: "bytea" },
};

const REPLACE: ForEach = {
  text: `UPDATE tasks SET key_hash = new.key_hash, key = new.key, url = new.url, priority = new.priority,
    payload = new.payload FROM new WHERE tasks.id = new.id AND tasks.state = ${STATE.queued}`,
  columns: { key_hash: "bytea", key: "text", url: "text", priority: "bigint", payload: "text", id: "bigint" },
};

/** A shard's lane depends on the page, so that its row cannot become another page. Rows of this transaction are not in `queued` yet. */
const STREAM = `SELECT s.id FROM streams s JOIN sites p ON p.site = s.site AND p.shard_count = 1 AND p.lane = s.lane
  WHERE s.run = ? AND s.site = ? AND s.auxiliary = 0 ORDER BY s.queued DESC, s.id LIMIT 1`;

/**
 * The reverse of the order in which they are claimed, by the same index. Never a page with a history: a redirect has led
 * it elsewhere, a person is to look at it, or its failure is repeated. Pages without a score have a higher priority.
 */
const WORST = `SELECT id, priority FROM tasks WHERE stream = ? AND state = ${STATE.queued} AND priority < ?
    AND tries = 0 AND waits = 0 AND next_url IS NULL AND outcome IS NULL AND attempts IS NULL
  ORDER BY priority, id DESC LIMIT ?`;

interface Scored {
  hash: Uint8Array;
  task: NewTask;
}

export class ScoredTasks {
  readonly #known = new Map<string, Scored>();
  readonly #leftOut = new Map<string, Scored>();

  /** The run has a task with this key, or gets one in this transaction. */
  known(hash: Uint8Array, task: NewTask): void {
    keepBest(this.#known, hash, task);
  }

  /** The run knows as many pages as it may. */
  leftOut(hash: Uint8Array, task: NewTask): void {
    keepBest(this.#leftOut, hash, task);
  }

  write(context: Context, run: number): void {
    const { connection } = context;
    if (this.#known.size > 0)
      connection.dialect.each(
        connection,
        RAISE,
        [...this.#known.values()].map(({ hash, task }): Value[] => [task.priority, hash]),
      );
    const bySite = Map.groupBy(this.#leftOut.values(), ({ task }) => task.site ?? "");
    for (const [site, list] of bySite) if (site !== "") replaceWorst(context, run, site, list);
  }
}

function keepBest(tasks: Map<string, Scored>, hash: Uint8Array, task: NewTask): void {
  if (scoreOfPriority(task.priority) === null) return;
  const name = Buffer.from(hash).toString("latin1");
  const before = tasks.get(name);
  if (before === undefined || before.task.priority < task.priority) tasks.set(name, { hash, task });
}

/** No counter changes: a task of the same stream and state is another page now. */
function replaceWorst({ connection }: Context, run: number, site: string, list: readonly Scored[]): void {
  const stream = connection.sql(STREAM).get(run, site) as { id: number } | undefined;
  if (stream === undefined) return;
  const better = list.toSorted((a, b) => b.task.priority - a.task.priority);
  const worst = rows<{ id: number; priority: number }>(
    connection.sql(WORST).all(stream.id, better[0]!.task.priority, better.length),
  );
  const replaced = worst.flatMap(({ id, priority }, index): Value[][] => {
    const { hash, task } = better[index]!;
    if (task.priority <= priority) return [];
    return [[hash, task.key, task.url, task.priority, toJson(task.payload), id]];
  });
  if (replaced.length > 0) connection.dialect.each(connection, REPLACE, replaced);
}
