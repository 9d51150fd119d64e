import { attemptWords, type LastFailure } from "./last-failure.ts";
import {
  type IdleReason,
  type LostLease,
  type SiteDefaults,
  type SiteManners,
  type WaitReason,
  WHILE_AT_WORK,
} from "./waiting.ts";

/** The idle reasons have sentences of their own, by the state of the workers. */
type SiteReason = Exclude<WaitReason, IdleReason>;

/** What a sentence may name besides its reason. */
export interface WaitingFacts {
  /** The sites that it waits for. */
  needs?: readonly string[];
  limits?: PaceLimits | null;
  last?: LastFailure | null;
  lost?: LostLease | null;
}

/** What holds at a site, where that is known. */
interface PaceLimits {
  delayMs: number;
  perSecond: number | null;
  atOnce: number;
}

export function paceLimits(
  site: Pick<SiteManners, "minDelayMs" | "crawlDelayMs" | "requestsPerSecond" | "maxConcurrency">,
  defaults: SiteDefaults,
): PaceLimits {
  return {
    delayMs: Math.max(site.minDelayMs ?? defaults.minDelayMs, site.crawlDelayMs ?? 0),
    perSecond: site.requestsPerSecond,
    atOnce: Math.max(1, site.maxConcurrency ?? defaults.maxPerSite),
  };
}

/** Why the work of a site waits, as a sentence for people. */
export function waitingSentence(
  { reason, until, key }: { reason: SiteReason; until: number | null; key?: string },
  { needs = [], limits = null, last = null, lost = null }: WaitingFacts = {},
): string {
  if (reason === "depends_on" && needs.length > 0) return `Waiting for sites it depends on: ${listed(needs)}`;
  const time = until === null ? "" : `${new Date(until).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  if (reason === "worker_lost") return lostSentence(lost, time);
  // What it is paced by holds before and after the next request: when that is stands beside it.
  if (WHILE_AT_WORK.has(reason)) return limits === null ? SENTENCES[reason] : pacedSentence(reason, limits);
  if (reason === "concurrency_key" && key !== undefined) return keySentence(key);
  if (reason === "retry") return retrySentence(last, time);
  const cause = last === null || !BY_FAILURE.has(reason) ? "" : `: ${last.message}${nextAttempt(last)}`;
  return `${SENTENCES[reason]}${time === "" ? "" : ` until ${time}`}${cause}`;
}

/** These come from failures: the last one is named with them. */
const BY_FAILURE: ReadonlySet<SiteReason> = new Set(["circuit_open", "rate_limited", "probing"]);

/** `. Attempt 2 of 4 is next`. */
function nextAttempt(last: LastFailure): string {
  const attempt = attemptWords(last);
  return attempt === "" ? "" : `. ${capitalized(attempt)} is next`;
}

const capitalized = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

/** `Retrying: the server answered 500 (server error). Attempt 2 of 4 at 2030-01-01 00:00:00 UTC`. */
function retrySentence(last: LastFailure | null, time: string): string {
  const when = time === "" ? "" : ` at ${time}`;
  if (last === null) return `${SENTENCES.retry}${when}`;
  const attempt = attemptWords(last);
  return `Retrying: ${last.message}. ${capitalized(attempt === "" ? "next attempt" : attempt)}${when}`;
}

function lostSentence(lost: LostLease | null, time: string): string {
  const who = lost === null ? "a lost worker" : `the worker on ${lost.machine} (process ${lost.pid}), which is lost`;
  return `Its pages belong to ${who}: other workers take over when the lease ends${time === "" ? "" : ` at ${time}`}`;
}

/** Every crawl has a limit of its own, which people know by another name. */
const CRAWL_KEY = /^crawl-[0-9a-f-]{36}$/;

function keySentence(key: string): string {
  if (CRAWL_KEY.test(key)) return "At the concurrency limit of its crawl, which has pages in flight at other sites";
  return `At the limit of the concurrency key ${key}, which several sites share`;
}

function pacedSentence(reason: keyof typeof SENTENCES, { delayMs, perSecond, atOnce }: PaceLimits): string {
  if (reason === "rate" && perSecond !== null)
    return `Paced: ${perSecond} ${perSecond === 1 ? "request" : "requests"} per second at most`;
  if (reason === "concurrency")
    return `At its limit of ${atOnce === 1 ? "1 concurrent request" : `${atOnce} concurrent requests`}`;
  if (reason === "rate" || delayMs === 0) return SENTENCES[reason];
  const pause = delayMs < 1000 ? `${Math.round(delayMs)} ms` : `${Number((delayMs / 1000).toFixed(1))} s`;
  return `Paced: ${pause} between requests${reason === "crawl_delay" ? ", as its robots.txt asks" : ""}`;
}

const MOST_NAMED = 5;

function listed(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return `${names.slice(0, MOST_NAMED).join(", ")}${more}`;
}

const SENTENCES: Readonly<Record<Exclude<SiteReason, "worker_lost">, string>> = {
  run_paused: "Its runs are paused",
  turn: "Waiting for a crawl slot: the maximum number of crawls is running",
  person: "Waiting for a person",
  previous_run: "Waiting for the previous run to end",
  proxies: "Waiting for proxies: too few are usable",
  data_quality: "Comparing the records with earlier runs",
  site_paused: "Site paused: resume it to continue",
  circuit_open: "Circuit open",
  rate_limited: "Rate limited",
  probing: "Circuit half-open: one request checks whether the site answers again",
  depends_on: "Waiting for sites it depends on",
  page_limit: "Page limit: the last pages of its crawls are in flight at other sites",
  retry: "Waiting for its next attempt",
  memory: "At its memory limit for browser pages",
  concurrency_key: "At a concurrency limit shared with other sites",
  crawl_delay: "Paced: a pause between requests, as its robots.txt asks",
  min_delay: "Paced: a pause between requests",
  rate: "Paced: requests per second are limited",
  concurrency: "At its limit of concurrent requests",
};
