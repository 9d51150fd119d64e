/** Which calls are tried again, and when. */
import { isOrbweaverError } from "./error.ts";
import { chance } from "./time.ts";

export interface RetryRules {
  /** How often, behind the first try. */
  retries: number;
  /** Before the first of them, doubled for each further one. */
  baseMs: number;
  /** No pause is longer; a server that wants a longer one is not asked again. */
  longestMs: number;
}

export const RETRY_RULES: RetryRules = { retries: 4, baseMs: 250, longestMs: 30_000 };

const PASSING = new Set([429, 502, 503, 504]);

/** How long to wait before the next try; null: it would be no better. `failures` counts those so far. */
export function pauseAfter(error: unknown, failures: number, rules: RetryRules): number | null {
  if (failures > rules.retries || !mayPass(error)) return null;
  const wanted = isOrbweaverError(error) ? error.retryAfterMs : null;
  if (wanted !== null) return wanted <= rules.longestMs ? wanted + chance() * rules.baseMs : null;
  return backOff(failures, rules);
}

/** Twice as long each time, by chance up to half less: many who were cut off together do not come back together. */
export function backOff(failures: number, { baseMs, longestMs }: Pick<RetryRules, "baseMs" | "longestMs">): number {
  const whole = Math.min(baseMs * 2 ** (failures - 1), longestMs);
  return whole * (0.5 + chance() / 2);
}

/**
 * A connection that broke, or a server that is busy or restarted. What Orbweaver itself answers passes if it says when:
 * a 502 of its own is about a page that it could not get, and a 503 without a time needs somebody's hand.
 */
export function mayPass(error: unknown): boolean {
  if (!isOrbweaverError(error)) return false;
  if (error.code === "unreachable") return true;
  return PASSING.has(error.status) && (error.problem === null || error.retryAfterMs !== null);
}

/** `Retry-After` in milliseconds: seconds, or a date, which is read by the server's own clock. */
export function retryAfterMs(headers: { get(name: string): string | null }): number | null {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const until = Date.parse(text) - Date.parse(headers.get("date") ?? "");
  return Number.isNaN(until) ? null : Math.max(0, until);
}
