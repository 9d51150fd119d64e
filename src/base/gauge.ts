import { freemem } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";

/** Event-loop lag and memory usage of this process. */
export interface Strain {
  /** Average delay of timers since the last reading. */
  lagMs: number;
  /** Share of the available memory in use: 0 to 1. */
  memory: number;
}

export interface Gauge {
  read(): Strain;
  stop(): void;
}

const RESOLUTION_MS = 50;

/** Measures this process until stopped. */
export function processGauge(): Gauge {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let before = { count: 0, total: 0 };
  return {
    read() {
      // reset() would drop the delay in progress, which under load is the important one.
      const { count } = delays;
      const now = { count, total: count === 0 ? 0 : (delays.mean / 1e6) * count };
      const mean = count === before.count ? 0 : (now.total - before.total) / (count - before.count);
      before = now;
      // The histogram measures the time between ticks, which are this far apart.
      return { lagMs: Math.max(0, mean - RESOLUTION_MS), memory: memoryInUse() };
    },
    stop: () => delays.disable(),
  };
}

/** The higher of heap usage, and of the container's limit or else the machine's memory. */
function memoryInUse(): number {
  const { used_heap_size: heap, heap_size_limit: heapLimit } = getHeapStatistics();
  const rss = process.memoryUsage.rss();
  const limit = process.constrainedMemory();
  const free = freemem();
  const machine = rss / (rss + free);
  // Without a limit the platform reports 0, or a number beyond any machine.
  return Math.max(heap / heapLimit, machine, limit > 0 && limit < Number.MAX_SAFE_INTEGER ? rss / limit : 0);
}
