/** Round trips of the hot store methods. */
import { systemClock } from "../../src/base/clock.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { print, verdictAtMost } from "../support/measure.ts";
import { CountingLine } from "./counting-line.ts";
import { BenchCrawl, USUAL } from "./crawl.ts";

const CALLS = 20;
const WANTED = 5;

export async function benchRoundTrips(url: string): Promise<boolean> {
  const line = await CountingLine.to(Number(new URL(url).port));
  const store = await openPostgresStore({
    url: `${url.replace(/:\d+\//, `:${line.port}/`)}?schema=round_trips`,
    clock: systemClock,
  });
  try {
    const taken: Record<"claim" | "settle", number[]> = { claim: [], settle: [] };
    const counted = { ...store };
    for (const method of ["claim", "settle"] as const)
      counted[method] = (async (...args: never[]) => {
        const before = [...line.journeysOf];
        const result = await (store[method] as (...all: never[]) => Promise<unknown>)(...args);
        // A call uses one connection. Others renew leases and listen meanwhile.
        taken[method].push(Math.max(...line.journeysOf.map((count, index) => count - (before[index] ?? 0))));
        return result;
      }) as never;
    const crawl = new BenchCrawl(counted, { ...USUAL, window: 8, together: 2 });
    await crawl.begin();
    // The first settle tells the site's first page.
    await crawl.work(8);
    taken.claim = [];
    taken.settle = [];
    await crawl.work(CALLS * 8);
    const mean = (list: readonly number[]) => list.reduce((sum, count) => sum + count, 0) / list.length;
    print(
      `round trips: claim ${taken.claim.slice(0, 12).join(" ")} …, settle ${taken.settle.slice(0, 12).join(" ")} …`,
    );
    return [
      verdictAtMost("round trips of a claim", mean(taken.claim), WANTED, ""),
      verdictAtMost("round trips of a settle", mean(taken.settle), WANTED, ""),
    ].every(Boolean);
  } finally {
    await store.close();
    line.close();
  }
}
