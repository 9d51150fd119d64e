import type { WaitReason } from "../domain/waiting.ts";
import { span } from "./progress.ts";

/** Why work waits, for a line that is read now: the time of day is enough. */
export function waitingWords({ reason, until }: { reason: WaitReason; until: number | string | null }): string {
  const time = until === null ? "" : ` until ${new Date(until).toISOString().slice(11, 19)} UTC`;
  return `${WORDS[reason]}${time}`;
}

/** How long it takes still is read faster than a time of day. */
export function waitingLeft({ reason, until }: { reason: WaitReason; until: string | null }, now: number): string {
  if (until === null) return WORDS[reason];
  return `${WORDS[reason]}, ${span(Math.max(0, (Date.parse(until) - now) / 1000))} left`;
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
  crawl_delay: "pauses between requests, as its robots.txt asks",
  min_delay: "pauses between requests",
  rate: "at its rate limit",
  concurrency: "at its limit",
};
