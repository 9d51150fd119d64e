/** `orb migrate`. Part of the composition root, because it knows all databases. */
import { systemClock } from "../../base/clock.ts";
import { requireSqlite } from "../context.ts";
import { clusterOf } from "../cluster.ts";
import type { Config } from "../../config/options.ts";
import type { CopyProgress, CopyReport } from "../../store/copy/copy.ts";

interface Migrated {
  from: number;
  to: number;
  applied: string[];
}

export async function migrateDatabase(config: Config): Promise<Migrated> {
  const cluster = await clusterOf(config);
  if (cluster !== null) {
    const { migratePostgres } = await import("../../store/postgres/store.ts");
    return migratePostgres({ url: cluster.databaseUrl, clock: systemClock });
  }
  const { SqliteConnection } = await import("../../store/sqlite/connection.ts");
  const { migrate } = await import("../../store/sqlite/migrate.ts");
  const connection = new SqliteConnection(requireSqlite(config));
  try {
    return migrate(connection);
  } finally {
    connection.close();
  }
}

export async function copyDatabaseTo(
  config: Config,
  url: string,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopyReport> {
  const { copyToPostgres } = await import("../../store/copy/copy.ts");
  return copyToPostgres({ path: requireSqlite(config), url, clock: systemClock, onProgress });
}
