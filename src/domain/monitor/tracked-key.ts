import { crawlKey } from "../crawl/crawl-scope.ts";
import type { TrackingRequest } from "./tracking.ts";

/** Equal for the same page in the same scope. */
export function trackedKey({ scope }: TrackingRequest, url: string): string {
  return `${scope} ${crawlKey(url)}`;
}
