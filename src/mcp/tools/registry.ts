import type { Tool } from "../tool.ts";
import { changes } from "./changes.ts";
import { crawlResults } from "./crawl-results.ts";
import { crawlStart } from "./crawl-start.ts";
import { crawlStatus } from "./crawl-status.ts";
import { extractPreview } from "./extract-preview.ts";
import { extractLearn } from "./extract-learn.ts";
import { runCancel } from "./run-cancel.ts";
import { scrape } from "./scrape.ts";
import { search } from "./search.ts";
import { sites } from "./sites.ts";
import { workflowStart } from "./workflow-start.ts";
import { workflowStatus } from "./workflow-status.ts";

/** All tools, one file each. Ids in a call are ids of `about`. */
export const TOOLS: readonly { tool: Tool; about: string }[] = [
  { tool: search, about: "run" },
  { tool: scrape, about: "run" },
  { tool: crawlStart, about: "crawl" },
  { tool: crawlStatus, about: "crawl" },
  { tool: crawlResults, about: "run" },
  { tool: extractPreview, about: "run" },
  { tool: extractLearn, about: "run" },
  { tool: runCancel, about: "run" },
  { tool: workflowStart, about: "template" },
  { tool: workflowStatus, about: "workflow" },
  { tool: changes, about: "job" },
  { tool: sites, about: "site" },
];
