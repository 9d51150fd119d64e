/** Locates the database and the Redis of a cluster. Part of the composition root. */
import { OrbError } from "../base/errors.ts";
import type { Config } from "../config/options.ts";

export interface Cluster {
  databaseUrl: string;
  redisUrl: string;
}

/** Null: SQLite, where one process works and needs nothing else. */
export async function clusterOf(config: Config): Promise<Cluster | null> {
  const { database } = config;
  if (database.kind === "sqlite") return null;
  return {
    databaseUrl: database.kind === "postgres" ? database.url : await managedUrl(config, "postgres"),
    redisUrl: config.redisUrl ?? (await managedUrl(config, "redis")),
  };
}

/** Prefix of a deployment's keys in Redis: the braces keep them in one slot of a Redis cluster. */
export function redisPrefix({ deployment }: { deployment: string }): string {
  return `{orb:${deployment}}`;
}

/** The supervisor wrote down where it listens. */
async function managedUrl(config: Config, name: "postgres" | "redis"): Promise<string> {
  const { serviceFolder, SERVICES } = await import("../supervisor/services/services.ts");
  const { servicePassword } = await import("../supervisor/services/password.ts");
  const folder = serviceFolder(config, name);
  const port = SERVICES[name].portIn(folder);
  if (port !== null) return SERVICES[name].urlOf({ port, password: servicePassword(folder) });
  const variable = name === "postgres" ? "APP_DATABASE_URL" : "APP_REDIS_URL";
  throw new OrbError("service_unavailable", `the managed ${name} of ${config.dataDir} is not running`, {
    hint: `Start it with orb up, or set ${variable} to the URL of a running ${name}.`,
    fields: [{ path: variable, message: `expected the URL of a running ${name}, or orb up must be running` }],
  });
}
