/** Metrics of workers, as they report them. */
import type { WorkerHeartbeat, WorkerRecord } from "../../store/ports/worker-port.ts";
import { WAIT_BUCKETS_S } from "../../domain/lane/rate-limit-wait.ts";
import { counter, gauge, histogram, type Reading } from "../reading.ts";
import { WORKER_COUNTS, countWorkers } from "./worker-availability.ts";

/** Figures of an ended worker are exported until every scraper has surely read them. */
const REPORTED_AFTER_END_MS = 10 * 60_000;

export function workerReadings(workers: readonly WorkerRecord[], now: number): Reading[] {
  const live = workers.filter(({ state }) => state !== "stopped" && state !== "lost");
  const recent = workers.filter(
    (one) => live.includes(one) || now - (one.stoppedAt ?? one.heartbeatAt) < REPORTED_AFTER_END_MS,
  );
  const counts = countWorkers(workers);
  return [
    ...gauge(
      "orb_workers",
      "Workers by state. standby: takes over when the active worker is gone; lost: in the last day.",
      WORKER_COUNTS.map((state) => [{ state }, counts[state]]),
    ),
    ...workerFigures(live, recent),
  ];
}

type WorkerFigures = WorkerHeartbeat & Pick<WorkerRecord, "id">;

/** Figures that workers report; of ended ones, their totals. */
export function workerFigures(live: readonly WorkerFigures[], recent: readonly WorkerFigures[] = live): Reading[] {
  const ofLive = (read: (worker: WorkerFigures) => number) =>
    live.map((worker) => [{ worker: worker.id }, read(worker)] as const);
  return [
    ...gauge(
      "orb_tasks_in_flight",
      "Tasks in flight per worker.",
      ofLive(({ inFlight }) => inFlight),
    ),
    ...gauge(
      "orb_engine",
      "1 if this worker executes tasks, 0 if it is a standby.",
      ofLive(({ role }) => Number(role === "engine")),
    ),
    ...gauge(
      "orb_paused",
      "1 if this worker waits for a resource.",
      ofLive(({ paused }) => Number(paused !== null)),
    ),
    ...gauge(
      "orb_worker_memory_bytes",
      "Memory of a worker and its browsers.",
      ofLive(({ memoryBytes }) => memoryBytes),
    ),
    ...counter(
      "orb_tasks_ended_total",
      "Tasks that ended per worker, by outcome.",
      recent.flatMap(({ id: worker, completed, failed }) => [
        [{ worker, outcome: "completed" }, completed] as const,
        [{ worker, outcome: "failed" }, failed] as const,
      ]),
    ),
    ...attemptReadings(recent),
    ...histogram(
      "orb_rate_limit_wait_seconds",
      "Time that sites with work waited for their limits, by reason.",
      WAIT_BUCKETS_S,
      recent.flatMap(({ id: worker, waits = [] }) =>
        waits.map(({ reason, buckets, sumMs, count }) => {
          return { labels: { worker, reason }, buckets, sum: sumMs / 1000, count };
        }),
      ),
    ),
    ...browserReadings(live),
    ...llmReadings(recent),
  ];
}

/** Only where there are remote browsers. */
function browserReadings(workers: readonly WorkerFigures[]): Reading[] {
  const all = workers.flatMap(({ id: worker, browsers = [] }) =>
    browsers.map((one) => ({ labels: { worker, browser: one.name }, ...one })),
  );
  return [
    ...gauge(
      "orb_remote_browser_up",
      "1 if this worker can use this browser of APP_BROWSER_URL.",
      all.map(({ labels, state }) => [labels, Number(state === "up")]),
    ),
    ...gauge(
      "orb_remote_browser_pages",
      "Pages of this worker that are open in this browser of APP_BROWSER_URL.",
      all.map(({ labels, pages }) => [labels, pages]),
    ),
  ];
}

/** Only where there is a model. */
function llmReadings(workers: readonly WorkerFigures[]): Reading[] {
  const asked = workers.flatMap(({ id: worker, llm }) => (llm === undefined ? [] : [{ worker, ...llm }]));
  return [
    ...counter(
      "orb_llm_calls_total",
      "Calls to the model at APP_LLM_URL, by outcome.",
      asked.flatMap(({ worker, calls }) => [
        [{ worker, outcome: "ok" }, calls.ok] as const,
        [{ worker, outcome: "failed" }, calls.failed] as const,
      ]),
    ),
    ...counter(
      "orb_llm_tokens_total",
      "Tokens used by these calls, as counted by the endpoint.",
      asked.flatMap(({ worker, promptTokens, completionTokens }) => [
        [{ worker, kind: "prompt" }, promptTokens] as const,
        [{ worker, kind: "completion" }, completionTokens] as const,
      ]),
    ),
  ];
}

function attemptReadings(workers: readonly WorkerFigures[]): Reading[] {
  const all = workers.flatMap(({ id: worker, attempts }) =>
    attempts.map(({ strategy, outcome, failureCode, count, ms }) => {
      return { labels: { worker, strategy, outcome, failure_code: failureCode ?? "" }, count, ms };
    }),
  );
  return [
    ...counter(
      "orb_attempts_total",
      "Attempts per worker, by strategy, outcome and failure code.",
      all.map(({ labels, count }) => [labels, count]),
    ),
    ...counter(
      "orb_attempt_seconds_total",
      "Duration of these attempts.",
      all.map(({ labels, ms }) => [labels, ms / 1000]),
    ),
  ];
}
