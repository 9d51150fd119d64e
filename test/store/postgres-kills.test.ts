import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { systemClock } from "../../src/base/clock.ts";
import { isOrbError } from "../../src/base/errors.ts";
import type { ClaimedTask, LaneGrant, SettledTask, Store } from "../../src/store/ports/port.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { attempt, FAILED, newTask, retryAt, TTL } from "../contract/store/kit.ts";
import { servicesGate } from "../support/services-kit.ts";
import { startPostgres, type TestService } from "../support/services.ts";
import { type ProxyConnection, PostgresProxy } from "./postgres-proxy.ts";

const OWNER = "w";
const PAGES = 4;

/** How a connection ends: the line is cut, before the statement or behind its effect, or the server ends the session. */
type How = "cut" | "ended by the server" | "cut after the answer was given";

interface Round {
  runId: string;
  lane: string;
  hold: LaneGrant;
}

/** Counts the statements of the next transaction, and ends its connection at one of them. */
class Killer {
  readonly #admin: pg.Client;
  #at: number | "COMMIT" | null = null;
  #how: How = "cut";
  #victim: ProxyConnection | null = null;
  #statements: string[] = [];
  #isArmed = false;
  #isDone = false;

  constructor(admin: pg.Client) {
    this.#admin = admin;
  }

  /** By its number; null: only counts. */
  arm(at: number | "COMMIT" | null, how: How): void {
    this.#at = at;
    this.#how = how;
    this.#victim = null;
    this.#statements = [];
    this.#isArmed = true;
    this.#isDone = false;
  }

  /** The statements of the transaction, and whether its connection was ended. */
  disarm(): { statements: string[]; isDone: boolean } {
    this.#isArmed = false;
    return { statements: this.#statements, isDone: this.#isDone };
  }

  readonly asked = (text: string, connection: ProxyConnection): void | Promise<void> => {
    if (!this.#isArmed || this.#isDone) return undefined;
    if (text === "BEGIN" && this.#victim === null) this.#victim = connection;
    if (connection !== this.#victim) return undefined;
    this.#statements.push(text.replaceAll(/\s+/g, " "));
    if (this.#statements.length !== this.#at && text !== this.#at) return undefined;
    this.#isDone = true;
    return this.#end(text, connection);
  };

  async #end(text: string, connection: ProxyConnection): Promise<void> {
    if (this.#how === "cut") return connection.cutBehind();
    if (this.#how === "cut after the answer was given") {
      connection.withhold();
      void connection.answer(text).then(() => connection.cut());
      return;
    }
    const end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE client_port = $1";
    assert.equal((await this.#admin.query(end, [connection.clientPort])).rowCount, 1);
  }
}

describe("a connection that ends at any statement", servicesGate, () => {
  let service: TestService;
  let admin: pg.Client;
  let proxy: PostgresProxy;
  let killer: Killer;
  let store: Store;
  let direct: Store;
  let rounds = 0;

  before(async () => {
    service = await startPostgres();
    admin = new pg.Client({ connectionString: service.url });
    await admin.connect();
    killer = new Killer(admin);
    proxy = await PostgresProxy.to(service.port, { asked: (text, connection) => killer.asked(text, connection) });
    direct = await openPostgresStore({ url: service.url, clock: systemClock });
    store = await openPostgresStore({ url: proxy.url(service.url), clock: systemClock });
    await store.joinOwners(OWNER, TTL);
  });

  after(async () => {
    await store?.close();
    await direct?.close();
    proxy?.[Symbol.dispose]();
    await admin?.end();
    await service?.[Symbol.asyncDispose]();
  });

  /** A run of its own, at a site of its own, of which nothing was claimed. */
  async function begin(): Promise<Round> {
    rounds += 1;
    const lane = `site:s${rounds}.example`;
    const tasks = Array.from({ length: PAGES }, (_, index) => newTask(`page-${index}`, { lane }));
    const { created } = await direct.startRun({ kind: "queue", maxAttempts: 3, snapshot: {} }, tasks, Date.now());
    return { runId: created.id, lane, hold: await take(lane) };
  }

  async function take(lane: string): Promise<LaneGrant> {
    const grant = await store.takeLane(lane, OWNER, TTL);
    assert.ok(grant !== null);
    return grant;
  }

  /** As the owner of a lane does it: without an answer it does not know what it has, and begins anew. */
  async function claimAll(round: { lane: string; hold: LaneGrant }): Promise<ClaimedTask[]> {
    const claim = () => store.claim(round.hold, { limit: PAGES * 2 }, Date.now());
    try {
      return (await claim())?.tasks ?? [];
    } catch (error) {
      assert.ok(isOrbError(error, "database_unavailable"), String(error));
      await store.releaseLane(round.hold);
      round.hold = await take(round.lane);
      return (await claim())?.tasks ?? [];
    }
  }

  const outcome = (task: ClaimedTask): SettledTask => {
    const base = { task, attempt: attempt(task.tries + 1) };
    const index = Number(/\d+$/.exec(task.key)?.[0]);
    if (index === 1) return { ...base, verdict: FAILED };
    if (index === 2 && task.tries === 0) return { ...base, verdict: retryAt(Date.now()) };
    const discovered =
      task.key === "page-3"
        ? [{ key: `found-${task.key}`, url: task.url ?? "", lane: "site:new.example", site: "new.example", depth: 1 }]
        : [];
    return {
      ...base,
      report: { discovered },
      verdict: { kind: "completed", artifacts: [], results: [{ n: index }], detail: null },
    };
  };

  /** As the settler does it: what was not told as written is written again. */
  async function settle(hold: LaneGrant, tasks: SettledTask[]): Promise<void> {
    for (;;)
      try {
        assert.deepEqual((await store.settle([{ hold, tasks }], Date.now())).lost, []);
        return;
      } catch (error) {
        assert.ok(isOrbError(error, "database_unavailable"), String(error));
      }
  }

  /** Whatever happened: every page has its one outcome, and the run its one end. */
  async function finish(round: Round): Promise<void> {
    for (let tasks = await claimAll(round); tasks.length > 0; tasks = await claimAll(round))
      await settle(round.hold, tasks.map(outcome));
    await store.releaseLane(round.hold);
    await settleFound();
    await check(round.runId);
  }

  /** What a page of the run has found, at another site. */
  async function settleFound(): Promise<void> {
    const found = { lane: "site:new.example", hold: await take("site:new.example") };
    for (let tasks = await claimAll(found); tasks.length > 0; tasks = await claimAll(found))
      await settle(found.hold, tasks.map(outcome));
    await store.releaseLane(found.hold);
  }

  async function check(runId: string): Promise<void> {
    assert.equal((await direct.run(runId))?.status, "partial");
    const tasks = await direct.tasks(runId, { limit: 100 });
    assert.deepEqual(tasks.map(({ key, state, tries }) => `${key} ${state} ${tries}`).toSorted(), [
      "found-page-3 completed 1",
      "page-0 completed 1",
      "page-1 failed 1",
      "page-2 completed 2",
      "page-3 completed 1",
    ]);
    assert.equal((await direct.results(runId, { limit: 100 })).length, PAGES);
    const ends = (await direct.events(runId, { limit: 100 })).filter(({ type }) => type === "run.partial");
    assert.equal(ends.length, 1, JSON.stringify(ends));
  }

  const setUps: Readonly<Record<string, () => Promise<Round & { tasks: ClaimedTask[] | null }>>> = {
    claim: async () => ({ ...(await begin()), tasks: null }),
    settle: async () => {
      const round = await begin();
      return { ...round, tasks: await claimAll(round) };
    },
    "settle that ends its run": async () => {
      const round = await begin();
      await settle(round.hold, (await claimAll(round)).map(outcome));
      await settleFound();
      return { ...round, tasks: await claimAll(round) };
    },
  };

  for (const [what, setUp] of Object.entries(setUps)) {
    /** One transaction with a connection that ends at a statement, and all that follows. */
    const play = async (at: number | "COMMIT" | null, how: How): Promise<{ statements: string[]; isDone: boolean }> => {
      const round = await setUp();
      killer.arm(at, how);
      const tasks = round.tasks ?? (await claimAll(round));
      if (round.tasks !== null) await settle(round.hold, tasks.map(outcome));
      const heard = killer.disarm();
      if (round.tasks === null) {
        assert.equal(tasks.length, PAGES, "all were claimed, by whichever try");
        await settle(round.hold, tasks.map(outcome));
      }
      await finish(round);
      return heard;
    };

    for (const how of ["cut", "ended by the server"] as const)
      test(`of a ${what}, ${how}: nothing is lost or done twice [slow]`, async () => {
        const { statements } = await play(null, how);
        assert.equal(statements[0], "BEGIN");
        assert.equal(statements.at(-1), "COMMIT");
        assert.ok(statements.length > 8, `${statements.length} statements`);
        // Which rows a transaction writes depends on what is known of the site: it may have a statement more or less.
        for (let at = 1; ; at += 1) {
          const heard = await play(at, how);
          if (heard.isDone) continue;
          assert.equal(heard.statements.at(-1), "COMMIT", "the transaction was over before");
          assert.ok(
            heard.statements.length < at && at > 8,
            `${heard.statements.length} statements, not ended at ${at}`,
          );
          break;
        }
        if (how === "cut") assert.ok((await play("COMMIT", "cut after the answer was given")).isDone);
        assert.deepEqual((await direct.audit()).findings, []);
      });
  }
});
