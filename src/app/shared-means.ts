/** Checks resources that all processes of a cluster share: files and Redis. Part of the composition root. */
import { isOrbError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Client } from "./context.ts";

type SharedResources = Pick<Client, "store" | "artifacts" | "random">;

const REDIS_MS = 3000;

/** A warning when this process stores its files elsewhere than the others; null: the same place, or not known yet. */
export async function filesApart({ store, artifacts }: Pick<Client, "store" | "artifacts">) {
  const mark = await store.filesMark();
  if (mark === null || (await artifacts.has(mark))) return null;
  return {
    what: `this process stores files in ${artifacts.home}, but the deployment uses another storage, so processes cannot read each other's files`,
    fix: "set APP_ARTIFACTS_URL to the same shared folder or bucket on all machines; if you move files there, move the marker file, too",
  };
}

/** The mark is an ordinary file: it moves along when files are copied elsewhere. */
async function markFiles({ store, artifacts, random }: SharedResources): Promise<void> {
  const writer = artifacts.writer();
  await writer.write(Buffer.from(`files of ${store.instance}: ${random.uuid()}\n`));
  await store.markFiles((await writer.finish()).hash);
}

/** Logs that files are stored apart. In the background: an unreachable store is reported where it is used. */
export async function watchFiles(client: SharedResources & Pick<Client, "cluster">, log: Log): Promise<void> {
  if (client.cluster === null) return;
  try {
    if ((await client.store.filesMark()) === null) await markFiles(client);
    const apart = await filesApart(client);
    if (apart !== null) log.warn(apart.what, { fix: apart.fix });
  } catch {
    // Reported where it is used.
  }
}

/** A worker does not start with such a Redis; an API does, since work is stored while Redis is unavailable. */
export async function watchRedis({ cluster, clock }: Pick<Client, "cluster" | "clock">, log: Log): Promise<void> {
  if (cluster === null) return;
  const { probeRedis } = await import("../engine/bullmq/redis.ts");
  try {
    await probeRedis(cluster.redisUrl, clock, REDIS_MS);
  } catch (error) {
    const hint = isOrbError(error) && error.hint !== undefined ? { fix: error.hint } : {};
    log.warn("Redis cannot be used: new work is accepted, but waits", {
      error: messageOf(error),
      ...hint,
    });
  }
}
