import { OrbError } from "../../base/errors.ts";
import type { PostgresConnection } from "./connection.ts";
import { core } from "./migrations/0001-core.ts";
import { shards } from "./migrations/0002-shards.ts";
import { alive } from "./migrations/0003-alive.ts";
import { rests } from "./migrations/0004-rests.ts";
import { webhooks } from "./migrations/0005-webhooks.ts";
import { started } from "./migrations/0006-started.ts";
import { claims } from "./migrations/0007-claims.ts";
import { failedPages } from "./migrations/0008-failed-pages.ts";
import { pageStates } from "./migrations/0009-page-states.ts";
import { retention } from "./migrations/0010-retention.ts";
import { ownerProcesses } from "./migrations/0011-owner-processes.ts";
import { usableFrom } from "./migrations/0012-usable-from.ts";
import { lastFailures } from "./migrations/0013-last-failures.ts";
import { sessionNames } from "./migrations/0014-session-names.ts";
import { eventTypes } from "./migrations/0015-event-types.ts";
import { renames } from "./migrations/0016-renames.ts";
import { runHealth } from "./migrations/0017-run-health.ts";
import { fixtures } from "./migrations/0018-fixtures.ts";
import { jobVersions } from "./migrations/0019-job-versions.ts";
import { repairs } from "./migrations/0020-repairs.ts";
import { monitors } from "./migrations/0021-monitors.ts";
import { access } from "./migrations/0022-access.ts";
import { notifications } from "./migrations/0023-notifications.ts";
import { versionActors } from "./migrations/0024-version-actors.ts";
import { monitorProfiles } from "./migrations/from-25/0025-monitor-profiles.ts";

export interface Migration {
  version: number;
  name: string;
  /**
   * Whether programs of the previous version may keep running, and start, on the new schema: the migration only adds
   * what they do not use, such as tables and nullable columns. Absent: they may not.
   */
  olderMayRun?: boolean;
  /** The statements, which run in one transaction. */
  up(): string;
}

/** In order; a published migration is never edited. */
export const MIGRATIONS: readonly Migration[] = [
  core,
  shards,
  alive,
  rests,
  webhooks,
  started,
  claims,
  failedPages,
  pageStates,
  retention,
  ownerProcesses,
  usableFrom,
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

export const LATEST = MIGRATIONS.at(-1)?.version ?? 0;

const OLDEST_SERVER = 14;

/** Exists while a copy into the schema is unfinished. */
export const UNFINISHED = "unfinished_copy";

const emptySchema = (schema: string) =>
  `CREATE SCHEMA IF NOT EXISTS ${schema}; CREATE TABLE schema_version (version BIGINT NOT NULL); INSERT INTO schema_version VALUES (0)`;

/** Creates an empty schema of the latest version. */
export function newSchema(schema: string): string {
  const made = MIGRATIONS.map((migration) => migration.up()).join(";\n");
  return `${emptySchema(schema)};\n${made};\nUPDATE schema_version SET version = ${LATEST}, usable_from = ${oldestUser(MIGRATIONS)}`;
}

/** The oldest version whose programs may use the resulting schema. */
function oldestUser(migrations: readonly Migration[]): number {
  return migrations.findLast(({ olderMayRun }) => olderMayRun !== true)?.version ?? 0;
}

/**
 * Migrates the schema in one transaction under the writer lock: a concurrent process waits, however long it takes, and
 * finds nothing left to do; an interruption leaves the schema as it was.
 */
export function migrate(
  connection: PostgresConnection,
  schema: string,
  migrations: readonly Migration[] = MIGRATIONS,
): { from: number; to: number; applied: string[] } {
  const latest = migrations.at(-1)?.version ?? 0;
  return connection.writeUnlimited(() => {
    const server = connection.sql("SELECT current_setting('server_version_num')::bigint AS number").get();
    refuseOldServer(Number(server?.["number"]));
    const from = versionOf(connection, schema);
    if (from > latest) {
      refuseNewer(connection, from, latest);
      return { from, to: from, applied: [] };
    }
    const missing = migrations.filter(({ version }) => version > from);
    if (from === 0) connection.script(emptySchema(schema));
    else refuseWhileOlderRun(connection, missing);
    for (const migration of missing) {
      connection.script(migration.up());
      connection.sql("UPDATE schema_version SET version = ?").run(migration.version);
    }
    if (missing.length > 0 && latest >= usableFrom.version)
      connection.sql("UPDATE schema_version SET usable_from = ?").run(oldestUser(migrations));
    return { from, to: latest, applied: missing.map(({ name }) => name) };
  });
}

/** During a rolling upgrade two versions run on one schema, if its migrations allow it. */
function refuseNewer(connection: PostgresConnection, version: number, latest: number): void {
  const row = connection.sql("SELECT usable_from FROM schema_version").get();
  const from = row?.["usable_from"] ?? null;
  if (from !== null && Number(from) <= latest) return;
  throw new OrbError(
    "database_newer",
    `the database has schema version ${version}, this program knows up to ${latest}`,
    { hint: "Use the version of orb that wrote it, or a newer one." },
  );
}

/** Their next writes could be lost, or corrupt migrated rows. */
function refuseWhileOlderRun(connection: PostgresConnection, missing: readonly Migration[]): void {
  const breaking = missing.filter(({ olderMayRun }) => olderMayRun !== true).map(({ name }) => name);
  if (breaking.length === 0) return;
  const now = connection.now();
  const row = connection
    .sql("SELECT count(*) AS workers, max(lease_until) AS until FROM owners WHERE lease_until >= ?")
    .get(now);
  const workers = Number(row?.["workers"]);
  if (workers === 0) return;
  const seconds = Math.ceil((Number(row?.["until"]) - now) / 1000);
  throw new OrbError(
    "database_busy",
    `the database cannot be upgraded (${breaking.join(", ")}) while ${workers === 1 ? "a worker of an earlier version is running" : `${workers} workers of an earlier version are running`}`,
    {
      hint: `Stop them on all machines (SIGTERM; wait until they exit), then start again. orb workers list shows them. A killed worker counts until its lease ends, in at most ${seconds} s.`,
    },
  );
}

export function refuseOldServer(version: number): void {
  const major = Math.floor(version / 10_000);
  if (major < OLDEST_SERVER)
    throw new OrbError(
      "database_unavailable",
      `the server is PostgreSQL ${major}; ${OLDEST_SERVER} or later is needed`,
      {
        hint: `Upgrade it, or point APP_DATABASE_URL at a PostgreSQL ${OLDEST_SERVER} or later.`,
      },
    );
}

export function versionOf(connection: PostgresConnection, schema: string): number {
  const tables = connection
    .sql(
      // Unlike information_schema, this includes tables of other roles.
      `SELECT count(*) AS all_tables, count(*) FILTER (WHERE c.relname = 'schema_version') AS ours,
         count(*) FILTER (WHERE c.relname = '${UNFINISHED}') AS unfinished
       FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = ? AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`,
    )
    .get(schema) as { all_tables: number; ours: number; unfinished: number };
  if (tables.unfinished > 0)
    throw new OrbError("database_unfinished", `a copy into the schema ${schema} is running or was interrupted`, {
      hint: "Wait until `orb migrate --to` has ended, or run it again; it starts over.",
    });
  if (tables.ours === 0) {
    if (tables.all_tables === 0) return 0;
    throw new OrbError("database_foreign", `the schema ${schema} of the database contains tables of another program`, {
      hint: "Point APP_DATABASE_URL at another database, or use another schema: postgres://…?schema=NAME",
    });
  }
  return Number(connection.sql("SELECT version FROM schema_version").get()?.["version"]);
}
