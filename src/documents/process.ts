/**
 * The process that reads documents. A thread does the work, so that the main thread can measure the memory and end the
 * process whatever the thread does.
 */
import { writeFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { ReadOrder, ReadOutcome } from "./thread.ts";

export type FromReaderProcess =
  | { kind: "ready" }
  /** `recycle`: the process has grown and should be replaced. */
  | { kind: "outcome"; outcome: ReadOutcome; recycle: boolean };

const MEMORY_CHECK_MS = 50;
const BYTES_PER_MB = 1024 * 1024;
/** Of the memory for objects: the file itself is there several times, and Node takes its share. */
const HEAP_SHARE = 0.65;

const maxMb = Number(process.argv[2]);
const maxBytes = maxMb * BYTES_PER_MB;
const send = (message: FromReaderProcess, then?: () => void) => process.send?.(message, undefined, {}, then);
const end = () => process.kill(process.pid, "SIGKILL");
const tooLarge = () => {
  const message = `reading the document needs more than ${maxMb} MB of memory`;
  send({ kind: "outcome", outcome: { kind: "problem", problem: "document_too_large", message }, recycle: true }, end);
};

// Ctrl-C and a service manager's stop signal the whole process group; the parent decides when this process ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("disconnect", end);
try {
  // If the machine runs out of memory, the kernel kills this process first.
  writeFileSync("/proc/self/oom_score_adj", "1000");
} catch {
  // Not on this platform.
}

const watch = setInterval(() => {
  if (process.memoryUsage.rss() <= maxBytes) return;
  clearInterval(watch);
  tooLarge();
}, MEMORY_CHECK_MS);

const thread = new Worker(new URL("./thread.ts", import.meta.url), {
  resourceLimits: { maxOldGenerationSizeMb: Math.max(64, Math.round(maxMb * HEAP_SHARE)) },
  // What libraries print about damaged files helps nobody.
  stdout: true,
  stderr: true,
});
thread.on("online", () => send({ kind: "ready" }));
thread.on("message", (outcome: ReadOutcome) => {
  const isBroken = outcome.kind === "problem" && outcome.isBroken === true;
  // Memory of this file must not count against the next one.
  send({ kind: "outcome", outcome, recycle: isBroken || process.memoryUsage.rss() > maxBytes / 2 });
});
thread.on("error", (error: Error & { code?: string }) => {
  if (error.code === "ERR_WORKER_OUT_OF_MEMORY") tooLarge();
  else end();
});
process.on("message", (order: ReadOrder) => thread.postMessage(order));
