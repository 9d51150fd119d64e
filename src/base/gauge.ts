import { freemem } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";

/** How hard this process has it. */
export interface Strain {
  /** How late timers have come since the last look, on average. */
  lagMs: number;
  /** How much of the memory that it may have it uses: 0 to 1. */
  memory: number;
}

export interface Gauge {
  read(): Strain;
  stop(): void;
}

const RESOLUTION_MS = 50;

/** Measures this process, until it is stopped. */
export function processGauge(): Gauge {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let before = { count: 0, total: 0 };
  return {
    read() {
      // Its reset() would forget the delay that is under way, which under strain is the one that counts.
      const { count } = delays;
      const now = { count, total: count === 0 ? 0 : (delays.mean / 1e6) * count };
      const mean = count === before.count ? 0 : (now.total - before.total) / (count - before.count);
      before = now;
      // Measured is the time between two ticks, which are meant to be so far apart.
      return { lagMs: Math.max(0, mean - RESOLUTION_MS), memory: memoryInUse() };
    },
    stop: () => delays.disable(),
  };
}

/** Of the heap, and of a container's limit or else of what the machine has left; whichever is nearer to its end. */
function memoryInUse(): number {
  const { used_heap_size: heap, heap_size_limit: heapLimit } = getHeapStatistics();
  const rss = process.memoryUsage.rss();
  const limit = process.constrainedMemory();
  const free = freemem();
  const machine = rss / (rss + free);
  // Without a limit the platform says 0, or a number that no machine has.
  return Math.max(heap / heapLimit, machine, limit > 0 && limit < Number.MAX_SAFE_INTEGER ? rss / limit : 0);
}
