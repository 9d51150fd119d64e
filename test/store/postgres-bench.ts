import pg from "pg";
import { systemClock } from "../../src/base/clock.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { STORE_ACCESS, type StoreMethods } from "../../src/store/ports/access.ts";
import type { StoreHarness } from "../contract/store/kit.ts";
import { startPostgres, type TestService } from "../support/services.ts";
import { FULL, handClock } from "./bench.ts";
import { canTraceLocks, LockTrace } from "./lock-trace.ts";

/** By default every so many scenarios end with an audit: it takes longer than most of them, and SQLite's all have one. */
const AUDITED_EVERY = FULL ? 1 : 12;

/** Rows that are there from the beginning, and how they are then. */
const RESTORE = `UPDATE control SET version = 1, proxies = 0, proxies_removed = 0;
  UPDATE engine SET holder = NULL, epoch = 0, lease_until = 0;
  UPDATE meta SET value = '0' WHERE name = 'alerts_seen';
  DELETE FROM meta WHERE name = 'key_mark';
  ALTER SEQUENCE events_n_seq RESTART`;
const KEPT = new Set(["meta", "schema_version", "control", "engine", "crash_sentinel"]);

/** Most tables are empty after most scenarios; a function's statements are planned once, and not at each call. */
const emptying = (tables: readonly string[]) =>
  `CREATE OR REPLACE FUNCTION make_empty() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    ${tables.map((name) => `IF EXISTS (SELECT 1 FROM ${name}) THEN DELETE FROM ${name}; END IF;`).join("\n    ")}
    ${RESTORE};
  END $$`;

/**
 * A Postgres for all scenarios of a file. Connections, and the threads behind them, are kept from one scenario to the
 * next, and the tables emptied: starting them anew would take a second each time.
 */
export class PostgresBench implements AsyncDisposable {
  readonly service: TestService;
  readonly #admin: pg.Client;
  readonly #stores: Store[] = [];
  #hands = handClock();
  #harnesses = 0;
  #emptied: Promise<void> | null = null;
  readonly #ownTime: boolean;
  #trace: LockTrace | null = null;
  /** Methods that scenarios have called. */
  readonly called = new Set<keyof StoreMethods>();

  private constructor(service: TestService, ownTime: boolean) {
    this.service = service;
    this.#ownTime = ownTime;
    this.#admin = new pg.Client({ connectionString: service.url, options: "-c search_path=orbweaver" });
  }

  /** With `ownTime` the machine's clocks and the database's are those of its stores; else a test sets them. */
  static async start(ownTime = false): Promise<PostgresBench> {
    const bench = new PostgresBench(await startPostgres(), ownTime);
    await bench.#admin.connect();
    return bench;
  }

  /** One that notes which locks transactions take, if the server can tell. */
  static async startTraced(): Promise<PostgresBench> {
    const bench = await PostgresBench.start();
    if (!(await canTraceLocks(bench.service.url))) return bench;
    await (await bench.#open()).close();
    bench.#stores.length = 0;
    bench.#trace = await LockTrace.begin(bench.service.url);
    return bench;
  }

  /** What was noted up to now; null: the server cannot tell. */
  async traced(): Promise<LockTrace["traced"] | null> {
    await this.#trace?.take();
    return this.#trace?.traced ?? null;
  }

  readonly harness = async (): Promise<StoreHarness> => {
    const { times } = (this.#hands = handClock());
    if (this.#stores.length === 0) await this.#open();
    await this.#trace?.take();
    await this.#empty();
    await this.#trace?.skip();
    const used = new Set<Store>();
    this.#harnesses += 1;
    return {
      audited: this.#harnesses % AUDITED_EVERY === 0,
      clock: times,
      open: async () => {
        const store = this.#stores.find((one) => !used.has(one)) ?? (await this.#open());
        used.add(store);
        return this.#handOut(store);
      },
      close: async () => {},
    };
  };

  /** One that a scenario closes is closed, and not handed out again. */
  #handOut(store: Store): Store {
    const close = async () => {
      const place = this.#stores.indexOf(store);
      if (place !== -1) this.#stores.splice(place, 1);
      await store.close();
    };
    const methods = (Object.keys(STORE_ACCESS) as (keyof StoreMethods)[]).map((name) => {
      const call = (...args: unknown[]) => {
        this.called.add(name);
        return (store[name] as (...args: unknown[]) => unknown)(...args);
      };
      return [name, call] as const;
    });
    return { ...store, ...Object.fromEntries(methods), close, [Symbol.asyncDispose]: close };
  }

  async #open(): Promise<Store> {
    const clock = {
      now: () => this.#hands.times.wall,
      monotonic: () => this.#hands.times.mono,
      after: () => ({ cancel: () => {} }),
    };
    const { url } = this.service;
    const store = await openPostgresStore(
      this.#ownTime ? { url, clock: systemClock } : { url, clock, leaseNow: () => this.#hands.times.mono },
    );
    this.#stores.push(store);
    return store;
  }

  async #empty(): Promise<void> {
    this.#emptied ??= this.#makeEmptying();
    await this.#emptied;
    await this.#admin.query("SELECT make_empty()");
  }

  async #makeEmptying(): Promise<void> {
    const { rows } = await this.#admin.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'orbweaver'",
    );
    await this.#admin.query(emptying(rows.map(({ name }) => name).filter((name) => !KEPT.has(name))));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#stores) await store.close();
    await this.#trace?.[Symbol.asyncDispose]();
    await this.#admin.end();
    await this.service[Symbol.asyncDispose]();
  }
}
