/** What the monitor of a job leaves out at present, also where nothing else has changed. */
import { setImmediate } from "node:timers/promises";
import type { Readable } from "node:stream";
import { isOrbError } from "../../base/errors.ts";
import { PageComparer } from "../../domain/monitor/compare.ts";
import type { LeftOutPlace } from "../../domain/monitor/ignored.ts";
import { MONITOR_DEFAULTS, type MonitorOptions } from "../../domain/monitor/options.ts";
import { NO_PROFILE } from "../../domain/monitor/volatile/profile.ts";
import { withShared } from "../../domain/monitor/volatile/shared.ts";
import { shownUrl } from "../../domain/text/url.ts";
import { readMonitored } from "../../pages/monitor-files.ts";
import type { JobDeps } from "./deps.ts";
import { requireJob } from "./manage.ts";

interface LeftOutView {
  url: string;
  places: LeftOutPlace[];
}

/** Pages per look. */
const CHUNK = 100;

/** Up to `limit` pages with such places, after a position. */
export async function listLeftOut(
  deps: JobDeps & { openArtifact(hash: string): Promise<Readable> },
  jobId: string,
  { after, limit }: { after: string; limit: number },
): Promise<(LeftOutView & { position: string })[]> {
  const { monitor = null } = (await requireJob(deps, jobId)).recipe as { monitor?: MonitorOptions | null };
  if (monitor === null) return [];
  const comparer = new PageComparer({ ...MONITOR_DEFAULTS, ...monitor });
  const found: (LeftOutView & { position: string })[] = [];
  for (let last = after; found.length < limit;) {
    const pages = await deps.store.knownPages(jobId, { after: last, limit: CHUNK });
    if (pages.length === 0) break;
    for (const { position, url, state } of pages) {
      last = position;
      const profile = withShared(state.profile ?? NO_PROFILE, state.shared);
      if (comparer.isSteady(profile)) continue;
      const content = await contentOrNull(deps, state.content);
      const places = content === null ? [] : comparer.leftOut(content, profile, state.contentAt);
      if (places.length > 0) found.push({ url: shownUrl(url), places, position });
      if (found.length === limit) break;
      await setImmediate();
    }
  }
  return found;
}

async function contentOrNull(
  deps: Parameters<typeof readMonitored>[0],
  content: Parameters<typeof readMonitored>[1],
): Promise<Buffer | null> {
  try {
    return await readMonitored(deps, content);
  } catch (error) {
    if (isOrbError(error, "not_found")) return null;
    throw error;
  }
}
