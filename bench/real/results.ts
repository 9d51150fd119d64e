/** Orb's results, read line by line: all articles of a large set do not fit into one string. */
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { orbCommand, orbCrawlId } from "../crawl/contestants.ts";
import { run } from "../crawl/process.ts";
import { pathOf } from "./link-graph.ts";

/** The title of each result, by path. */
export async function readTitles(dir: string): Promise<Map<string, string>> {
  const file = join(dir, "results.jsonl");
  const ran = await run(
    orbCommand(["runs", "results", await orbCrawlId(dir), "--format", "jsonl", "--out", file], dir),
  );
  if (ran.code !== 0) throw new Error(`the results could not be read: ${ran.stderr}`);
  const titles = new Map<string, string>();
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    const { url, data } = JSON.parse(line) as { url: string; data: { title: string | null } };
    const { pathname, search } = new URL(url);
    titles.set(pathOf(pathname + search) ?? pathname, (data.title ?? "").replace(/\s+/g, " ").trim());
  }
  return titles;
}

/** How often the crawl's circuit breaker opened. */
export async function breakerOpenings(dir: string): Promise<number> {
  const ran = await run(
    orbCommand(["runs", "events", await orbCrawlId(dir), "--type", "circuit.opened", "--limit", "1000", "--json"], dir),
  );
  if (ran.code !== 0) throw new Error(`the events could not be read: ${ran.stderr}`);
  return (JSON.parse(ran.stdout) as unknown[]).length;
}
