import { encodeId } from "../../../domain/run/ids.ts";
import type { DutiesDue, DutyStore } from "../../ports/duty-port.ts";
import { WAITING_CRAWLS } from "../crawls/admit-crawls.ts";
import { ALERT_IS_DUE } from "./alerts.ts";
import type { Context } from "../kernel/context.ts";
import { TIMED_RUN } from "../crawls/crawls.ts";
import { ENDED_RUN_WITH_OPEN_TASKS } from "../runs/run-ends.ts";
import { RUN_ENDING, RUN_WITHOUT_HEALTH } from "../runs/run-health.ts";
import { MESSAGE_IS_DUE } from "../notify/deliveries.ts";
import { MONITOR_IS_DUE } from "../monitors/waiting-pages.ts";
import { REPAIR_IS_DUE } from "./repairs.ts";
import { WEBHOOK_IS_DUE } from "./webhooks.ts";
import { RECOVERING } from "../workflows/workflow-recover.ts";

const HELD = (reason: string) =>
  `SELECT 1 FROM runs WHERE hold IS NOT NULL AND json_extract(hold, '$.reason') = '${reason}'`;

/** Each reads an index that is nearly always empty. */
const DUE_QUERIES: Readonly<Record<Exclude<keyof DutiesDue, "lastEvent">, string>> = {
  timedRuns: `EXISTS (SELECT 1 FROM runs WHERE ${TIMED_RUN})`,
  waitingCrawls: `EXISTS (${WAITING_CRAWLS})`,
  sleepingSteps: "EXISTS (SELECT 1 FROM step_timers)",
  recoveries: `EXISTS (SELECT 1 FROM runs WHERE ${RECOVERING})`,
  jobs: "EXISTS (SELECT 1 FROM jobs WHERE next_at IS NOT NULL AND next_at <= ?1)",
  queuedRuns: `EXISTS (${HELD("previous_run")})`,
  proxies: `EXISTS (${HELD("proxies")}) OR EXISTS (SELECT 1 FROM proxies WHERE disabled = 0)`,
  endedRuns: `EXISTS (${ENDED_RUN_WITH_OPEN_TASKS})`,
  unprofiledRuns: `EXISTS (SELECT 1 FROM runs WHERE ${RUN_WITHOUT_HEALTH}) OR EXISTS (SELECT 1 FROM runs WHERE ${RUN_ENDING})`,
  repairs: `EXISTS (SELECT 1 FROM run_health WHERE ${REPAIR_IS_DUE})`,
  monitors: `EXISTS (SELECT 1 FROM runs WHERE ${MONITOR_IS_DUE})`,
  alerts: `EXISTS (SELECT 1 FROM alerts WHERE ${ALERT_IS_DUE("?1")})`,
  messages: `EXISTS (SELECT 1 FROM notification_deliveries WHERE ${MESSAGE_IS_DUE("?1")})`,
  channels: "EXISTS (SELECT 1 FROM notification_channels WHERE enabled = 1)",
  webhooks: `EXISTS (SELECT 1 FROM webhooks WHERE ${WEBHOOK_IS_DUE("?1")})`,
};

const ALL_QUERIES = `SELECT ${Object.entries(DUE_QUERIES)
  .map(([name, query]) => `(${query}) AS "${name}"`)
  .join(", ")}, (SELECT coalesce(max(n), 0) FROM events) AS "lastEvent"`;

export function dutyStore({ connection, instance }: Context): DutyStore {
  return {
    dutiesDue: async (now) => {
      const { lastEvent, ...found } = connection.sql(ALL_QUERIES).get(now) as Record<keyof DutiesDue, number>;
      const due = Object.fromEntries(Object.entries(found).map(([name, is]) => [name, is === 1]));
      return { ...(due as Omit<DutiesDue, "lastEvent">), lastEvent: encodeId(instance, "event", lastEvent) };
    },
  };
}
