import { hash } from "node:crypto";
import type { PostgresConnection } from "./connection.ts";

/**
 * The instance, and what the server itself says of where it is: copies of one database (copied twice, or dumped and
 * restored) have the same instance, and the addresses by which one server is known may differ between machines.
 */
export function deploymentOf(connection: PostgresConnection, instance: string, schema: string): string {
  const { database, may } = connection
    .sql(
      `SELECT oid AS database, has_function_privilege('pg_catalog.pg_control_system()', 'execute') AS may
       FROM pg_catalog.pg_database WHERE datname = current_database()`,
    )
    .get() as { database: number; may: number };
  // Some who host a Postgres keep it for themselves; then copies on two servers are told apart by their databases' numbers.
  const server =
    may === 1
      ? connection.sql("SELECT system_identifier::text AS id FROM pg_catalog.pg_control_system()").get()?.["id"]
      : null;
  return `${instance}:${hash("sha256", JSON.stringify([server, database, schema])).slice(0, 12)}`;
}
