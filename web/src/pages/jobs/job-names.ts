import type { Job } from "../../api/types.ts";
import { plainUrl } from "../../logic/format.ts";

/** A job's name, or its target. */
export function nameOf({ name, target_url, crawl, kind }: Job): string {
  const url = target_url ?? (Array.isArray(crawl?.url) ? crawl.url[0] : crawl?.url);
  return name ?? (url === undefined || url === null ? `A ${kind}` : plainUrl(url));
}
