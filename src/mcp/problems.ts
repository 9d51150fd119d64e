/** What the API refused, in words that tell an agent what to do next. */
import { isOrbError, OrbError } from "../base/errors.ts";
import { ServerProblem } from "../cli/api/problem.ts";
import { ToolFailure } from "./tool.ts";

/** By the API's codes. Where the API's own hint serves agents as well, it is used. */
const NEXT: Readonly<Record<string, string>> = {
  not_found: "",
  unauthorized: "The operator sets APP_API_TOKEN to the token of that server.",
  forbidden_target:
    "Only public http and https addresses are fetched. If the target is the operator's own, the operator sets APP_ALLOW_PRIVATE_NETWORKS.",
  site_waits: "Do not retry in a loop: the tool sites says until when it waits.",
  stopping: "The server is going down. What was started goes on when it is back: call again in a minute.",
  database_busy: "Call again in some seconds.",
  database_unavailable: "Call again in a minute. If it stays so, tell the operator, who runs: orb doctor",
  disk_full: "The operator has to free some disk space. Nothing that was started is lost.",
  body_too_large: "Send less: fewer addresses, or a shorter html.",
  internal: "Call once more. If it stays so, tell the operator, who finds it in the server's log.",
};

/** Which tool lists what there is, for ids that are unknown. */
const LISTED_BY: Readonly<Record<string, string>> = {
  run: "crawl_status without run_id lists the newest runs",
  crawl: "crawl_status without run_id lists the newest crawls",
  workflow: "workflow_status without workflow_id lists the newest workflows",
  template: "workflow_status without workflow_id lists the templates",
  site: "sites without site lists those that were seen",
  artifact: "workflow_status and crawl_results with what: failures name the files of a run",
};

/** Anything that was thrown, as the failure that is answered. `about`: what ids in the call are ids of. */
export function toFailure(error: unknown, about: string): ToolFailure {
  if (error instanceof ToolFailure) return error;
  if (!isOrbError(error)) throw error;
  const code = error instanceof ServerProblem ? error.problem : error.code;
  const next = code === "not_found" ? listingOf(error, about) : (NEXT[code] ?? error.hint ?? "");
  const details = { code, ...(error.fields.length === 0 ? {} : { errors: error.fields }) };
  return new ToolFailure([sentence(error.message), next].filter((part) => part !== "").join(" "), details);
}

function listingOf({ message, hint }: OrbError, about: string): string {
  const listing = LISTED_BY[Object.keys(LISTED_BY).find((word) => message.includes(word)) ?? about];
  return listing === undefined ? (hint ?? "") : `${sentence(listing)}`;
}

export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
