/** What a process has done since it started, for `GET /metrics`. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { RunningWorker } from "./app.ts";
import type { Client } from "./client.ts";
import { type Reading, stateReadings } from "./orchestrator/readings.ts";
import { queueOverview } from "./orchestrator/queue/stats.ts";
import type { SettledTask } from "./store/port.ts";
import { without } from "./base/without.ts";

export class WorkMetrics {
  readonly #client: Client;
  readonly #worker: () => RunningWorker | null;
  readonly #begun: number;
  readonly #ended = new Map<string, { labels: Record<string, string>; count: number; ms: number }>();
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

  /** One more attempt has ended. */
  note({ attempt, verdict }: SettledTask): void {
    if (attempt === null) return;
    const labels = {
      strategy: attempt.strategy,
      outcome: verdict.kind,
      failure_code: attempt.failure_code ?? "",
    };
    const key = Object.values(labels).join(" ");
    const entry = this.#ended.get(key) ?? { labels, count: 0, ms: 0 };
    entry.count += 1;
    entry.ms += attempt.duration_ms;
    this.#ended.set(key, entry);
  }

  async read(): Promise<Reading[]> {
    const worker = this.#worker();
    const counts = without(await queueOverview(this.#client, 0), "lanes", "total");
    const delay = this.#delay.percentile(99) / 1e9;
    this.#delay.reset();
    return [
      ...Object.entries(counts).map(([status, value]) => ({
        name: "orb_queue_items",
        help: "Items of the queue, by state.",
        labels: { status },
        value,
      })),
      ...[...this.#ended.values()].map(({ labels, count }) => ({
        name: "orb_attempts_total",
        kind: "counter" as const,
        help: "Attempts that this process has made, by strategy, outcome and failure code.",
        labels,
        value: count,
      })),
      ...[...this.#ended.values()].map(({ labels, ms }) => ({
        name: "orb_attempt_seconds_total",
        kind: "counter" as const,
        help: "Time that these attempts have taken.",
        labels,
        value: ms / 1000,
      })),
      ...(await stateReadings(this.#client)),
      ...this.#client.room.rooms.map(({ what, freeBytes }) => ({
        name: "orb_disk_free_bytes",
        help: "Room on the disk, by what is kept there.",
        labels: { what: what.replace("the ", "") },
        value: freeBytes,
      })),
      { name: "orb_tasks_in_flight", help: "Tasks this process works on.", value: worker?.inFlight ?? 0 },
      { name: "orb_engine", help: "1 when this process is the engine.", value: worker?.role === "engine" ? 1 : 0 },
      {
        name: "orb_paused",
        help: "1 when work waits for a resource.",
        value: (worker?.paused ?? null) === null ? 0 : 1,
      },
      {
        name: "orb_event_loop_delay_p99_seconds",
        help: "How long the process kept others waiting, since the last scrape.",
        value: Number.isFinite(delay) ? delay : 0,
      },
      {
        name: "process_resident_memory_bytes",
        help: "Memory of the process.",
        value: process.memoryUsage.rss(),
      },
      {
        name: "orb_uptime_seconds",
        help: "Since the process started.",
        value: Math.round((this.#client.clock.monotonic() - this.#begun) / 1000),
      },
    ];
  }
}
