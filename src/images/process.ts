/**
 * The decoder process. Decodes one file at a time, so that a crash identifies its file. The decoders run on their own
 * threads; the main thread can always end the process.
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
  /** `recycle`: the process has grown too large and should be replaced. */
  | { kind: "facts"; facts: ImageFacts; recycle: boolean }
  | { kind: "out_of_memory" };

const MEMORY_CHECK_MS = 20;
const BYTES_PER_MB = 1024 * 1024;

const maxBytes = Number(process.argv[2]) * BYTES_PER_MB;
const send = (message: FromInspector, then?: () => void) => process.send?.(message, undefined, {}, then);

// Ctrl-C and a service manager's stop signal the whole process group; the parent decides when this process ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
// A regular exit would wait for the decoder.
const end = () => process.kill(process.pid, "SIGKILL");
process.on("disconnect", end);
try {
  // If the machine runs out of memory, the kernel kills this process first.
  writeFileSync("/proc/self/oom_score_adj", "1000");
} catch {
  // Not on this platform.
}

setInterval(() => {
  if (process.memoryUsage.rss() > maxBytes) send({ kind: "out_of_memory" }, end);
}, MEMORY_CHECK_MS);

try {
  const { inspectImage } = await import("./inspect.ts");
  process.on("message", (order: InspectOrder) => {
    void inspectImage(order.path, order.limits).then((facts) =>
      // Memory of this file must not count against the next one.
      send({ kind: "facts", facts, recycle: process.memoryUsage.rss() > maxBytes / 2 }),
    );
  });
  send({ kind: "ready" });
} catch (error) {
  send({ kind: "broken", message: messageOf(error) }, end);
}
