/** Why something waits, and when it goes on, in two parts that stand beside each other. */
import { relativeTime } from "./format.ts";

export interface Waits {
  reason?: string;
  message: string;
  until: string | null;
}

/** These slow a site down while it is at work. */
export const PACING: ReadonlySet<string> = new Set(["concurrency", "rate", "min_delay", "crawl_delay"]);

/** False of what is only paced: it is at work, with pauses. */
export function isHeld(waits: { reason: string } | null): boolean {
  return waits !== null && !PACING.has(waits.reason);
}

/** Sentences of the server name times exactly; beside one that says "in 4 min" that is once too often. */
export function withoutTime(message: string): string {
  return message.replace(/,? (?:until|at) \d{4}-\d\d-\d\d[ T][\d:.]+(?: UTC|Z)/, "");
}

/** How the time is named, by what it waits for. */
const WHEN: Readonly<Record<string, string>> = {
  circuit_open: "next probe",
  rate_limited: "retries",
  retry: "retries",
  run: "retries",
  step_time: "continues",
};

/** "next probe in 4 min", "next in 3 s", "retries in 10 s"; null: it is no matter of time, or the time has come. */
export function whenWords({ reason = "", until }: Waits, now: number): string | null {
  if (until === null) return null;
  const left = Date.parse(until) - now;
  if (!(left > 0)) return null;
  const time = left < 60_000 ? `in ${Math.ceil(left / 1000)} s` : relativeTime(Date.parse(until), now);
  return `${PACING.has(reason) ? "next" : (WHEN[reason] ?? "again")} ${time}`;
}

/** "Rate limited", without what the server answered: beside the time, and where there is little room. */
export function shortWhyWords(waits: Waits): string {
  const why = whyWords(waits);
  return waits.reason === "rate_limited" || waits.reason === "circuit_open" ? (why.split(": ")[0] ?? why) : why;
}

/** What it waits for; what `whenWords` says is not said here, too. */
export function whyWords({ message, until }: Waits): string {
  return until === null ? message : withoutTime(message);
}

export interface LastFailure {
  failure_reason: string;
  http_status: number | null;
  attempt: number | null;
  max_attempts: number | null;
}

/** "HTTP 500 · attempt 2 of 4": what is known of a failure besides what it said. */
export function failureFacts({ failure_reason, http_status, attempt, max_attempts }: LastFailure): string {
  const parts = [
    http_status === null ? failure_reason.replaceAll("_", " ") : `HTTP ${http_status}`,
    attempt === null ? "" : `attempt ${attempt}${max_attempts === null ? "" : ` of ${max_attempts}`} is next`,
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

/** The time of an attempt is over, and it has not begun: it waits for its site. */
export function isDue(at: string, now: number): boolean {
  return Date.parse(at) <= now;
}
