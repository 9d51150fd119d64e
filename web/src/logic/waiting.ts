/** Why something waits and when it continues, in two parts shown side by side. */
import { relativeTime } from "./format.ts";

export interface Waits {
  reason?: string;
  message: string;
  until: string | null;
}

/** These slow a site down while it works. */
export const PACING: ReadonlySet<string> = new Set(["concurrency", "rate", "min_delay", "crawl_delay"]);

/** False if it is only paced: it works, with pauses. */
export function isHeld(waits: { reason: string } | null): boolean {
  return waits !== null && !PACING.has(waits.reason);
}

/** Server messages contain exact times; beside "in 4 min" they are redundant. */
export function withoutTime(message: string): string {
  return message.replace(/,? (?:until|at) \d{4}-\d\d-\d\d[ T][\d:.]+(?: UTC|Z)/, "");
}

/** The phrase for the time, by reason. */
const WHEN: Readonly<Record<string, string>> = {
  circuit_open: "next probe",
  rate_limited: "retries",
  retry: "retries",
  run: "retries",
};

/** "next probe in 4 min", "next request in 3 s", "retries in 10 s"; null: no known time, or it has passed. */
export function whenWords({ reason = "", until }: Waits, now: number): string | null {
  if (until === null) return null;
  const left = Date.parse(until) - now;
  if (!(left > 0)) return null;
  const time = left < 60_000 ? `in ${Math.ceil(left / 1000)} s` : relativeTime(Date.parse(until), now);
  return `${PACING.has(reason) ? "next request" : (WHEN[reason] ?? "continues")} ${time}`;
}

/** "Rate limited", without the server's answer: beside the time, and in narrow places. */
export function shortWhyWords(waits: Waits): string {
  const why = whyWords(waits);
  return waits.reason === "rate_limited" || waits.reason === "circuit_open" ? (why.split(": ")[0] ?? why) : why;
}

/** What it waits for, without what `whenWords` says. */
export function whyWords({ message, until }: Waits): string {
  return until === null ? message : withoutTime(message);
}

export interface LastFailure {
  failure_reason: string;
  http_status: number | null;
  attempt: number | null;
  max_attempts: number | null;
}

/** "HTTP 500 · attempt 2 of 4": facts of a failure besides its message. */
export function failureFacts({ failure_reason, http_status, attempt, max_attempts }: LastFailure): string {
  const parts = [
    http_status === null ? failure_reason.replaceAll("_", " ") : `HTTP ${http_status}`,
    attempt === null ? "" : `attempt ${attempt}${max_attempts === null ? "" : ` of ${max_attempts}`} is next`,
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

/** The retry is due but has not started: it waits for its site. */
export function isDue(at: string, now: number): boolean {
  return Date.parse(at) <= now;
}
