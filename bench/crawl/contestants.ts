/** The crawlers: how each is started, how its time is measured, and where its results are. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { findWget2 } from "../support/debian.ts";
import type { CrawlRecord } from "./check.ts";
import { type Command, type Ran, run } from "./process.ts";
import { FIELDS } from "./site.ts";

export const CONCURRENCY = 32;

export type What = "fields" | "article";

export interface Contestant {
  name: string;
  command(origin: string, dir: string): Command;
  /** How a killed crawl continues in the same folder; null: it starts over. */
  resume: ((origin: string, dir: string) => Promise<Command>) | null;
  /** From the first request to the last stored page, as the program reports it. */
  seconds(ran: Ran): number;
  /** All results, including duplicates; without fields if the program extracts none. */
  records(dir: string): Promise<CrawlRecord[]>;
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const said = ({ stdout }: Ran) => (JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as { seconds: number }).seconds;
const jsonLines = <T>(text: string) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);

const ORB_ENV = {
  APP_ALLOW_PRIVATE_NETWORKS: "true",
  APP_MAX_PER_HOST: String(CONCURRENCY),
  APP_MAX_WORKERS: "64",
};

export function orbCommand(args: string[], dir: string): Command {
  return { file: process.execPath, args: [here("../../bin/orb"), ...args], cwd: dir, env: ORB_ENV };
}

interface OrbResult {
  data: CrawlRecord & { fields?: Partial<CrawlRecord> };
}

/** The newest crawl of a folder. */
export async function orbCrawlId(dir: string): Promise<string> {
  const { stdout, stderr } = await run(orbCommand(["runs", "list", "--kind", "crawl", "--limit", "1", "--json"], dir));
  const id = /"id": ?"([^"]+)"/.exec(stdout)?.[1];
  if (id === undefined) throw new Error(`there is no crawl: ${stderr}`);
  return id;
}

function orbCrawlArgs(origin: string, what: What): string[] {
  const fields = Object.entries(FIELDS).flatMap(([name, css]) => ["--field", `${name}=${css}`]);
  const limits = ["--depth", "1000", "--max-pages", "1000000", "--timeout-minutes", "600"];
  return [
    "crawl",
    `${origin}/`,
    "--json",
    "--concurrency",
    String(CONCURRENCY),
    ...limits,
    ...(what === "fields" ? fields : []),
  ];
}

export const orb = (what: What): Contestant => ({
  name: "orbweaver, SQLite",
  command: (origin, dir) => orbCommand(orbCrawlArgs(origin, what), dir),
  resume: async (_, dir) => orbCommand(["crawl", "--resume", await orbCrawlId(dir), "--json"], dir),
  seconds: ({ stdout }) => (JSON.parse(stdout) as { duration_seconds: number }).duration_seconds,
  records: async (dir) => {
    const ran = await run(orbCommand(["runs", "results", await orbCrawlId(dir), "--format", "jsonl"], dir));
    return jsonLines<OrbResult>(ran.stdout).map(({ data: { fields, ...rest } }) => ({ ...rest, ...fields }));
  },
});

export function crawlee(storage: "memory" | "disk", what: What): Contestant {
  const command = (origin: string, dir: string): Command => ({
    file: process.execPath,
    args: [here("contestants/crawlee.ts"), origin, dir, storage, what, String(CONCURRENCY)],
    cwd: dir,
  });
  return {
    name: `Crawlee ${what === "article" ? "+ Readability + Turndown" : "CheerioCrawler"}, ${storage}`,
    command,
    resume: storage === "disk" ? async (origin, dir) => command(origin, dir) : null,
    seconds: said,
    records: async (dir) => {
      if (storage === "memory") return jsonLines(readFileSync(join(dir, "records.jsonl"), "utf8"));
      const folder = join(dir, "storage", "datasets", "default");
      const files = readdirSync(folder).filter((name) => /^\d+\.json$/.test(name));
      return files.flatMap((name) => whole(readFileSync(join(folder, name), "utf8")));
    },
  };
}

/** A file that was being written at the kill contains no record. */
function whole(json: string): CrawlRecord[] {
  try {
    return [JSON.parse(json) as CrawlRecord];
  } catch {
    return [];
  }
}

const bareCommand = (origin: string, dir: string): Command => ({
  file: process.execPath,
  args: [here("contestants/bare.ts"), origin, join(dir, "pages.db"), String(CONCURRENCY)],
  cwd: dir,
});

export const bare: Contestant = {
  name: "bare loop, SQLite",
  command: bareCommand,
  resume: async (origin, dir) => bareCommand(origin, dir),
  seconds: said,
  records: async (dir) => {
    using db = new DatabaseSync(join(dir, "pages.db"));
    const rows = db.prepare("SELECT url, result FROM pages").all() as unknown as { url: string; result: string }[];
    return rows.map(({ url, result }) => ({ url, ...(JSON.parse(result) as Omit<CrawlRecord, "url">) }));
  },
};

function works(file: string, args: string[]): boolean {
  try {
    execFileSync(file, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Null: not installed. */
export function scrapy(queue: "memory" | "JOBDIR"): Contestant | null {
  const program = works("scrapy", ["version"]) ? ["scrapy"] : ["python3", "-m", "scrapy"];
  if (!works(program[0]!, [...program.slice(1), "version"])) return null;
  const settings = [
    `CONCURRENT_REQUESTS=${CONCURRENCY}`,
    `CONCURRENT_REQUESTS_PER_DOMAIN=${CONCURRENCY}`,
    "LOG_LEVEL=ERROR",
    "TELNETCONSOLE_ENABLED=False",
  ];
  const command = (origin: string, dir: string): Command => ({
    file: program[0]!,
    args: [
      ...program.slice(1),
      "runspider",
      here("contestants/spider.py"),
      "-a",
      `origin=${origin}`,
      "-o",
      "records.jsonl",
      ...[...settings, ...(queue === "JOBDIR" ? ["JOBDIR=job"] : [])].flatMap((setting) => ["-s", setting]),
    ],
    cwd: dir,
    env: { PYTHONDONTWRITEBYTECODE: "1" },
  });
  return {
    name: `Scrapy, ${queue}`,
    command,
    resume: queue === "JOBDIR" ? async (origin, dir) => command(origin, dir) : null,
    seconds: said,
    records: async (dir) => readFileSync(join(dir, "records.jsonl"), "utf8").split("\n").filter(Boolean).flatMap(whole),
  };
}

/** Null: unavailable. Extracts no fields, and stores pages as files. */
export function wget2(): Contestant | null {
  const program = findWget2();
  if (program === null) return null;
  return {
    name: "wget2, files, no extraction",
    resume: null,
    command: (origin, dir) => ({
      ...program,
      args: ["-q", "-r", "-l", "0", `--max-threads=${CONCURRENCY}`, "-nH", "-P", join(dir, "pages"), `${origin}/`],
      cwd: dir,
    }),
    seconds: ({ wallSeconds }) => wallSeconds,
    records: async (dir) => {
      const folder = join(dir, "pages");
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
      const pages = files.filter((name) => !/\.(?:txt|css)$/.test(name) && statSync(join(folder, name)).isFile());
      return pages.map((name) => ({ url: `http://files/${name === "index.html" ? "" : name}` }));
    },
  };
}
