import { type Config, OPTIONS } from "../config/options.ts";

/** Where a process stores its data, for its log: without credentials. */
export function storageOf({ database, artifacts }: Config): { database: string; files: string } {
  return { database: databaseLocation(database), files: OPTIONS.artifacts.type.format(artifacts) };
}

function databaseLocation(database: Config["database"]): string {
  if (database.kind === "sqlite") return database.path;
  if (database.kind === "managed") return OPTIONS.database.type.format(database);
  const { host, pathname, searchParams } = new URL(database.url);
  const schema = searchParams.get("schema");
  return `postgres://${host}${pathname}${schema === null ? "" : `?schema=${schema}`}`;
}
