/** API errors, rewritten so that an agent knows what to do next. */
import { isOrbweaverError, type OrbweaverError } from "../api-client/client.ts";
import { ToolFailure } from "./tool.ts";

/** By API code. Otherwise the API's own hint is used. */
const NEXT: Readonly<Record<string, string>> = {
  unauthorized:
    "Tell the operator that this connection needs a valid key: in its Authorization header, or as APP_API_TOKEN of orb mcp.",
  forbidden_target:
    "Only public http and https URLs are fetched. If the target belongs to the operator, the operator can set APP_ALLOW_PRIVATE_NETWORKS.",
  site_waits: "Do not retry in a loop: the tool sites shows until when it waits.",
  stopping: "The server is stopping. Started work continues when it is back: call again in a minute.",
  database_busy: "Call again in a few seconds.",
  database_unavailable: "Call again in a minute. If it persists, tell the operator, who runs: orb doctor",
  disk_full: "The operator must free some disk space. No started work is lost.",
  body_too_large: "Send less: fewer URLs, or a shorter html.",
  unreachable:
    "The server does not answer. Call again in a minute; if it persists, tell the operator to check that orb serve is running.",
  timed_out: "Call again in a minute. If it persists, tell the operator.",
  search_unavailable: "Only the operator can set up the search. Without it, scrape pages whose addresses you know.",
  internal: "Call once more. If it persists, tell the operator, who finds it in the server's log.",
};

/** The tool that lists valid ids. */
const LISTED_BY: Readonly<Record<string, string>> = {
  run: "crawl_status without run_id lists the newest runs",
  crawl: "crawl_status without run_id lists the newest crawls",
  job: "changes without job_id lists the monitored jobs",
  workflow: "workflow_status without workflow_id lists the newest workflows",
  template: "workflow_status without workflow_id lists the templates",
  site: "sites without site lists all known sites",
  artifact: "workflow_status and crawl_results with what: failures list the files of a run",
};

/** The failure to return for an error; null: unexpected. `about`: the resource of ids in the call. */
export function toFailure(error: unknown, about: string): ToolFailure | null {
  if (error instanceof ToolFailure) return error;
  if (!isOrbweaverError(error)) return null;
  const next = listingOf(error, about) ?? NEXT[error.code] ?? hintOf(error);
  return new ToolFailure([sentence(error.detail), next].filter((part) => part !== "").join(" "));
}

/** For unknown ids: the tool that lists them. */
function listingOf({ code, detail }: OrbweaverError, about: string): string | null {
  const [, named] = /there is no (\w+)/.exec(detail) ?? [];
  if (code !== "not_found" && named === undefined) return null;
  const listing = LISTED_BY[named ?? ""] ?? (code === "not_found" ? LISTED_BY[about] : undefined);
  return listing === undefined ? null : sentence(listing);
}

/** The message names the fields already. */
function hintOf({ code, hint }: OrbweaverError): string {
  return code === "input_invalid" || hint === null ? "" : hint;
}

export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
