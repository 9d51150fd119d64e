/** The numbers of `GET /metrics`. Part of the composition root, because a worker may be in the same process. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { RunningWorker } from "./app.ts";
import type { Client } from "./client.ts";
import { gauge, type Reading } from "./orchestrator/reading.ts";
import { stateReadings } from "./orchestrator/readings.ts";
import { queueOverview } from "./orchestrator/queue/stats.ts";
import { workerReadings } from "./orchestrator/worker-readings.ts";
import { without } from "./base/without.ts";
import { knownWorkers } from "./own-worker.ts";

export class WorkMetrics {
  readonly #client: Client;
  readonly #worker: () => RunningWorker | null;
  readonly #begun: number;
  readonly #delay = monitorEventLoopDelay({ resolution: 20 });

  constructor(client: Client, worker: () => RunningWorker | null) {
    this.#client = client;
    this.#worker = worker;
    this.#begun = client.clock.monotonic();
    this.#delay.enable();
  }

  stop(): void {
    this.#delay.disable();
  }

  async read(): Promise<Reading[]> {
    const { clock, room } = this.#client;
    const counts = without(await queueOverview(this.#client, 0), "lanes", "total");
    const workers = await knownWorkers(this.#client, this.#worker());
    const delay = this.#delay.percentile(99) / 1e9;
    this.#delay.reset();
    return [
      ...gauge(
        "orb_queue_items",
        "Items of the queue, by state.",
        Object.entries(counts).map(([status, value]) => [{ status }, value]),
      ),
      ...(await stateReadings(this.#client)),
      ...workerReadings(workers, clock.now()),
      ...gauge(
        "orb_disk_free_bytes",
        "Room on the disk, by what is kept there.",
        room.rooms.map(({ what, freeBytes }) => [{ what: what.replace("the ", "") }, freeBytes]),
      ),
      {
        name: "orb_event_loop_delay_p99_seconds",
        help: "How long the process that answers kept others waiting, since the last scrape.",
        value: Number.isFinite(delay) ? delay : 0,
      },
      {
        name: "process_resident_memory_bytes",
        help: "Memory of the process that answers.",
        value: process.memoryUsage.rss(),
      },
      {
        name: "orb_uptime_seconds",
        help: "Since the process that answers started.",
        value: Math.round((clock.monotonic() - this.#begun) / 1000),
      },
    ];
  }
}
