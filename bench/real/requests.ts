/** Requests of a crawler from the server's log: independent of the crawler's own report. */
import { readFileSync } from "node:fs";
import { pathOf } from "./link-graph.ts";

export interface Requests {
  /** HTML pages answered with 200: path → count. */
  pages: Map<string, number>;
  /** Requests for other files, and other statuses. */
  others: number;
}

/** The log's current end: later lines belong to the next crawler. */
export const lengthOf = (log: string) => readFileSync(log).length;

export function readRequests(log: string, from: number): Requests {
  const lines = readFileSync(log).subarray(from).toString("utf8").split("\n").slice(0, -1);
  const pages = new Map<string, number>();
  let others = 0;
  for (const line of lines) {
    const [, status, uri = "", type = ""] = line.split(" ");
    const path = pathOf(uri);
    if (status === "200" && type.startsWith("text/html") && path !== null) pages.set(path, (pages.get(path) ?? 0) + 1);
    else others += 1;
  }
  return { pages, others };
}
