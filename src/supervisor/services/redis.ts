import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { harmlessEnvironment } from "../../base/machine.ts";
import { replaceFile } from "../../base/files/whole-file.ts";
import { isLoopback } from "../../config/loopback.ts";
import { requireRedis } from "./programs.ts";
import { pingRedis, redisTarget } from "./redis-wire.ts";
import type { ServiceKind } from "./service-kind.ts";

/** A managed Redis: on this machine only, with a password, and all acknowledged writes on disk. */
export const redis: ServiceKind = {
  name: "redis",
  defaultPort: 6390,
  program: "redis-server",
  require: requireRedis,
  folderOf: (folder) => join(folder, "data"),
  isMain: () => true,
  portIn: (folder) => {
    try {
      return Number(/^port (\d+)$/m.exec(readFileSync(configFile(folder), "utf8"))?.[1]) || null;
    } catch {
      return null;
    }
  },
  async prepare({ folder, host, port, password }) {
    const data = join(folder, "data");
    mkdirSync(data, { recursive: true, mode: 0o700 });
    const config = configFile(folder);
    // The password is in the file, not in the arguments, which every user of the machine can read.
    replaceFile(config, configText({ host, port, password, data }), { mode: 0o600 });
    return { file: requireRedis(), args: [config], cwd: data, env: harmlessEnvironment() };
  },
  urlOf: ({ port, password }) => `redis://:${password}@127.0.0.1:${port}`,
  target: (url) => redisTarget(url),
  configured: (config) => config.redisUrl,
  settingsFor(url) {
    const { host, port, password, user, tls } = redisTarget(url);
    if (tls || user !== null || !isLoopback(host)) return null;
    return { host: host === "localhost" ? "127.0.0.1" : host, port, password: password ?? "" };
  },
  async check(url, timeoutMs) {
    await pingRedis(redisTarget(url), timeoutMs).catch((error: unknown) => {
      // While it loads its files it answers LOADING.
      if (error instanceof Error && error.message.startsWith("LOADING")) throw Object.assign(error, { starting: true });
      throw error;
    });
    return "answers PING";
  },
  stopSteps: [{ signal: "SIGTERM", waitMs: 15_000 }],
  atOnce: "SIGKILL",
};

const configFile = (folder: string) => join(folder, "redis.conf");

function configText(options: { host: string; port: number; password: string; data: string }): string {
  return [
    "# Written by orb up at every start: changes are lost.",
    `bind ${options.host}`,
    `port ${options.port}`,
    ...(options.password === "" ? [] : [`requirepass ${quoted(options.password)}`]),
    `dir ${quoted(options.data)}`,
    "daemonize no",
    "supervised no",
    "appendonly yes",
    'save ""',
    "maxmemory-policy noeviction",
    "",
  ].join("\n");
}

/** In Redis's quoting; special characters as bytes. */
function quoted(text: string): string {
  const bytes = [...Buffer.from(text)].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c
      ? `\\x${byte.toString(16).padStart(2, "0")}`
      : String.fromCharCode(byte),
  );
  return `"${bytes.join("")}"`;
}
