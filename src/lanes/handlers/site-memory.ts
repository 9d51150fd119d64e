import type { MemoryShare } from "../../fetch/page.ts";
import { siteOf } from "../../domain/text/url.ts";
import type { SiteRecord } from "../../store/records/site-records.ts";
import type { HandlerContext } from "./handler.ts";

const MiB = 1024 ** 2;

/**
 * The browser memory that pages of a site may use, by the site's setting; the lane is notified when a page waits for
 * it.
 */
export function memoryAt(
  site: Pick<SiteRecord, "maxMemoryMb" | "shardCount"> | null,
  url: string,
  { waitsForMemory }: Pick<HandlerContext, "waitsForMemory">,
): MemoryShare {
  const most = site?.maxMemoryMb ?? null;
  // Other shards of the site use browsers of other processes.
  const maxBytes = site === null || most === null ? null : Math.floor((most * MiB) / site.shardCount);
  return { site: siteOf(url), maxBytes, onWait: waitsForMemory };
}
