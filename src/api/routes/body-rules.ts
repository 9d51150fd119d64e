/** What schemas cannot say of bodies, asked for when one is refused: see `withRules`. */
import type { CrawlInput } from "../../domain/crawl/crawl-options.ts";
import { crawlOptionsFrom } from "../../orchestrator/crawls/options.ts";
import { checkJob } from "../../orchestrator/jobs/manage.ts";
import type { ApiDeps } from "../deps.ts";
import type { BodyRules } from "../validation.ts";

/** Stands for an address that was refused, so that the rest can be looked at. */
const SOME_PAGE = "https://example.com/";

/** Of a job, or of a page that is asked for in the words of one. */
export function jobRules(deps: ApiDeps): BodyRules {
  return (body, refused) => {
    // By its kind it is decided what all other fields mean.
    if (refused.has("kind")) return;
    checkJob({ ...body, ...(refused.has("target_url") ? { target_url: SOME_PAGE } : {}) }, deps);
  };
}

export function crawlRules(deps: ApiDeps): BodyRules {
  return (body, refused) => {
    crawlOptionsFrom(deps, { ...(body as unknown as CrawlInput), ...(refused.has("url") ? { url: SOME_PAGE } : {}) });
  };
}
