import { resolverKey } from "../../../domain/lane/lane.ts";
import type { KeyUse, OpenAtSite } from "../../ports/key-use-port.ts";
import { waitingKeyOf } from "./budgets.ts";
import { type Context, rows } from "../kernel/context.ts";
import { requireRun } from "../runs/runs.ts";

export function keyUse(context: Context, runId: string, keys: readonly string[]): Map<string, KeyUse> {
  const { connection } = context;
  const use = new Map<string, KeyUse>();
  const of = (key: string): KeyUse => {
    const known = use.get(key) ?? { running: 0, granted: 0, waiting: 0 };
    use.set(key, known);
    return known;
  };
  const runningTasks = connection.sql(
    `SELECT s.resolver, sum(s.running) AS running FROM streams s
     WHERE s.run = ? AND s.running > 0 AND s.resolver IN (SELECT value FROM json_each(?)) GROUP BY s.resolver`,
  );
  for (const { resolver, running } of rows<{ resolver: string; running: number }>(
    runningTasks.all(requireRun(context, runId).n, JSON.stringify(keys)),
  ))
    of(resolver).running = Number(running);
  const budgets = new Map(
    keys.flatMap((key) => [resolverKey(key), waitingKeyOf(resolverKey(key))].map((name) => [name, key])),
  );
  const permits = connection.sql(
    "SELECT key, sum(units) AS units, count(*) AS n FROM budget_permits WHERE key IN (SELECT value FROM json_each(?)) GROUP BY key",
  );
  for (const { key: name, units, n } of rows<{ key: string; units: number; n: number }>(
    permits.all(JSON.stringify([...budgets.keys()])),
  )) {
    const key = budgets.get(name) as string;
    if (name === resolverKey(key)) of(key).granted = Number(units);
    else of(key).waiting = Number(n);
  }
  return use;
}

export function openUnderKey(context: Context, runId: string, key: string, limit: number): OpenAtSite[] {
  const list = rows<{ site: string; open: number; max_concurrency: number | null }>(
    context.connection
      .sql(
        `SELECT s.site, s.queued + s.running AS open, p.max_concurrency FROM streams s LEFT JOIN sites p ON p.site = s.site
         WHERE s.run = ? AND s.resolver = ? AND (s.queued > 0 OR s.running > 0) LIMIT ?`,
      )
      .all(requireRun(context, runId).n, key, limit),
  );
  return list.map(({ site, open, max_concurrency: maxConcurrency }) => ({ site, open, maxConcurrency }));
}
