import { type IdleReason, type SiteDefaults, type SiteManners, type WaitReason, WHILE_AT_WORK } from "./waiting.ts";

/** Of those that nobody works for the worker tells. */
type SiteReason = Exclude<WaitReason, IdleReason>;

/** What holds at a site, where that is known. */
export interface PaceLimits {
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

/** Why the work of a site waits, as a sentence for people; `needs` are the sites that it waits for. */
export function waitingSentence(
  { reason, until }: { reason: SiteReason; until: number | null },
  needs: readonly string[] = [],
  limits: PaceLimits | null = null,
): string {
  if (reason === "depends_on" && needs.length > 0)
    return `Waits until the work of the sites that it depends on is finished: ${listed(needs)}`;
  // What it is paced by holds before and after the next request: when that is stands beside it.
  if (WHILE_AT_WORK.has(reason)) return limits === null ? SENTENCES[reason] : pacedSentence(reason, limits);
  if (until === null) return SENTENCES[reason];
  const time = `${new Date(until).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  return reason === "retry" ? `${SENTENCES.retry} at ${time}` : `${SENTENCES[reason]} until ${time}`;
}

function pacedSentence(reason: SiteReason, { delayMs, perSecond, atOnce }: PaceLimits): string {
  if (reason === "rate" && perSecond !== null)
    return `Paced: ${perSecond} ${perSecond === 1 ? "request" : "requests"} per second at most`;
  if (reason === "concurrency")
    return `At its limit of ${atOnce === 1 ? "1 request" : `${atOnce} requests`} at the same time`;
  if (reason === "rate" || delayMs === 0) return SENTENCES[reason];
  const pause = delayMs < 1000 ? `${Math.round(delayMs)} ms` : `${Number((delayMs / 1000).toFixed(1))} s`;
  return `Paced: ${pause} between requests${reason === "crawl_delay" ? ", as its robots.txt asks" : ""}`;
}

const MOST_NAMED = 5;

function listed(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return `${names.slice(0, MOST_NAMED).join(", ")}${more}`;
}

const SENTENCES: Readonly<Record<SiteReason, string>> = {
  run_paused: "Its runs are paused",
  turn: "Its crawls wait for their turn: as many as may be are running",
  person: "Its runs wait for a person",
  previous_run: "Its runs wait for the end of the run before",
  proxies: "Its runs wait for proxies: too few are usable",
  site_paused: "It is paused: resume it to go on",
  circuit_open: "It kept failing, and is left alone",
  rate_limited: "It asked to be left alone",
  probing: "It kept failing; one request finds out whether it answers again",
  depends_on: "Waits until the work of the sites that it depends on is finished",
  page_limit: "The last pages that its crawls may have are under way elsewhere",
  retry: "What is left waits for another try",
  memory: "Its open browser pages use all the memory that it may have",
  crawl_delay: "Paced: a pause between requests, as its robots.txt asks",
  min_delay: "Paced: a pause between requests",
  rate: "Paced: so many requests per second at most",
  concurrency: "At its limit of requests at the same time",
};
