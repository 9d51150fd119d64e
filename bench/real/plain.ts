/** Each set crawled completely by orb, wget2 and Crawlee: which pages, and at what cost. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Contestant, crawlee, orb, wget2 } from "../crawl/contestants.ts";
import { type Ran, run } from "../crawl/process.ts";
import { print, verdictAtMost } from "../support/measure.ts";
import { startNginx, USUAL_TYPES } from "../support/services.ts";
import { differences } from "./differences.ts";
import { type LinkGraph, readLinkGraph } from "./link-graph.ts";
import { lengthOf, readRequests, type Requests } from "./requests.ts";
import { readTitles } from "./results.ts";
import type { FoundSet } from "./sets.ts";
import { printNames, printTable } from "./table.ts";

interface Crawled extends Requests {
  name: string;
  ran: Ran;
  /** Ours only: the title of each result, by path. */
  titles: Map<string, string>;
}

export interface Part {
  sets: readonly FoundSet[];
  folder: string;
  only: readonly string[] | undefined;
}

/** By --only name. Orb's default extracts the article of each page as text and Markdown. */
function contestants(only: readonly string[] | undefined): Contestant[] {
  const wget = wget2();
  if (wget === null) print("!! SKIPPED: wget2 could not be fetched with apt-get download");
  const all: Record<string, Contestant | null> = {
    orb: { ...orb("article"), name: "orb" },
    titles: { ...orb("fields"), name: "orb, titles" },
    wget2: wget === null ? null : { ...wget, name: "wget2, files" },
    crawlee: { ...crawlee("disk", "fields"), name: "Crawlee, titles" },
  };
  const chosen = Object.keys(all).filter((key) => only?.includes(key) ?? true);
  return chosen.flatMap((key) => all[key] ?? []);
}

const isOurs = ({ name }: { name: string }) => name.startsWith("orb");

function judgeOrb({ name, pages, titles, ran }: Crawled, graph: LinkGraph): boolean {
  print(`  ${name}:`);
  const missing = [...graph.pages.keys()].filter((path) => !pages.has(path));
  const unread = [...pages.keys()].filter((path) => !titles.has(path));
  const wrong = [...graph.pages].filter(([path, { title }]) => (titles.get(path) ?? title) !== title);
  const repeated = [...pages].filter(([, times]) => times > 1).map(([path, times]) => `${path} (${times} times)`);
  printNames("pages that links lead to and orb did not fetch", missing);
  printNames("pages that orb fetched and has no result of", unread);
  printNames(
    "titles that differ (ours, the file's)",
    wrong.map(([path, { title }]) => `${path}: ${JSON.stringify(titles.get(path))} – ${JSON.stringify(title)}`),
  );
  printNames("pages that orb fetched more than once", repeated);
  if (ran.code !== 0) print(`  orb ended with ${ran.code}: ${(ran.stderr || ran.stdout).trim().slice(-500)}`);
  return [
    verdictAtMost("pages that orb misses", missing.length, 0, ""),
    verdictAtMost("pages without a result", unread.length, 0, ""),
    verdictAtMost("titles that differ", wrong.length, 0, ""),
    verdictAtMost("pages fetched twice", repeated.length, 0, ""),
    verdictAtMost("exit code", ran.code ?? 1, 0, ""),
  ].every(Boolean);
}

async function crawl(contestant: Contestant, origin: string, dir: string, log: string): Promise<Crawled> {
  mkdirSync(dir, { recursive: true });
  const from = lengthOf(log);
  const ran = await run(contestant.command(origin, dir));
  const requests = readRequests(log, from);
  const titles = isOurs(contestant) ? await readTitles(dir) : new Map();
  return { name: contestant.name, ran, titles, ...requests };
}

async function crawlSet(set: FoundSet, { folder, only }: Part): Promise<{ rows: string[][]; good: boolean }> {
  print(`\n${set.name}: ${set.package}, made with ${set.madeWith}`);
  const graph = await readLinkGraph(set.root, set.start);
  const dir = join(folder, set.name);
  mkdirSync(dir, { recursive: true });
  const log = join(dir, "asked.log");
  writeFileSync(log, "");
  const server = await startNginx(set.root, { accessLog: log, types: USUAL_TYPES });
  if (server === null) throw new Error("nginx could not be fetched with apt-get download");
  const origin = `${server.url}/${set.start}`.replace(/\/$/, "");
  const all: Crawled[] = [];
  try {
    for (const contestant of contestants(only))
      all.push(await crawl(contestant, origin, join(dir, contestant.name.replace(/\W+/g, "-")), log));
  } finally {
    await server.stop();
  }
  const own = all.find(isOurs) ?? all[0]!;
  const good = all
    .filter(isOurs)
    .map((one) => judgeOrb(one, graph))
    .every(Boolean);
  for (const other of all) if (!isOurs(other)) differences(own, other, graph);
  const rows = all.map(({ name, ran, pages, others }) => [
    set.name,
    name,
    String(pages.size),
    String([...pages.keys()].filter((path) => !graph.pages.has(path)).length),
    String([...graph.pages.keys()].filter((path) => !pages.has(path)).length),
    String([...pages.values()].reduce((sum, times) => sum + times - 1, 0)),
    String(others),
    ran.wallSeconds.toFixed(1),
    (ran.wallSeconds / own.ran.wallSeconds).toFixed(2),
    ran.cpuSeconds.toFixed(1),
    ran.peakMegabytes.toFixed(0),
  ]);
  printTable(HEADER, rows);
  return { rows, good };
}

const HEADER = [
  "set",
  "crawler",
  "pages",
  "more",
  "missing",
  "again",
  "other requests",
  "wall s",
  "× orb",
  "CPU s",
  "peak MB",
];

export async function plain(part: Part): Promise<boolean> {
  const rows: string[][] = [];
  let reached = true;
  for (const set of part.sets) {
    const done = await crawlSet(set, part);
    rows.push(...done.rows);
    reached &&= done.good;
  }
  print(
    "\nmore and missing: against the pages that links, frames and refreshes lead to, read from the files by another parser;",
  );
  print("again: requests for a page beyond its first; × orb: of the wall time");
  printTable(HEADER, rows);
  return reached;
}
