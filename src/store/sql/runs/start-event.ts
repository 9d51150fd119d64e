/** The event `run.started`, with the strategy and the attempt. */
import type { Context } from "../kernel/context.ts";
import type { MoveEvent } from "./move-run.ts";

interface StartRow {
  kind: string;
  most: number | null;
  strategy: string | null;
}

/** Only page and crawl runs have a strategy. */
export function startEvent({ connection }: Context, run: number): MoveEvent {
  const { kind, most, strategy } = connection
    .sql(
      `SELECT kind, max_attempts AS most,
         coalesce(json_extract(snapshot, '$.recipe.strategy'), json_extract(snapshot, '$.options.strategy')) AS strategy
       FROM runs WHERE n = ?`,
    )
    .get(run) as unknown as StartRow;
  if ((kind !== "page" && kind !== "crawl") || strategy === null)
    return { type: "run.started", message: "Run started" };
  const tries = most === null ? "attempt 1" : `attempt 1 of ${most}`;
  const words =
    kind === "crawl"
      ? `strategy ${strategy}${most === null ? "" : `, up to ${most} ${most === 1 ? "attempt" : "attempts"} per page`}`
      : `${tries}, strategy ${strategy}`;
  return {
    type: "run.started",
    message: `Run started: ${words}`,
    meta: { attempt: 1, max_attempts: most, strategy },
  };
}
