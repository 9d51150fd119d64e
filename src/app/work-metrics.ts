/** The samples of `GET /metrics`. Part of the composition root, because a worker may be in the same process. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { RunningWorker } from "./worker.ts";
import type { Client } from "./context.ts";
import { isOrbError } from "../base/errors.ts";
import { without } from "../base/without.ts";
import { gauge, type Reading } from "../orchestrator/reading.ts";
import { stateReadings } from "../orchestrator/readings.ts";
import { queueOverview } from "../orchestrator/queue/stats.ts";
import { workerFigures, workerReadings } from "../orchestrator/workers/worker-readings.ts";
import { knownWorkers } from "./own-worker.ts";
import { StageGauge, type Stages } from "./stage-gauge.ts";

/** The default scrape timeout of Prometheus is ten seconds. */
const DATABASE_MS = 5000;

export class WorkMetrics {
  readonly #client: Client;
  readonly #worker: () => RunningWorker | null;
  readonly #begun: number;
  readonly #delay = monitorEventLoopDelay({ resolution: 20 });
  readonly #stages: StageGauge;
  #asked: Promise<Reading[]> | null = null;

  constructor(
    client: Client,
    worker: () => RunningWorker | null,
    { reader, maxInFlight }: Pick<Stages, "reader" | "maxInFlight">,
  ) {
    this.#client = client;
    this.#worker = worker;
    this.#stages = new StageGauge(client.clock, { reader, inFlight: () => worker()?.inFlight ?? 0, maxInFlight });
    this.#begun = client.clock.monotonic();
    this.#delay.enable();
  }

  stop(): void {
    this.#delay.disable();
  }

  /** While the database is unavailable, only the metrics of this process: enough for an alert. */
  async read(): Promise<Reading[]> {
    const { clock, diskSpace } = this.#client;
    const known = await this.#known();
    const delay = this.#delay.percentile(99) / 1e9;
    this.#delay.reset();
    return [
      {
        name: "orb_database_up",
        help: "1 when the database answers; while it is 0, only metrics of this process are exported.",
        value: Number(known !== null),
      },
      ...(known ?? (await this.#ownReadings())),
      ...gauge(
        "orb_disk_free_bytes",
        "Free disk space, by what is stored there.",
        diskSpace.spaces.map(({ what, freeBytes }) => [{ what: what.replace("the ", "") }, freeBytes]),
      ),
      {
        name: "orb_event_loop_delay_p99_seconds",
        help: "Event loop delay of the responding process since the last scrape.",
        value: Number.isFinite(delay) ? delay : 0,
      },
      ...this.#stages.read(),
      {
        name: "orb_database_conflicts_total",
        help: "Transactions of the responding process that conflicted with others and were executed again.",
        kind: "counter",
        value: this.#client.store.conflicts?.() ?? 0,
      },
      {
        name: "process_resident_memory_bytes",
        help: "Memory of the responding process.",
        value: process.memoryUsage.rss(),
      },
      {
        name: "orb_uptime_seconds",
        help: "Uptime of the responding process.",
        value: Math.round((clock.monotonic() - this.#begun) / 1000),
      },
    ];
  }

  /** Metrics from the database; null: unavailable, or too slow. */
  async #known(): Promise<Reading[] | null> {
    const late = Promise.withResolvers<null>();
    const timer = this.#client.clock.after(DATABASE_MS, () => late.resolve(null));
    try {
      // Scrapes share one pending query: a hanging database is not queried by each of them.
      this.#asked ??= this.#ask().finally(() => (this.#asked = null));
      return await Promise.race([this.#asked, late.promise]);
    } catch (error) {
      if (isOrbError(error, "database_unavailable") || isOrbError(error, "database_busy")) return null;
      throw error;
    } finally {
      timer.cancel();
    }
  }

  async #ask(): Promise<Reading[]> {
    const counts = without(await queueOverview(this.#client, 0), "lanes", "total");
    return [
      ...gauge(
        "orb_queue_items",
        "Items of the queue, by state.",
        Object.entries(counts).map(([status, value]) => [{ status }, value]),
      ),
      ...(await stateReadings(this.#client)),
      ...workerReadings(await knownWorkers(this.#client, this.#worker()), this.#client.clock.now()),
    ];
  }

  async #ownReadings(): Promise<Reading[]> {
    const worker = this.#worker();
    return worker === null ? [] : workerFigures([{ id: worker.workerId, ...(await worker.heartbeat()) }]);
  }
}
