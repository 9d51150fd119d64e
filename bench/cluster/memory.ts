/** Redis memory while a cluster works on a crawl with a million known URLs. */
import { Redis } from "ioredis";
import { systemClock } from "../../src/base/clock.ts";
import { laneOfSite } from "../../src/domain/lane/lane.ts";
import { siteOf } from "../../src/domain/text/url.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import type { NewTask } from "../../src/store/ports/port.ts";
import { perSecond, print, seconds, verdictAtMost } from "../support/measure.ts";
import { BenchCluster, pause, printLoad } from "./cluster.ts";
import { Sites } from "./sites.ts";

const WANTED_MB = 50;
const SITES = 1000;
const CHUNK = 1000;
const MB = 1024 * 1024;
const LATENCY_MS = 100;

/** Site by site: a transaction over a thousand sites takes far longer than one over a thousand pages of one site. */
function* chunks(sites: Sites, pages: number): Generator<NewTask[]> {
  const perSite = Math.ceil(pages / SITES);
  for (let site = 0; site < SITES; site += 1) {
    const place = siteOf(sites.url(site));
    const lane = laneOfSite(place);
    const tasks = Array.from({ length: perSite }, (_, page) => {
      const url = sites.url(site, `/page/${page}`);
      return { key: url, lane, site: place, resolver: null, url, priority: 0, handler: null, payload: {} };
    });
    for (let first = 0; first < perSite; first += CHUNK) yield tasks.slice(first, first + CHUNK);
  }
}

async function enqueue(url: string, sites: Sites, pages: number): Promise<void> {
  await using store = await openPostgresStore({ url, clock: systemClock });
  const run = await store.runByAlias("queue");
  if (run === null) throw new Error("there is no queue");
  for (const tasks of chunks(sites, pages)) await store.enqueue(run.id, tasks, systemClock.now());
}

/** In MB. */
async function usedBy(redis: Redis): Promise<{ now: number; peak: number }> {
  const info = await redis.info("memory");
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0) / MB;
  return { now: read("used_memory"), peak: read("used_memory_peak") };
}

export async function benchMemory(pages: number, workSeconds: number): Promise<boolean> {
  print(`\nmemory of Redis: ${pages} addresses of ${SITES} sites are known, and 2 workers work for ${workSeconds} s`);
  printLoad();
  using sites = await Sites.start({ sites: SITES, latencyMs: LATENCY_MS });
  await using cluster = await BenchCluster.start({ workers: 2 });
  // The first item creates the queue.
  await cluster.post("/queue/items", { artifact_id: "first", url: sites.url(0, "/first") });
  const redis = new Redis(cluster.redis.url);
  try {
    const took = await seconds(() => enqueue(cluster.postgres.url, sites, pages));
    print(`enqueued ${perSecond(pages / took)}`);
    const before = await sites.count();
    let tickets = 0;
    for (let second = 0; second < workSeconds; second += 1) {
      await pause(1000);
      tickets = Math.max(tickets, await redis.dbsize());
    }
    const after = await sites.count();
    const { now, peak } = await usedBy(redis);
    print(`${perSecond((after.total - before.total) / workSeconds)} pages; at most ${tickets} keys in Redis`);
    print(`Redis: ${now.toFixed(1)} MB now, ${peak.toFixed(1)} MB at most`);
    if (after.total - before.total < SITES) throw new Error("the workers did next to nothing: the figure says nothing");
    return verdictAtMost(`Redis with ${pages} known addresses`, peak, WANTED_MB, " MB");
  } finally {
    redis.disconnect();
  }
}
