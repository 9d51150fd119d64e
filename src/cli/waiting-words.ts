import { type WaitReason, WHILE_AT_WORK } from "../domain/waiting.ts";
import { span } from "./progress.ts";

interface Waits {
  reason: WaitReason;
  until: number | string | null;
  /** The server's sentence: it has the numbers. */
  message?: string;
}

/** Why work waits, for a line that is read now: the time of day is enough. */
export function waitingWords(waits: Waits): string {
  const { until } = waits;
  const time = until === null ? "" : ` until ${new Date(until).toISOString().slice(11, 19)} UTC`;
  return `${wordsOf(waits)}${time}`;
}

/** How long it takes still is read faster than a time of day. */
export function waitingLeft(waits: Waits & { until: string | null }, now: number): string {
  const { until } = waits;
  if (until === null) return wordsOf(waits);
  return `${wordsOf(waits)}, ${span(Math.max(0, (Date.parse(until) - now) / 1000))} left`;
}

function wordsOf({ reason, message }: Waits): string {
  if (message === undefined || !WHILE_AT_WORK.has(reason)) return WORDS[reason];
  return message.charAt(0).toLowerCase() + message.slice(1);
}

const WORDS: Readonly<Record<WaitReason, string>> = {
  run_paused: "the run is paused",
  turn: "waits for its turn",
  person: "waits for a person",
  previous_run: "waits for the end of the run before",
  proxies: "waits for proxies",
  no_worker: "no worker runs",
  workers_drained: "all workers are drained",
  worker_paused: "the worker pauses",
  site_paused: "paused",
  circuit_open: "breaker open",
  rate_limited: "asked to wait",
  probing: "tries whether it answers again",
  depends_on: "waits for the sites it depends on",
  page_limit: "the last pages are under way elsewhere",
  retry: "waits to try again",
  memory: "at its share of the browser's memory",
  crawl_delay: "paced, as its robots.txt asks",
  min_delay: "paced",
  rate: "at its rate limit",
  concurrency: "at its limit",
};
