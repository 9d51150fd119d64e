/** Pages per second, CPU and memory of crawls of the whole site, in consecutive rounds. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { median, print } from "../support/measure.ts";
import { check, type Judge } from "./check.ts";
import type { Contestant } from "./contestants.ts";
import { run } from "./process.ts";

export interface Rate {
  pagesPerSecond: number;
  wallSeconds: number;
  cpuPerThousand: number;
  peakMegabytes: number;
  complaint: string | null;
}

export interface RateRequest {
  origin: string;
  folder: string;
  pages: number;
  rounds: number;
  judge: Judge;
}

async function once(contestant: Contestant, dir: string, { origin, pages, judge }: RateRequest): Promise<Rate> {
  mkdirSync(dir, { recursive: true });
  const ran = await run(contestant.command(origin, dir));
  const cost = {
    wallSeconds: ran.wallSeconds,
    cpuPerThousand: (ran.cpuSeconds / pages) * 1000,
    peakMegabytes: ran.peakMegabytes,
  };
  if (ran.code !== 0) {
    const why = `it ended with ${ran.code}: ${(ran.stderr || ran.stdout).trim().slice(-500)}`;
    return { ...cost, pagesPerSecond: 0, complaint: why };
  }
  const records = await contestant.records(dir);
  // A crawler without fields is checked by its pages alone.
  const { complaint } = check(records, pages, records.some(({ title }) => title !== undefined) ? judge : null);
  return { ...cost, pagesPerSecond: pages / contestant.seconds(ran), complaint };
}

/** Medians by name, in the order of the list, printed as a table. */
export async function raceRates(contestants: readonly Contestant[], request: RateRequest): Promise<Map<string, Rate>> {
  const lists = new Map<string, Rate[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < request.rounds; round += 1)
    for (const contestant of contestants) {
      const list = lists.get(contestant.name)!;
      list.push(
        await once(contestant, join(request.folder, `${list.length}-${contestant.name.replace(/\W+/g, "-")}`), request),
      );
    }
  print(`  pages/s is from the first request to the last page stored, as each saw it; wall is the whole process;`);
  print(`  CPU is user and system time of the process and its children`);
  print(`  ${"".padEnd(42)}  pages/s   wall s  CPU s/1,000  peak MB`);
  const medians = new Map<string, Rate>();
  for (const [name, list] of lists) {
    const of = (key: "pagesPerSecond" | "wallSeconds" | "cpuPerThousand" | "peakMegabytes") =>
      median(list.map((rate) => rate[key]));
    const rate: Rate = {
      pagesPerSecond: of("pagesPerSecond"),
      wallSeconds: of("wallSeconds"),
      cpuPerThousand: of("cpuPerThousand"),
      peakMegabytes: of("peakMegabytes"),
      complaint: list.find(({ complaint }) => complaint !== null)?.complaint ?? null,
    };
    medians.set(name, rate);
    const figures = [
      rate.pagesPerSecond.toFixed(0).padStart(8),
      rate.wallSeconds.toFixed(1).padStart(8),
      rate.cpuPerThousand.toFixed(2).padStart(12),
      rate.peakMegabytes.toFixed(0).padStart(8),
    ];
    print(`  ${name.padEnd(42)} ${figures.join(" ")}`);
    if (rate.complaint !== null) print(`  !! ${name} did NOT crawl the site: ${rate.complaint}`);
  }
  return medians;
}
