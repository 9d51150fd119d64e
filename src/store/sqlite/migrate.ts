import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { OrbError } from "../../base/errors.ts";
import { isProvenAlive } from "../../base/machine.ts";
import { APPLICATION_ID, type SqliteConnection, isForeign, pragma } from "./connection.ts";
import { NEWEST_SCHEMA, NEWEST_VERSION } from "./newest-schema.ts";
import { core } from "./migrations/0001-0016/0001-core.ts";
import { jobs } from "./migrations/0001-0016/0002-jobs.ts";
import { crawls } from "./migrations/0001-0016/0003-crawls.ts";
import { workflows } from "./migrations/0001-0016/0004-workflows.ts";
import { sites } from "./migrations/0001-0016/0005-sites.ts";
import { proxies } from "./migrations/0001-0016/0006-proxies.ts";
import { workers } from "./migrations/0001-0016/0007-workers.ts";
import { schedules } from "./migrations/0001-0016/0008-schedules.ts";
import { alerts } from "./migrations/0001-0016/0009-alerts.ts";
import { owners } from "./migrations/0001-0016/0010-owners.ts";
import { contents } from "./migrations/0001-0016/0011-contents.ts";
import { shards } from "./migrations/0001-0016/0012-shards.ts";
import { rests } from "./migrations/0001-0016/0013-rests.ts";
import { webhooks } from "./migrations/0001-0016/0014-webhooks.ts";
import { started } from "./migrations/0001-0016/0015-started.ts";
import { claims } from "./migrations/0001-0016/0016-claims.ts";
import { failedPages } from "./migrations/0017-failed-pages.ts";
import { pageStates } from "./migrations/0018-page-states.ts";
import { retention } from "./migrations/0019-retention.ts";
import { ownerProcesses } from "./migrations/0020-owner-processes.ts";
import { lastFailures } from "./migrations/0021-last-failures.ts";
import { sessionNames } from "./migrations/0022-session-names.ts";
import { eventTypes } from "./migrations/0023-event-types.ts";
import { renames } from "./migrations/0024-renames.ts";
import { runHealth } from "./migrations/0025-run-health.ts";
import { fixtures } from "./migrations/0026-fixtures.ts";
import { jobVersions } from "./migrations/0027-job-versions.ts";
import { repairs } from "./migrations/0028-repairs.ts";
import { monitors } from "./migrations/0029-monitors.ts";
import { access } from "./migrations/0030-access.ts";
import { notifications } from "./migrations/0031-notifications.ts";
import { versionActors } from "./migrations/0032-version-actors.ts";
import { monitorProfiles } from "./migrations/0033-monitor-profiles.ts";

export interface Migration {
  version: number;
  name: string;
  /** Programs of earlier versions cannot work on the new schema. */
  breaksOlder?: true;
  up(db: DatabaseSync): void;
}

/** In order; a published migration is never edited. */
export const MIGRATIONS: readonly Migration[] = [
  core,
  jobs,
  crawls,
  workflows,
  sites,
  proxies,
  workers,
  schedules,
  alerts,
  owners,
  contents,
  shards,
  rests,
  webhooks,
  started,
  claims,
  failedPages,
  pageStates,
  retention,
  ownerProcesses,
  lastFailures,
  sessionNames,
  eventTypes,
  renames,
  runHealth,
  fixtures,
  jobVersions,
  repairs,
  monitors,
  access,
  notifications,
  versionActors,
  monitorProfiles,
];

export function schemaVersion(connection: SqliteConnection): number {
  return pragma(connection.db, "user_version");
}

function refuseForeign(db: DatabaseSync, latest: number): number {
  const version = pragma(db, "user_version");
  if (isForeign(db)) {
    throw new OrbError("database_foreign", "the database file belongs to another program", {
      hint: "Point APP_DATABASE_URL at another file.",
    });
  }
  if (version > latest) {
    throw new OrbError(
      "database_newer",
      `the database has schema version ${version}, this program knows up to ${latest}`,
      { hint: "Use the version of orb that wrote it, or a newer one." },
    );
  }
  return version;
}

/** A running older process would fail with its next statement. */
function refuseWhileOlderWorks(connection: SqliteConnection): void {
  const row = connection.sql("SELECT holder, boot, pid, pid_start FROM engine").get();
  if (row === undefined || row["holder"] === null) return;
  const { boot, pid, pid_start: pidStart } = row as { boot: string; pid: number; pid_start: string };
  if (pid === process.pid || !isProvenAlive({ boot, pid, pidStart })) return;
  throw new OrbError(
    "database_busy",
    `the database cannot be upgraded while process ${pid} uses it with an earlier version`,
    { hint: `Stop it (kill ${pid}; it finishes tasks in flight), then start again.` },
  );
}

/** A new file gets the result of all migrations at once, in a tenth of the time; returns their names. */
function createNewest(connection: SqliteConnection): string[] {
  return connection.write(
    () => {
      // Another process was faster.
      if (pragma(connection.db, "user_version") > 0) return [];
      connection.db.exec(NEWEST_SCHEMA);
      connection.db
        .exec(`INSERT INTO meta VALUES ('instance', '${randomUUID()}'), ('alerts_seen', '0'), ('degraded_runs', '0');
        INSERT INTO engine VALUES (1, NULL, 0, 0, NULL, NULL, NULL, NULL);
        INSERT INTO control (one, version) VALUES (1, 1);
        PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${NEWEST_VERSION}`);
      return MIGRATIONS.filter(({ version }) => version <= NEWEST_VERSION).map(({ name }) => name);
    },
    { durable: true },
  );
}

/**
 * Migrates the schema. Each migration and its version number are one transaction, so that an interruption leaves the
 * schema before or after it, never between. Two processes may call this at once: the second waits for the lock and
 * finds nothing left to do.
 */
export function migrate(
  connection: SqliteConnection,
  migrations: readonly Migration[] = MIGRATIONS,
): { from: number; to: number; applied: string[] } {
  const latest = migrations.at(-1)?.version ?? 0;
  const from = refuseForeign(connection.db, latest);
  const applied: string[] = [];
  if (from === 0 && migrations === MIGRATIONS) applied.push(...createNewest(connection));
  for (const migration of migrations) {
    if (migration.version <= from || applied.includes(migration.name)) continue;
    connection.write(
      () => {
        if (pragma(connection.db, "user_version") >= migration.version) return;
        if (from > 0 && migration.breaksOlder === true) refuseWhileOlderWorks(connection);
        migration.up(connection.db);
        connection.db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${migration.version}`);
        applied.push(migration.name);
      },
      { durable: true },
    );
  }
  return { from, to: latest, applied };
}
