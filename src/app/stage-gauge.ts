/** How busy the stages of this process are, and which of them limits its throughput. Part of the metrics. */
import { performance } from "node:perf_hooks";
import type { Clock } from "../base/clock.ts";
import type { PageReader } from "../extract/pool.ts";
import { gauge, type Reading } from "../orchestrator/reading.ts";

export interface Stages {
  /** Null: not started. */
  reader(): Pick<PageReader, "busy"> | null;
  inFlight(): number;
  maxInFlight: number;
}

/** A stage with a smaller share has room. */
const FULL = 0.8;

export class StageGauge {
  readonly #clock: Clock;
  readonly #stages: Stages;
  #loop = performance.eventLoopUtilization();
  #at: number;
  #busyMs = 0;

  constructor(clock: Clock, stages: Stages) {
    this.#clock = clock;
    this.#stages = stages;
    this.#at = clock.monotonic();
  }

  /** Since the last reading. */
  read(): Reading[] {
    const busy = Object.entries({
      main_thread: this.#mainThread(),
      reading_threads: this.#readingThreads(),
      task_slots: this.#stages.inFlight() / this.#stages.maxInFlight,
    });
    const [[fullest, share]] = busy.toSorted(([, a], [, b]) => b - a) as [[string, number]];
    const bottleneck = share >= FULL ? fullest : "none";
    return [
      ...gauge(
        "orb_stage_busy_ratio",
        "Share of the time since the last scrape in which a stage of the responding process was busy, 0 to 1; task_slots: share in use now.",
        busy.map(([stage, value]) => [{ stage }, value]),
      ),
      ...gauge(
        "orb_bottleneck",
        "1 for the stage that limits the throughput of the responding process; none: the sites and their limits do.",
        [...busy.map(([stage]) => stage), "none"].map((stage) => [{ stage }, Number(stage === bottleneck)]),
      ),
    ];
  }

  #mainThread(): number {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#loop);
    this.#loop = now;
    return utilization;
  }

  #readingThreads(): number {
    const { ms, threads } = this.#stages.reader()?.busy() ?? { ms: 0, threads: 1 };
    const now = this.#clock.monotonic();
    const share = (ms - this.#busyMs) / Math.max(1, (now - this.#at) * threads);
    [this.#at, this.#busyMs] = [now, ms];
    return Math.max(0, Math.min(1, share));
  }
}
