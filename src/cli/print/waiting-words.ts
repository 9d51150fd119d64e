import { attemptWords, type LastFailure } from "../../domain/run/last-failure.ts";
import { type WaitReason, WHILE_AT_WORK } from "../../domain/run/waiting.ts";
import { span } from "./progress.ts";

interface Waits {
  reason: WaitReason;
  until: number | string | null;
  /** The server's message, with the numbers. */
  message?: string;
  last_failure?: LastFailure | null;
}

/** Why work waits, for a live line: the time of day is enough. */
export function waitingWords(waits: Waits): string {
  const { until } = waits;
  const time = until === null ? "" : ` until ${new Date(until).toISOString().slice(11, 19)} UTC`;
  return `${wordsOf(waits)}${time}`;
}

/** With the remaining time, which reads faster than a time of day. */
export function waitingLeft(waits: Waits & { until: string | null }, now: number): string {
  const { until } = waits;
  if (until === null) return wordsOf(waits);
  return `${wordsOf(waits)}, ${span(Math.max(0, (Date.parse(until) - now) / 1000))} left`;
}

function wordsOf({ reason, message, last_failure: last = null }: Waits): string {
  const attempt = last === null ? "" : attemptWords(last);
  if (reason === "retry" && attempt !== "") return `waits for ${attempt}`;
  if (reason === "circuit_open" || reason === "rate_limited")
    return `${WORDS[reason]}${attempt === "" ? "" : `, then ${attempt}`}`;
  if (message === undefined || !WHILE_AT_WORK.has(reason)) return WORDS[reason];
  return message.charAt(0).toLowerCase() + message.slice(1);
}

const WORDS: Readonly<Record<WaitReason, string>> = {
  run_paused: "the run is paused",
  turn: "waits for its turn",
  person: "waits for a person",
  previous_run: "waits for the previous run to end",
  proxies: "waits for proxies",
  data_quality: "compares its records with earlier runs",
  no_worker: "no worker is running",
  workers_drained: "all workers are drained",
  worker_paused: "the worker is paused",
  worker_lost: "waits until the lease of a lost worker expires",
  site_paused: "paused",
  circuit_open: "circuit open",
  rate_limited: "rate limited",
  probing: "probing the site",
  depends_on: "waits for the sites it depends on",
  page_limit: "the last pages are in flight on other sites",
  retry: "waits for the next attempt",
  memory: "at its browser memory limit",
  concurrency_key: "at a limit shared with other sites",
  crawl_delay: "at the crawl-delay of its robots.txt",
  min_delay: "at its minimum delay",
  rate: "at its rate limit",
  concurrency: "at its concurrency limit",
};

/**
 * The failure and the next attempt in one line: `bad_response (http_server_error), HTTP 500: …; attempt 2 of 4 in 9 s`.
 */
export function failureWords(last: LastFailure, now: number): string {
  const status = last.http_status === null ? "" : `, HTTP ${last.http_status}`;
  const attempt = attemptWords(last);
  const at = last.next_try_at === null ? null : Date.parse(last.next_try_at);
  const when = at === null ? "" : at <= now ? " as soon as its site allows" : ` in ${span((at - now) / 1000)}`;
  const next = attempt === "" ? "" : `; ${attempt}${when}`;
  return `${last.failure_code} (${last.failure_reason})${status}: ${last.message}${next}`;
}
