import type { JobAuthor } from "../../../domain/run/job-author.ts";
import type { ApiRequest } from "../../instance.ts";

/** Programs of this product that name themselves; the header grants nothing. */
const CLIENTS: ReadonlySet<string> = new Set<JobAuthor>(["cli", "dashboard", "mcp"]);

export function authorOf(request: ApiRequest): JobAuthor {
  const client = request.headers["orb-client"];
  return typeof client === "string" && CLIENTS.has(client) ? (client as JobAuthor) : "api";
}
