/** What a crawler asked for, as the server wrote it down: nobody is judged by what he says of himself. */
import { readFileSync } from "node:fs";
import { pathOf } from "./link-graph.ts";

export interface Requests {
  /** HTML pages that were answered with 200, by path: how often. */
  pages: Map<string, number>;
  /** Requests for other files, and those that were not answered with 200. */
  others: number;
}

/** Where the log ends now: what comes behind it is of the next crawler. */
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
