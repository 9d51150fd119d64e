/** kill -9 in the middle of a crawl, and how each durable crawler recovers. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { print, verdictAtMost } from "../support/measure.ts";
import { check, type Checked } from "./check.ts";
import { CONCURRENCY, type Contestant } from "./contestants.ts";
import { start } from "./process.ts";

const KILL_AT = 0.4;
const CUT_OFF_SECONDS = 180;
const LOOK_MS = 20;

/** One page that the server delivered. */
interface Asked {
  at: number;
  path: string;
}

/** The pages in the server's log after the start of this contestant. */
function pagesAsked(log: string, from: number): Asked[] {
  const lines = readFileSync(log, "utf8").split("\n").slice(0, -1).slice(from);
  const asked = lines.map((line) => line.split(" ") as [string, string, string]);
  return asked
    .filter(([, status, path]) => status === "200" && !/\.(?:txt|xml|css)$/.test(path))
    .map(([at, , path]) => ({ at: Number(at), path }));
}

interface Survived extends Checked {
  killedAt: number;
  refetched: number;
  /** From the restart to the first request of a new page; null: none. */
  firstNewSeconds: number | null;
  /** From the restart to the end; null: cut off. */
  endSeconds: number | null;
  code: number | null;
}

const pause = () => new Promise((resolve) => setTimeout(resolve, LOOK_MS));

async function killAndResume(
  contestant: Contestant,
  { origin, dir, log, pages }: { origin: string; dir: string; log: string; pages: number },
): Promise<Survived> {
  mkdirSync(dir, { recursive: true });
  const from = readFileSync(log, "utf8").split("\n").length - 1;
  const first = start(contestant.command(origin, dir));
  while (first.child.exitCode === null && pagesAsked(log, from).length < pages * KILL_AT) await pause();
  first.child.kill("SIGKILL");
  await first.ended;
  const before = new Set(pagesAsked(log, from).map(({ path }) => path));
  const command = await contestant.resume!(origin, dir);
  const restartedAt = Date.now() / 1000;
  const second = start(command);
  let cut = false;
  const cutOff = setTimeout(() => {
    cut = true;
    second.child.kill("SIGKILL");
  }, CUT_OFF_SECONDS * 1000);
  const ran = await second.ended;
  clearTimeout(cutOff);
  const asked = pagesAsked(log, from);
  const firstNew = asked.find(({ path }) => !before.has(path));
  return {
    ...check(await contestant.records(dir), pages, null),
    killedAt: before.size,
    refetched: asked.length - new Set(asked.map(({ path }) => path)).size,
    firstNewSeconds: firstNew === undefined ? null : firstNew.at - restartedAt,
    endSeconds: cut ? null : ran.wallSeconds,
    code: ran.code,
  };
}

const secondsText = (value: number | null, otherwise: string) => (value === null ? otherwise : value.toFixed(1));

/** Prints the results, and returns whether ours, the first, keeps its guarantees. */
export async function raceKills(
  contestants: readonly Contestant[],
  { origin, folder, log, pages }: { origin: string; folder: string; log: string; pages: number },
): Promise<boolean> {
  print(`  ${"".padEnd(34)} killed at  missing  doubled  refetched  first new page s  to the end s`);
  const all: Survived[] = [];
  for (const contestant of contestants) {
    const dir = join(folder, `kill-${contestant.name.replace(/\W+/g, "-")}`);
    const one = await killAndResume(contestant, { origin, dir, log, pages });
    all.push(one);
    const figures = [
      String(one.killedAt).padStart(9),
      String(one.missing).padStart(8),
      String(one.doubled).padStart(8),
      String(one.refetched).padStart(10),
      secondsText(one.firstNewSeconds, "never").padStart(17),
      secondsText(one.endSeconds, `> ${CUT_OFF_SECONDS}`).padStart(13),
    ];
    print(`  ${contestant.name.padEnd(34)} ${figures.join(" ")}${one.code === 0 ? "" : `  ended with ${one.code}`}`);
  }
  const ours = all[0]!;
  return [
    verdictAtMost("pages missing", ours.missing, 0, ""),
    verdictAtMost("results doubled", ours.doubled, 0, ""),
    verdictAtMost("pages fetched again", ours.refetched, 2 * CONCURRENCY, ""),
    verdictAtMost("from the restart to the first new page", ours.firstNewSeconds ?? Infinity, 10, " s"),
  ].every(Boolean);
}
