import type { RunRecord } from "../store/ports/port.ts";
import type { TrackingAsk } from "./formats.ts";
import type { JsonAsk } from "./json-values.ts";
import type { ApiDeps } from "../api/deps.ts";

/** What this room works with. */
export type FirecrawlDeps = ApiDeps;

/** What a run that was asked for in Firecrawl's words keeps of that, beside what all runs keep. */
export interface FirecrawlMark {
  kind: "crawl" | "batch" | "scrape";
  json: JsonAsk | null;
  /** Absent in runs of earlier versions. */
  tracking?: TrackingAsk | null;
}

export function markOf({ snapshot }: Pick<RunRecord, "snapshot">): FirecrawlMark | null {
  return (snapshot as { firecrawl?: FirecrawlMark } | null)?.firecrawl ?? null;
}
