import type { IdleReason, WaitReason } from "./waiting.ts";

/** Of those that nobody works for the worker tells. */
type SiteReason = Exclude<WaitReason, IdleReason>;

/** Why the work of a site waits, as a sentence for people; `needs` are the sites that it waits for. */
export function waitingSentence(
  { reason, until }: { reason: SiteReason; until: number | null },
  needs: readonly string[] = [],
): string {
  const time = until === null ? "" : ` until ${new Date(until).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  if (reason === "depends_on" && needs.length > 0)
    return `Waits until the work of the sites that it depends on is finished: ${listed(needs)}`;
  return `${SENTENCES[reason]}${time}`;
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
  retry: "What is left has failed, and is tried again later",
  memory: "Its open browser pages use all the memory that it may have",
  crawl_delay: "Pauses between requests, as its robots.txt asks",
  min_delay: "Pauses between requests, as it is set",
  rate: "At its limit of requests per second",
  concurrency: "At its limit of requests at the same time",
};
