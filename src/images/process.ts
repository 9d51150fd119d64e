/**
 * The process in which files are decoded, one at a time, so that it is known which one it died of. The decoders run on
 * threads of their own; the main thread stays able to end it all.
 */
import { writeFileSync } from "node:fs";
import { messageOf } from "../base/errors.ts";
import type { DecodeLimits, ImageFacts } from "./facts.ts";

export interface InspectOrder {
  path: string;
  limits: DecodeLimits;
}

export type FromInspector =
  | { kind: "ready" }
  /** The decoders cannot be loaded on this machine. */
  | { kind: "broken"; message: string }
  /** Tired: it has used so much memory that another one should go on. */
  | { kind: "facts"; facts: ImageFacts; tired: boolean }
  | { kind: "out_of_memory" };

const LOOK_MS = 20;
const BYTES_PER_MB = 1024 * 1024;

const mostBytes = Number(process.argv[2]) * BYTES_PER_MB;
const send = (message: FromInspector, then?: () => void) => process.send?.(message, undefined, {}, then);

// Ctrl-C and a service manager's stop reach this process, too; when it ends is decided by the one that started it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
// An orderly end would wait for the decoder.
const end = () => process.kill(process.pid, "SIGKILL");
process.on("disconnect", end);
try {
  // Should the machine itself run out of memory, then this process is the one to end.
  writeFileSync("/proc/self/oom_score_adj", "1000");
} catch {
  // Not on this platform.
}

setInterval(() => {
  if (process.memoryUsage.rss() > mostBytes) send({ kind: "out_of_memory" }, end);
}, LOOK_MS);

try {
  const { inspectImage } = await import("./inspect.ts");
  process.on("message", (order: InspectOrder) => {
    void inspectImage(order.path, order.limits).then((facts) =>
      // What one file has taken must not count against the next.
      send({ kind: "facts", facts, tired: process.memoryUsage.rss() > mostBytes / 2 }),
    );
  });
  send({ kind: "ready" });
} catch (error) {
  send({ kind: "broken", message: messageOf(error) }, end);
}
