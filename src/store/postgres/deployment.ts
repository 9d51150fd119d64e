import { hash } from "node:crypto";
import type { PostgresConnection } from "./connection.ts";

/**
 * The instance plus the server's own identity: copies of a database (copied twice, or dumped and restored) share the
 * instance, and the addresses of one server may differ between machines.
 */
export function deploymentOf(connection: PostgresConnection, instance: string, schema: string): string {
  const { database, may: allowed } = connection
    .sql(
      `SELECT oid AS database, has_function_privilege('pg_catalog.pg_control_system()', 'execute') AS may
       FROM pg_catalog.pg_database WHERE datname = current_database()`,
    )
    .get() as { database: number; may: number };
  // Some hosted Postgres services deny this function; copies on two servers are then distinguished by their databases'
  // oids.
  const server =
    allowed === 1
      ? connection.sql("SELECT system_identifier::text AS id FROM pg_catalog.pg_control_system()").get()?.["id"]
      : null;
  return `${instance}:${hash("sha256", JSON.stringify([server, database, schema])).slice(0, 12)}`;
}
