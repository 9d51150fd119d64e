/**
 * What tracing costs: the same crawl of tiny pages without a collector, with one, and with one that gets the spans of all
 * pages, in turn. The crawl has one processor for itself, and the site and the collector have another: otherwise what they
 * do would slow it down, or what its threads cost would be hidden by an idle processor. The speed of the machine changes
 * by a tenth between two crawls, so the time that the reading threads take is the measure of the rest. A second crawl
 * without a collector shows how far two equal crawls are apart.
 */
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, print, verdictAtMost } from "../support/measure.ts";
import { orb } from "./contestants.ts";
import { type Command, run } from "./process.ts";
import { costOfSpans } from "./spans.ts";
import { startTinySite } from "./tiny.ts";

interface Collector {
  url: string;
  /** Calls and spans since the last look. */
  received(): Promise<{ calls: number; spans: number }>;
  stop(): void;
}

async function startCollector(): Promise<Collector> {
  const child = fork(fileURLToPath(new URL("collector.ts", import.meta.url)));
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return {
    url: `http://127.0.0.1:${port}`,
    received: async () => {
      const answer = once(child, "message");
      child.send("received");
      return (await answer)[0] as { calls: number; spans: number };
    },
    stop: () => child.disconnect(),
  };
}

/** A task, an attempt, a fetch, an extraction and a write for each page. */
const SPANS_PER_PAGE = 5;

/** Pages whose spans are made without a crawl: with its noise away, what they cost is seen. */
const SPANS_ALONE = 100_000;

const ALL = "0-1023";
const ALL_BUT_FIRST = "1-1023";

/** Moves this process, and what it starts from now on, to these processors; false: that is not possible here. */
function moveTo(processors: string): boolean {
  try {
    execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", processors, `${process.pid}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const onFirstProcessor = ({ file, args, ...rest }: Command): Command => ({
  ...rest,
  file: "taskset",
  args: ["--cpu-list", "0", file, ...args],
});

export async function tracedCrawl(folder: string, pages: number, rounds: number): Promise<boolean> {
  print(`\n${pages} tiny pages without a collector, with one, and with all spans sent to it, ${rounds} rounds in turn`);
  const isPinned = moveTo(ALL_BUT_FIRST);
  if (!isPinned) print("  one processor, or no taskset: the crawl, its site and the collector disturb each other");
  const [site, collector] = await Promise.all([startTinySite("tree", pages, pages), startCollector()]);
  const contestant = orb("fields");
  const crawl = async (name: string, env: Record<string, string>) => {
    const dir = join(folder, name);
    mkdirSync(dir, { recursive: true });
    const command = contestant.command(site.origin, dir);
    const wanted = { ...command, env: { ...command.env, ...env } };
    const ran = await run(isPinned ? onFirstProcessor(wanted) : wanted);
    if (ran.code !== 0) throw new Error(`orb ended with ${ran.code}: ${(ran.stderr || ran.stdout).trim().slice(-500)}`);
    return {
      cpu: (ran.cpuSeconds * 1e6) / pages,
      rate: pages / contestant.seconds(ran),
      // Threads that read pages do the same with and without traces: how long they take says how fast the machine is now.
      relative: ran.cpuSeconds / ran.readingSeconds,
    };
  };
  const kinds = {
    off: {},
    again: {},
    on: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    all: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, APP_TRACED_TASKS_PER_SECOND: "0" },
  };
  type Kind = keyof typeof kinds;
  const names = Object.keys(kinds) as Kind[];
  try {
    const alone = await costOfSpans(collector.url, SPANS_ALONE);
    await collector.received();
    print(`  the spans of a page by themselves: ${alone.toFixed(1)} µs`);
    // The first crawl finds cold files.
    await crawl("warm-up", {});
    const pageCosts: number[] = [];
    const more: Record<Kind, number[]> = { off: [], again: [], on: [], all: [] };
    for (let round = 0; round < rounds; round += 1) {
      const measured = {} as Record<Kind, Awaited<ReturnType<typeof crawl>> & { spans: number }>;
      // Whatever drifts on the machine meets all of them.
      for (const index of names.keys()) {
        const kind = names[(index + round) % names.length]!;
        const ran = await crawl(`${kind}-${round}`, kinds[kind]);
        measured[kind] = { ...ran, spans: (await collector.received()).spans };
      }
      const { off, on, all } = measured;
      pageCosts.push(off.cpu);
      for (const kind of names) {
        const { cpu, rate, relative, spans } = measured[kind];
        const ratio = relative / off.relative;
        more[kind].push(ratio);
        print(
          `  ${kind}: CPU ${cpu.toFixed(0)} µs a page, ${rate.toFixed(0)} pages/s, ${spans} spans, ${percent(ratio)} relative to reading`,
        );
      }
      if (all.spans < pages * SPANS_PER_PAGE) throw new Error(`the collector has ${all.spans} spans of ${pages} pages`);
      if (on.spans === 0 || on.spans >= all.spans)
        throw new Error(`${on.spans} spans with the limit, ${all.spans} without`);
    }
    print(`  a second crawl without a collector: CPU ${percent(median(more.again))}`);
    print(`  without the limit of traced pages: CPU ${percent(median(more.all))}`);
    return [
      verdictAtMost("the spans by themselves, of a page's CPU time", (100 * alone) / median(pageCosts), 2, " %"),
      verdictAtMost("more CPU time per page", 100 * (median(more.on) - 1), 2, " %"),
    ].every(Boolean);
  } finally {
    moveTo(ALL);
    site.stop();
    collector.stop();
  }
}

const percent = (ratio: number) => `${ratio < 1 ? "" : "+"}${(100 * (ratio - 1)).toFixed(1)} %`;
