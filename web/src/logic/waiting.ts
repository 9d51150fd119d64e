/** Why something waits, and when it goes on, in two parts that stand beside each other. */
import { relativeTime } from "./format.ts";

export interface Waits {
  reason?: string;
  message: string;
  until: string | null;
}

/** These slow a site down while it is at work. */
export const PACING: ReadonlySet<string> = new Set(["concurrency", "rate", "min_delay", "crawl_delay"]);

/** Sentences of the server name times exactly; beside one that says "in 4 min" that is once too often. */
export function withoutTime(message: string): string {
  return message.replace(/,? (?:until|at) \d{4}-\d\d-\d\d[ T][\d:.]+(?: UTC|Z)/, "");
}

/** "again in 4 min", "next in 3 s", "tries again in 10 s"; null: it is no matter of time, or the time has come. */
export function whenWords({ reason = "", until }: Waits, now: number): string | null {
  if (until === null) return null;
  const left = Date.parse(until) - now;
  if (!(left > 0)) return null;
  const time = left < 60_000 ? `in ${Math.ceil(left / 1000)} s` : relativeTime(Date.parse(until), now);
  return `${PACING.has(reason) ? "next" : reason === "retry" ? "tries again" : reason === "step_time" ? "goes on" : "again"} ${time}`;
}

/** What it waits for; what `whenWords` says is not said here, too. */
export function whyWords({ message, until }: Waits): string {
  return until === null ? message : withoutTime(message);
}
