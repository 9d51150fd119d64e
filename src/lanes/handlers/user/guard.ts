/**
 * The main thread of a handler process. The user's module runs in a worker thread, so that this one can always end the
 * process: when the engine is gone or memory runs out, whatever the module is doing.
 */
import { writeFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { messageOf } from "../../../base/errors.ts";
import type { FromProcess, ToThread } from "./protocol.ts";

const CHECK_MS = 50;
const BYTES_PER_MB = 1024 * 1024;

const [, , module = "", memoryMb = "0"] = process.argv;
const send = (message: FromProcess, then?: () => void) => process.send?.(message, undefined, {}, then);

// Ctrl-C and a service manager's stop reach this process as well; the engine decides when it ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("disconnect", () => process.exit());
try {
  // If the machine runs out of memory, the OOM killer must pick this process, not the engine.
  writeFileSync("/proc/self/oom_score_adj", "1000");
} catch {
  // Not on this platform.
}

let over = false;
function die(reason: Extract<FromProcess, { kind: "died" }>["reason"], message: string): void {
  if (over) return;
  over = true;
  send({ kind: "died", reason, message }, () => process.exit());
}

const worker = new Worker(new URL("./thread.ts", import.meta.url), {
  workerData: { module },
  stdout: true,
  stderr: true,
  resourceLimits: { maxOldGenerationSizeMb: Number(memoryMb) },
});
worker.stdout.resume();
worker.stderr.resume();
worker.on("message", (message: FromProcess) => send(message));
worker.on("error", (error: Error & { code?: string }) => {
  if (error.code === "ERR_WORKER_OUT_OF_MEMORY") outOfMemory();
  else die("handler_threw", messageOf(error));
});
worker.on("exit", () => die("handler_exited", "the handler ended its process"));
process.on("message", (message: ToThread) => worker.postMessage(message));

// Buffers are outside of the heap that V8 limits.
setInterval(() => {
  if (process.memoryUsage.rss() > Number(memoryMb) * BYTES_PER_MB) outOfMemory();
}, CHECK_MS);

function outOfMemory(): void {
  die("handler_out_of_memory", `the handler used more than ${memoryMb} MB of memory`);
}
