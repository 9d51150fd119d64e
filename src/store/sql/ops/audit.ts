import { NEVER_FETCHED } from "../../../domain/crawl/crawl-end.ts";
import { FIXTURES_SETTING } from "../../../domain/page/fixture.ts";
import { OPEN_TASK_STATES, TASK_STATES, TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { AuditFinding, AuditReport } from "../../records/audit-records.ts";
import { all, type Check } from "./audit-check.ts";
import { type Context, HAS_QUOTA, STATE, RUN_MAY_WORK } from "../kernel/context.ts";
import { engineHolder } from "../lanes/engine-lock.ts";
import { STREAM_IS_OPEN } from "../lanes/lanes.ts";
import { LANE_OF_STREAM, MAY_BE_TAKEN } from "../lanes/shards.ts";
import { JOIN_WAITS, SITE_MAY_WORK, withSiteWaits } from "../sites/site-deps.ts";
import { WORKFLOW_CHECKS } from "../workflows/workflow-audit.ts";

const terminal = TERMINAL_RUN_STATES.map((name) => `'${name}'`).join(", ");
const neverFetched = NEVER_FETCHED.map((reason) => `'${reason}'`).join(", ");
const openSum = OPEN_TASK_STATES.map((name) => `s.${name}`).join(" + ");

const listOf = (table: string) => TASK_STATES.map((name) => `${table}.${name}`).join(" || ' ' || ");
const NONE = TASK_STATES.map(() => "0").join(" ");
const SUMS = TASK_STATES.map((name) => `sum(${name})`).join(" || ' ' || ");

function engineIsLive(context: Context): boolean {
  const holder = engineHolder(context);
  return holder !== null && holder.remainingMs > 0;
}

/** How long a lane may wait for its turn before the audit reports it; grows with the number of lanes. */
const MAX_WAIT_MS = 60_000;
const MAX_WAIT_PER_LANE_MS = 500;

const SOUND_FILE: Check = {
  name: "the database file is intact",
  find: ({ connection }) => connection.dialect.damage(connection),
};

const CHECKS: readonly Check[] = [
  {
    name: "counters equal the tasks they count",
    find(context) {
      const counted = new Map<number, number[]>();
      for (const row of all<{ stream: number; state: number; n: number }>(
        context,
        "SELECT stream, state, count(*) AS n FROM tasks GROUP BY stream, state",
      )) {
        const list = counted.get(row.stream) ?? TASK_STATES.map(() => 0);
        list[row.state] = row.n;
        counted.set(row.stream, list);
      }
      const streams = all<Record<string, number>>(context, "SELECT * FROM streams");
      const known = new Set(streams.map((stream) => stream["id"]));
      return [
        ...streams.flatMap((stream) =>
          TASK_STATES.flatMap((name, index) => {
            const real = counted.get(stream["id"] ?? 0)?.[index] ?? 0;
            return stream[name] === real
              ? []
              : [`stream ${stream["id"]} says ${stream[name]} ${name}, there are ${real}`];
          }),
        ),
        ...[...counted.keys()]
          .filter((id) => !known.has(id))
          .map((id) => `tasks belong to stream ${id}, which does not exist`),
      ];
    },
  },
  {
    name: "page counters of sites are correct",
    find: (context) =>
      all<{ site: string; said: string; real: string }>(
        context,
        // Aggregates first: there may be very many of both.
        `SELECT site, said, real FROM (SELECT c.site, ${listOf("c")} AS said, coalesce(s.sums, '${NONE}') AS real
           FROM site_counts c LEFT JOIN (SELECT site, ${SUMS} AS sums FROM streams WHERE auxiliary = 0 GROUP BY site) AS s
             ON s.site = c.site) AS compared WHERE said <> real`,
      ).map((row) => `site ${row.site} says ${row.said}, there are ${row.real}`),
  },
  {
    name: "open work is in the lane of its site",
    find: (context) =>
      all<{ id: number; site: string }>(
        context,
        `SELECT s.id, s.site FROM streams s LEFT JOIN sites p ON p.site = s.site
         WHERE s.site <> '' AND ${STREAM_IS_OPEN} AND s.lane IS DISTINCT FROM ${LANE_OF_STREAM}`,
      ).map((row) => `stream ${row.id} is not in the lane of ${row.site}`),
  },
  {
    name: "only sites with open work have a start time of it",
    find: (context) =>
      all<{ id: number; site: string }>(
        context,
        `SELECT s.id, s.site FROM streams s WHERE (s.opened_event IS NOT NULL) <> (s.site <> '' AND ${openSum} > 0)`,
      ).map((row) => `stream ${row.id} at ${row.site}`),
  },
  {
    name: "active runs have a start time",
    find: (context) =>
      all<{ id: string }>(context, `SELECT r.id FROM runs r WHERE r.start_event IS NULL AND ${RUN_MAY_WORK}`).map(
        (row) => `run ${row.id} has none`,
      ),
  },
  {
    name: "counters of open streams are correct",
    find: (context) =>
      all<{ id: string; open_streams: number; real: number }>(
        context,
        `SELECT * FROM (SELECT r.id, r.open_streams,
             (SELECT count(*) FROM streams s WHERE s.run = r.n AND ${openSum} > 0) AS real FROM runs r) AS compared
         WHERE open_streams <> real`,
      ).map((row) => `run ${row.id} says ${row.open_streams} open streams, there are ${row.real}`),
  },
  {
    name: "page counters of crawls are correct",
    find: (context) =>
      all<{ id: string; said: string; real: string }>(
        context,
        `SELECT id, said, real FROM (
           SELECT r.id, r.pages_in_flight || ' in flight, ' || r.pages_counted || ' that count, ' || r.pages_uncounted || ' that do not' AS said,
             sum(s.running) || ' in flight, ' || (sum(s.completed + s.failed) - unfetched) || ' that count, '
               || (sum(s.skipped) + unfetched) || ' that do not' AS real
           FROM (SELECT *, (SELECT coalesce(sum(count), 0) FROM run_errors e
               WHERE e.run = runs.n AND e.reason IN (${neverFetched})) AS unfetched
             FROM runs WHERE kind = 'crawl' AND removing_at IS NULL) r
           JOIN streams s ON s.run = r.n AND s.auxiliary = 0
           GROUP BY r.n, r.id, r.pages_in_flight, r.pages_counted, r.pages_uncounted, unfetched
         ) AS compared WHERE said <> real`,
      ).map((row) => `run ${row.id} says it has pages: ${row.said}; there are ${row.real}`),
  },
  {
    name: "failure counters of runs are correct",
    find: (context) =>
      all<{ id: string; counted: number; real: number }>(
        context,
        `SELECT * FROM (SELECT r.id, (SELECT coalesce(sum(count), 0) FROM run_errors e WHERE e.run = r.n) AS counted,
             (SELECT coalesce(sum(failed), 0) FROM streams s WHERE s.run = r.n AND s.auxiliary = 0) AS real
           FROM runs r WHERE r.removing_at IS NULL) AS compared WHERE counted <> real`,
      ).map((row) => `run ${row.id} has counted ${row.counted} failures, there are ${row.real}`),
  },
  {
    name: "every ended run has exactly one terminal event in its generation",
    find: (context) =>
      all<{ id: string; status: string; ends: number }>(
        context,
        `SELECT * FROM (SELECT r.id, r.status,
             (SELECT count(*) FROM events e WHERE e.run = r.n AND e.generation = r.generation AND e.terminal = 1) AS ends
           FROM runs r WHERE r.removing_at IS NULL) AS compared
         WHERE ends <> CASE WHEN status IN (${terminal}) THEN 1 ELSE 0 END`,
      ).map((row) => `run ${row.id} is ${row.status} and has ${row.ends} terminal events`),
  },
  {
    name: "every run has ended, is active, is paused or has a reason to wait",
    find: (context) =>
      all<{ id: string; status: string; open_streams: number }>(
        context,
        // Tasks cut off by an end are swept soon.
        `SELECT id, status, open_streams FROM runs
         WHERE (status = 'running' AND open_streams = 0 AND coalesce(json_extract(hold, '$.reason'), '') <> 'data_quality') OR (status IN (${terminal}) AND status <> 'cancelled' AND open_streams > 0
           AND coalesce(json_extract(facts, '$.left.time'), json_extract(facts, '$.left.pages'), json_extract(facts, '$.left.proxies'), json_extract(facts, '$.left.saturated'))
             IS NULL)`,
      ).map((row) => `run ${row.id} is ${row.status} with ${row.open_streams} open streams`),
  },
  {
    name: "no ended run waits",
    find: (context) =>
      all<{ id: string; status: string }>(
        context,
        `SELECT id, status FROM runs WHERE hold IS NOT NULL AND status IN (${terminal})`,
      ).map((row) => `run ${row.id} is ${row.status} and held`),
  },
  {
    name: "no task is leased by a dead owner after its lease ended",
    find(context) {
      // Without a live engine this is unfinished work, not a fault: the next engine requeues it at once. Losing the
      // owner stamps lease_until, so a lane that was released a moment ago is no fault yet either. The lane of a
      // stopped run is offered to no owner; its tasks are requeued when it continues.
      if (!engineIsLive(context)) return [];
      return all<{ lane: string; n: number }>(
        context,
        `${withSiteWaits("")} SELECT l.lane, count(*) AS n FROM tasks t JOIN streams s ON s.id = t.stream JOIN lanes l ON l.id = s.lane
           JOIN runs r ON r.n = s.run ${JOIN_WAITS}
         WHERE t.state = ${STATE.running} AND l.lease_until < ? AND r.hold IS NULL
           AND r.status NOT IN ('paused', 'waiting_for_human', 'recovering') AND ${SITE_MAY_WORK}
         GROUP BY l.id`,
        context.leaseNow() - MAX_WAIT_MS,
      ).flatMap((row) => (row.n > 0 ? [`lane ${row.lane} has ${row.n} running tasks and no living owner`] : []));
    },
  },
  {
    name: "no lane with ready work is left without an owner",
    find(context) {
      if (!engineIsLive(context)) return [];
      const waiting = all<{ lane: string; since: number }>(
        context,
        `${withSiteWaits("")} SELECT l.lane, l.lease_until AS since FROM streams s JOIN lanes l ON l.id = s.lane JOIN runs r ON r.n = s.run
         LEFT JOIN sites p ON p.site = s.site ${JOIN_WAITS}
         WHERE ${STREAM_IS_OPEN} AND s.queued > 0 AND l.owner IS NULL AND ${RUN_MAY_WORK} AND ${HAS_QUOTA} AND ${SITE_MAY_WORK}
           AND coalesce(p.paused, 0) = 0 AND coalesce(p.hold_until, 0) < ? AND coalesce(p.breaker_open_until, 0) < ?
           AND ${MAY_BE_TAKEN}
         GROUP BY l.id`,
        context.wallNow() - MAX_WAIT_MS,
        context.wallNow() - MAX_WAIT_MS,
        context.leaseNow(),
      );
      const limit = context.leaseNow() - MAX_WAIT_MS - MAX_WAIT_PER_LANE_MS * waiting.length;
      return waiting
        .filter((row) => row.since < limit)
        .map((row) => `lane ${row.lane} has had ready work for over a minute`);
    },
  },
  {
    name: "files and records belong to completed tasks, once each",
    find: (context) =>
      ["artifacts", "results"].flatMap((table) => {
        // Screenshots and snapshots are evidence of a failure: they belong to tasks that did not succeed.
        const evidence = table === "artifacts" ? "AND coalesce(x.role, 'file') = 'file'" : "";
        const strays = all<{ task: number }>(
          context,
          `SELECT DISTINCT x.task FROM ${table} x LEFT JOIN tasks t ON t.id = x.task
           WHERE t.id IS NULL OR (t.state <> ${STATE.completed} ${evidence})`,
        ).map((row) => `${table} of task ${row.task}, which is not completed`);
        const doubles = all<{ task: number; ordinal: number }>(
          context,
          `SELECT task, ordinal FROM ${table} GROUP BY task, ordinal HAVING count(*) > 1`,
        ).map((row) => `${table}: task ${row.task} has number ${row.ordinal} twice`);
        return strays.concat(doubles);
      }),
  },
  {
    // SQLite reuses run numbers: leftovers of a removed run would become part of another.
    name: "nothing is left of deleted runs",
    find: (context) =>
      [
        "streams",
        "events",
        "run_errors",
        "results",
        "artifacts",
        "page_aliases",
        "run_traps",
        "run_health",
        "run_pages",
        "monitor_pages",
        "workflows",
        "workflow_snapshots",
        "steps",
        "step_edges",
      ].flatMap((table) =>
        all<{ run: number }>(
          context,
          `SELECT DISTINCT x.run FROM ${table} x WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.n = x.run)`,
        ).map((row) => `${table} of run number ${row.run}, which does not exist`),
      ),
  },
  {
    name: "degraded runs say so in their events",
    find: (context) =>
      all<{ id: string }>(
        context,
        `SELECT r.id FROM run_health h JOIN runs r ON r.n = h.run WHERE h.reasons IS NOT NULL AND r.removing_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM events e
             WHERE e.run = h.run AND e.generation = h.generation AND e.type = 'extraction.degraded')`,
      ).map((row) => `run ${row.id} does not`),
  },
  {
    name: "saved pages belong to jobs, no more than they keep",
    find: (context) => [
      ...all<{ n: number; job: number }>(
        context,
        "SELECT n, job FROM fixtures f WHERE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.n = f.job)",
      ).map((row) => `saved page ${row.n} is of job number ${row.job}, which does not exist`),
      ...all<{ id: string; pages: number; most: number }>(
        context,
        `SELECT id, pages, most FROM (
           SELECT j.id, coalesce(j.fixtures, ${FIXTURES_SETTING.default}) AS most,
             (SELECT count(*) FROM fixtures f WHERE f.job = j.n) AS pages FROM jobs j) AS compared
         WHERE pages > most`,
      ).map((row) => `job ${row.id} has ${row.pages} saved pages, and keeps ${row.most}`),
    ],
  },
  {
    name: "every job is what its newest version says",
    find: (context) => [
      ...all<{ id: string }>(
        context,
        // The secrets of workflows are sealed one by one.
        `SELECT j.id FROM jobs j WHERE NOT EXISTS (SELECT 1 FROM job_versions v WHERE v.job = j.n
           AND v.version = (SELECT max(w.version) FROM job_versions w WHERE w.job = j.n)
           AND (j.kind = 'workflow' OR (v.recipe = j.recipe AND v.url = j.url AND v.tags = j.tags)))`,
      ).map((row) => `job ${row.id} is not`),
      ...["job_versions", "repairs", "run_pages", "monitor_pages"].flatMap((table) =>
        withoutRow(context, table, "SELECT 1 FROM jobs j WHERE j.n = x.job"),
      ),
      // The rows of a deleted job's monitor are removed bit by bit, that of `monitors` as the last.
      ...["monitor_states", "monitor_changes"].flatMap((table) =>
        withoutRow(context, table, "SELECT 1 FROM monitors m WHERE m.job = x.job"),
      ),
    ],
  },
  {
    name: "borrowed units belong to live processes",
    find: (context) =>
      all<{ key: string; owner: string }>(
        context,
        "SELECT key, owner FROM budget_permits WHERE owner NOT IN (SELECT owner FROM owners)",
      ).map((row) => `budget ${row.key} is lent to ${row.owner}, which is not the engine`),
  },
  ...WORKFLOW_CHECKS,
];

const MAX_PER_CHECK = 20;

function findingsOf(check: Check, context: Context): AuditFinding[] {
  return check
    .find(context)
    .slice(0, MAX_PER_CHECK)
    .map((what) => ({ check: check.name, what }));
}

export function audit(context: Context): AuditReport {
  const findings = context.connection.read(() => {
    const damage = findingsOf(SOUND_FILE, context);
    // Rows of a damaged file mean nothing, and reading on may fail.
    return damage.length > 0 ? damage : CHECKS.flatMap((check) => findingsOf(check, context));
  });
  return { checks: [SOUND_FILE, ...CHECKS].map((check) => check.name), findings };
}

/** Rows of a table whose job is not where it should be. */
function withoutRow(context: Context, table: string, wanted: string): string[] {
  const text = `SELECT DISTINCT x.job FROM ${table} x WHERE NOT EXISTS (${wanted})`;
  return all<{ job: number }>(context, text).map(({ job }) => `${table} of job number ${job}, which does not exist`);
}
