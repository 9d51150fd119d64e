/** The cost of a page on Postgres: claim and settle in batches of a hundred, with the server on the same machine. */
import pg from "pg";
import { systemClock } from "../../src/base/clock.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { median, perSecond, print, seconds, verdictAtMost } from "../support/measure.ts";
import { startPostgres } from "../support/services.ts";
import { CountingLine, type Traffic } from "./counting-line.ts";
import { BenchCrawl, type BenchCrawlOptions, USUAL } from "./crawl.ts";
import { benchRoundTrips } from "./round-trips.ts";
import { benchSites } from "./sites.ts";

const WARM = 800;

interface Counters {
  transactions: number;
  rows: number;
  wal: number;
  size: number;
}

async function counters(admin: pg.Client, store: Store): Promise<Counters> {
  // Sessions report statistics once a second, at the end of a transaction.
  await new Promise((resolve) => setTimeout(resolve, 1200));
  await store.probe();
  const { rows } = await admin.query<Record<keyof Counters, string>>(
    `SELECT xact_commit AS transactions, pg_current_wal_insert_lsn() - '0/0' AS wal,
       (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables) AS rows, pg_database_size(datname) AS size
     FROM pg_stat_database WHERE datname = current_database()`,
  );
  const [row] = rows;
  return {
    transactions: Number(row?.transactions),
    rows: Number(row?.rows),
    wal: Number(row?.wal),
    size: Number(row?.size),
  };
}

/** A crawl in its own schema. */
async function crawled<T>(
  { url, schema, ...how }: { url: string; schema: string } & Partial<BenchCrawlOptions>,
  work: (crawl: BenchCrawl, store: Store) => Promise<T>,
): Promise<T> {
  const store = await openPostgresStore({ url: `${url}?schema=${schema}`, clock: systemClock });
  try {
    const crawl = new BenchCrawl(store, { ...USUAL, ...how });
    await crawl.begin();
    await crawl.work(WARM);
    return await work(crawl, store);
  } finally {
    await store.close();
  }
}

type Cost = Counters & Traffic & { waited: number };

/** Cost per page. */
function costOf(
  { admin, line, ...where }: { url: string; schema: string; admin: pg.Client; line: CountingLine },
  how: Partial<BenchCrawlOptions>,
  pages: number,
): Promise<Cost> {
  return crawled({ ...where, ...how }, async (crawl, store) => {
    const before: Cost = { ...(await counters(admin, store)), ...line.traffic, waited: crawl.waited };
    await crawl.work(pages);
    const traffic: Traffic = { ...line.traffic };
    const after: Cost = { ...(await counters(admin, store)), ...traffic, waited: crawl.waited };
    const perPage = (name: keyof Cost) => [name, (after[name] - before[name]) / pages] as const;
    return Object.fromEntries((Object.keys(after) as (keyof Cost)[]).map(perPage)) as unknown as Cost;
  });
}

export const defaultRounds = 3;

export async function run(rounds: number, { pages = "4000" }: { pages?: string }): Promise<boolean> {
  const server = await startPostgres();
  if (server === null) throw new Error("PostgreSQL is not installed");
  const count = Number(pages);
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  try {
    const speeds: number[] = [];
    for (let round = 0; round < rounds; round += 1)
      speeds.push(
        await crawled(
          { url: server.url, schema: `speed_${round}` },
          async (crawl) => count / (await seconds(() => crawl.work(count))),
        ),
      );
    const line = await CountingLine.to(Number(new URL(server.url).port));
    const counted = { url: server.url.replace(/:\d+\//, `:${line.port}/`), admin, line };
    const cost = await costOf({ ...counted, schema: "counted" }, {}, count);
    const withFile = await costOf({ ...counted, schema: "files" }, { files: true }, count);
    line.close();
    const direct = { ...counted, url: server.url };
    const large = await costOf({ ...direct, schema: "large" }, {}, count);
    const small = await costOf({ ...direct, schema: "small" }, { window: 2, together: 1 }, Math.ceil(count / 10));
    print(`pages claimed and settled     ${perSecond(median(speeds))}`);
    print(`journeys per page             ${cost.journeys.toFixed(3)}`);
    print(`statements per page           ${cost.statements.toFixed(3)}`);
    print(`bytes sent per page           ${Math.round(cost.bytes)}`);
    print(`bytes of WAL per page         ${Math.round(cost.wal)}`);
    print(`bytes of the database per page ${Math.round(cost.size)}`);
    print(`rows written per page that leaves a file ${withFile.rows.toFixed(2)}`);
    const { w, r } = solve(large, small);
    print(`a write transaction takes     ${(w * 1000).toFixed(2)} ms, and each row ${(r * 1e6).toFixed(0)} µs more`);
    await benchSites(server.url);
    return [
      await benchRoundTrips(server.url),
      // Four are the page's own: insert, claim, settle, and its record.
      verdictAtMost("rows written per page", cost.rows, 5, ""),
      verdictAtMost("transactions per page", cost.transactions, 0.1, ""),
    ].every(Boolean);
  } finally {
    await admin.end();
    await server.stop();
  }
}

/** From two crawls that write the same in larger and smaller transactions: the cost of a transaction, and of a row. */
function solve(a: Cost, b: Cost): { w: number; r: number } {
  const determinant = a.transactions * b.rows - b.transactions * a.rows;
  return {
    w: (a.waited * b.rows - b.waited * a.rows) / determinant,
    r: (a.transactions * b.waited - b.transactions * a.waited) / determinant,
  };
}
