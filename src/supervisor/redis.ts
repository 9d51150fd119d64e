import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { harmlessEnvironment } from "../base/machine.ts";
import { requireRedis } from "./programs.ts";
import { pingRedis, redisTarget } from "./redis-wire.ts";
import type { ServiceKind } from "./service-kind.ts";

/** A Redis of our own: on this machine only, with a password, and everything that it confirmed on the disk. */
export const redis: ServiceKind = {
  name: "redis",
  defaultPort: 6390,
  program: "redis-server",
  require: requireRedis,
  folderOf: (folder) => join(folder, "data"),
  isMain: () => true,
  async prepare({ folder, port, password }) {
    const data = join(folder, "data");
    mkdirSync(data, { recursive: true, mode: 0o700 });
    const config = join(folder, "redis.conf");
    // The password stands in the file and not among the arguments, which every user of the machine can read.
    writeFileSync(config, configText({ port, password, data }), { mode: 0o600 });
    return { file: requireRedis(), args: [config], cwd: data, env: harmlessEnvironment() };
  },
  urlOf: ({ port, password }) => `redis://:${password}@127.0.0.1:${port}`,
  target: (url) => redisTarget(url),
  configured: (config) => config.redisUrl,
  startableAt: (url) => !redisTarget(url).tls && redisTarget(url).user === null,
  async check(url, timeoutMs) {
    await pingRedis(redisTarget(url), timeoutMs).catch((error: unknown) => {
      // While it reads its files it answers LOADING.
      if (error instanceof Error && error.message.startsWith("LOADING")) throw Object.assign(error, { starting: true });
      throw error;
    });
    return "answers PING";
  },
  stopSteps: [{ signal: "SIGTERM", waitMs: 15_000 }],
  atOnce: "SIGKILL",
};

function configText(options: { port: number; password: string; data: string }): string {
  return [
    "# Written by orb up at every start: changes are lost.",
    "bind 127.0.0.1",
    `port ${options.port}`,
    `requirepass ${options.password}`,
    `dir ${JSON.stringify(options.data)}`,
    "daemonize no",
    "supervised no",
    "appendonly yes",
    'save ""',
    "maxmemory-policy noeviction",
    "",
  ].join("\n");
}
