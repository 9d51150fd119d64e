/** Checks of bodies that schemas cannot express, run when a body is rejected: see `withRules`. */
import type { CrawlInput } from "../../domain/crawl/crawl-options.ts";
import { crawlOptionsFrom } from "../../orchestrator/crawls/options.ts";
import { checkJob } from "../../orchestrator/jobs/manage.ts";
import type { ApiDeps } from "../deps.ts";
import type { BodyRules } from "../validation.ts";

/** Replaces a rejected URL, so that the other fields can be checked. */
const SOME_PAGE = "https://example.com/";

/** For a job, or a page requested with the keys of one. */
export function jobRules(deps: ApiDeps): BodyRules {
  return (body, refused) => {
    // The kind decides what all other fields mean.
    if (refused.has("kind")) return;
    checkJob({ ...body, ...(refused.has("target_url") ? { target_url: SOME_PAGE } : {}) }, deps);
  };
}

export function crawlRules(deps: ApiDeps): BodyRules {
  return (body, refused) => {
    crawlOptionsFrom(deps, { ...(body as unknown as CrawlInput), ...(refused.has("url") ? { url: SOME_PAGE } : {}) });
  };
}
