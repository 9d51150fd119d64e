/** A server in a separate process, so that only its own work blocks its event loop; reports the longest turn. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import { startServer } from "../../src/app/server.ts";

const dir = mkdtempSync(join(tmpdir(), "orb-bench-"));
const env = { APP_PORT: "0", APP_ALLOW_PRIVATE_NETWORKS: "true", APP_SHUTDOWN_GRACE_SECONDS: "0" };
const server = await startServer(loadConfig({ cwd: dir, env }).config, silentLog, { version: "bench", worker: true });

/** CPU time of this thread, without other processes of the machine. */
const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

let longestMs = 0;
let watching = false;

function watchTurns(before: number): void {
  const now = cpuMs();
  longestMs = Math.max(longestMs, now - before);
  if (watching) setImmediate(watchTurns, now);
}

process.on("message", (message: "begin" | "end" | "stop") => {
  if (message === "begin") {
    [longestMs, watching] = [0, true];
    setImmediate(watchTurns, cpuMs());
    process.send?.("begun");
  } else if (message === "end") {
    watching = false;
    setImmediate(() => process.send?.(longestMs));
  } else
    void server.stop().then(() => {
      rmSync(dir, { recursive: true, force: true });
      process.exit(0);
    });
});
process.send?.(server.url);
