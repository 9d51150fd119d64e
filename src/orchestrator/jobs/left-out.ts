/** What the monitor of a job leaves out at present, also where nothing else has changed. */
import { setImmediate } from "node:timers/promises";
import type { Readable } from "node:stream";
import { isOrbError } from "../../base/errors.ts";
import { PageComparer } from "../../domain/monitor/compare.ts";
import type { LeftOutPlace } from "../../domain/monitor/ignored.ts";
import { MONITOR_DEFAULTS } from "../../domain/monitor/options.ts";
import { NO_PROFILE } from "../../domain/monitor/volatile/profile.ts";
import { withShared } from "../../domain/monitor/volatile/shared.ts";
import { shownUrl } from "../../domain/text/url.ts";
import { readMonitored } from "../../pages/monitor-files.ts";
import type { Recipe } from "../../domain/run/recipe.ts";
import type { JobDeps } from "./deps.ts";
import { requireJob } from "./manage.ts";
import { rulesOfMonitor } from "../../pages/monitored.ts";

interface LeftOutView {
  url: string;
  places: LeftOutPlace[];
}

/** Pages per look. */
const CHUNK = 100;
/** Pages whose text is read for one call: more wait for the next one. */
const MOST_READ = 300;

/** Up to `limit` pages with such places, after a position. */
export async function listLeftOut(
  deps: JobDeps & { openArtifact(hash: string): Promise<Readable> },
  jobId: string,
  { after, limit }: { after: string; limit: number },
): Promise<{ pages: LeftOutView[]; next: string | null }> {
  const recipe = (await requireJob(deps, jobId)).recipe as Recipe;
  const { monitor = null } = recipe;
  if (monitor === null) return { pages: [], next: null };
  const rules = rulesOfMonitor(monitor, recipe);
  const comparer = new PageComparer({ ...MONITOR_DEFAULTS, ...monitor });
  const pages: LeftOutView[] = [];
  let [last, read] = [after, 0];
  for (;;) {
    const known = await deps.store.knownPages(jobId, { after: last, limit: CHUNK });
    if (known.length === 0) return { pages, next: null };
    for (const { position, url, state } of known) {
      if (pages.length === limit || read === MOST_READ) return { pages, next: last };
      last = position;
      const profile = withShared(state.profile ?? NO_PROFILE, state.shared);
      // What was learned by other rules is learned again.
      if (state.rules !== rules || comparer.isSteady(profile)) continue;
      read += 1;
      const content = await contentOrNull(deps, state.content);
      const places = content === null ? [] : comparer.leftOut(content, profile, state.contentAt);
      if (places.length > 0) pages.push({ url: shownUrl(url), places });
      await setImmediate();
    }
    await setImmediate();
  }
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
