import { systemClock } from "../../src/base/clock.ts";
import { processGauge } from "../../src/base/gauge.ts";
import { silentLog } from "../../src/base/log.ts";
import { mayBeAlive, ownIdentity } from "../../src/base/machine.ts";
import { systemRandom } from "../../src/base/random.ts";
import { EmbeddedEngine } from "../../src/engine/embedded/engine.ts";
import { createLink, socketPath, watchEngine } from "../../src/engine/embedded/link.ts";
import type { TaskHandler } from "../../src/lanes/handlers/handler.ts";
import type { LaneRules } from "../../src/lanes/rules.ts";
import { LaneWorker } from "../../src/lanes/worker.ts";
import type { Store } from "../../src/store/ports/port.ts";

export const BENCH_RULES: LaneRules = {
  maxPerSite: 50,
  minDelayMs: 0,
  breaker: { failures: 5, cooldownMs: 300_000 },
  retry: {
    backoff: { baseMs: 10_000, maxMs: 300_000 },
    maxAttempts: 3,
    retryAfterMaxMs: 3_600_000,
    rateLimitMaxWaits: 5,
  },
  maxPerResolver: {},
};

/** The product's engine and worker on a store, with a handler of the benchmark. */
export async function startEngine(
  store: Store,
  path: string,
  handler: TaskHandler,
  onEnded: (count: number) => void,
  maxWorkers = 64,
): Promise<EmbeddedEngine> {
  const worker = new LaneWorker({
    store,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    rules: BENCH_RULES,
    handlers: () => handler,
    maxWorkers,
    gauge: processGauge(),
    probeRoom: async () => {},
    onOpened: (lanes) => engine.offer(lanes),
    onSettled: (settled) => onEnded(settled.ended.length),
  });
  const engine: EmbeddedEngine = new EmbeddedEngine({
    store,
    host: worker,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    identity: ownIdentity(),
    mayBeAlive,
    link: createLink(socketPath(path)),
    watch: watchEngine,
    leaseTtlMs: 60_000,
    heartbeatMs: 15_000,
    graceMs: 1000,
    maxActiveLanes: 32,
  });
  await engine.start();
  return engine;
}
