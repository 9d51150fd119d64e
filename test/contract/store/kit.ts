import assert from "node:assert/strict";
import { isOrbError, type ErrorCode } from "../../../src/base/errors.ts";
import { failure } from "../../../src/domain/run/failure.ts";
import type { Attempt, Report, TaskArtifact } from "../../../src/domain/run/outcome.ts";
import { NO_TASKS, type TaskCounts } from "../../../src/domain/run/run-end.ts";
import { TASK_STATES, type TaskState } from "../../../src/domain/run/states.ts";
import type { EngineCandidate } from "../../../src/store/records/engine-records.ts";
import type {
  Claim,
  ClaimedTask,
  EventRecord,
  LaneGrant,
  LaneHold,
  NewRun,
  NewTask,
  RunRecord,
  Settled,
  SettledTask,
  Store,
} from "../../../src/store/ports/port.ts";

/** Both times of the store under test, set by hand. Leases are measured by `mono`. */
export interface ContractClock {
  wall: number;
  mono: number;
}

export interface StoreHarness {
  /** Each call is another connection to the same database, as another process would have it. */
  open(): Promise<Store>;
  clock: ContractClock;
  /** False: this scenario's end is not audited, which is dear. */
  audited?: boolean;
  /** Closes every connection and removes the database. */
  close(): Promise<void>;
}

export type MakeHarness = () => Promise<StoreHarness>;
export type Scenario = (title: string, body: (kit: Kit) => Promise<void>) => void;
export type Verdict = SettledTask["verdict"];

export const TTL = 60_000;
export const LANE = "site:a.example";
export const DONE: Verdict = { kind: "completed", artifacts: [], results: [], detail: null };
export const FAILED: Verdict = { kind: "failed", failure: failure("http_not_found", "gone", { httpStatus: 404 }) };
export const SKIPPED: Verdict = { kind: "skipped", why: "unchanged" };
export const RATE_WAIT: Verdict = {
  kind: "rate_wait",
  failure: failure("http_too_many_requests", "slow down", { httpStatus: 429 }),
};
export const HANDED_BACK: Verdict = { kind: "handed_back" };

export function retryAt(readyAt: number): Verdict {
  return { kind: "retry", failure: failure("connection_reset", "the connection broke"), readyAt };
}

export function movedTo(lane: string): Verdict {
  const site = lane.replace("site:", "");
  return { kind: "moved", url: `https://${site}/`, lane, site, redirects: ["https://a.example/"] };
}

export function candidate(id: string, more: Partial<EngineCandidate> = {}): EngineCandidate {
  return { id, boot: "boot-1", pid: 1, pidStart: "1", address: `socket-of-${id}`, ...more };
}

export function newTask(key: string, more: Partial<NewTask> = {}): NewTask {
  const lane = more.lane ?? LANE;
  return {
    key,
    lane,
    site: lane.replace("site:", ""),
    resolver: null,
    url: `https://${lane.replace("site:", "")}/${key}`,
    priority: 0,
    handler: null,
    payload: null,
    ...more,
  };
}

export function attempt(number: number, more: Partial<Attempt> = {}): Attempt {
  return {
    attempt: number,
    strategy: "http",
    proxy: null,
    started_at: "2030-01-01T00:00:00.000Z",
    duration_ms: 5,
    http_status: 200,
    failure_code: null,
    failure_reason: null,
    ...more,
  };
}

export function keysOf(claim: Claim | null): string[] {
  assert.ok(claim !== null, "the lane should be ours");
  return claim.tasks.map((task) => task.key);
}

/** Temporary runs that ended then or earlier expire; all others stay. */
export function temporary(before: number): { temporaryBefore: number; endedBefore: null } {
  return { temporaryBefore: before, endedBefore: null };
}

export async function refused(code: ErrorCode, work: Promise<unknown>): Promise<void> {
  await assert.rejects(
    work,
    (error) => isOrbError(error, code) || assert.fail(`${code} expected, got ${String(error)}`),
  );
}

/** A refusal that names the field which is wrong. */
export async function refusedField(field: string, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(isOrbError(error, "input_invalid"), `input_invalid expected, got ${String(error)}`);
    assert.deepEqual(
      error.fields.map(({ path }) => path),
      [field],
    );
    return true;
  });
}

/** An id that nobody has. */
export const NOBODY = "3b241101-e2bb-4255-8caf-4136c566a962";

/** A picture that shows why a page could not be had. */
export function evidence(letter: string): TaskArtifact {
  return {
    hash: letter.repeat(64),
    size: 7,
    contentType: "image/png",
    url: `https://a.example/${letter}`,
    role: "screenshot",
  };
}

/** Reads page after page until one is empty; `between` is what happens while the reader thinks. */
export async function walk<T extends { id: string }>(
  read: (position: { after?: string; limit: number }) => Promise<T[]>,
  limit: number,
  between: () => Promise<unknown> = async () => {},
): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await read({ limit, ...(last === undefined ? {} : { after: last.id }) });
    if (page.length === 0) return all;
    assert.ok(page.length <= limit, `${page.length} where ${limit} were asked for`);
    all.push(...page);
    assert.equal(new Set(all.map(({ id }) => id)).size, all.length, "nothing comes twice");
    await between();
  }
}

const TERMINAL_WORDS = /^Run (completed|failed|cancelled)/;

/** One database and the hands that tests use on it. */
export class Kit {
  readonly store: Store;
  readonly clock: ContractClock;
  readonly open: () => Promise<Store>;
  #runs = 0;

  constructor(store: Store, harness: StoreHarness) {
    this.store = store;
    this.clock = harness.clock;
    this.open = () => harness.open();
  }

  get now(): number {
    return this.clock.wall;
  }

  pass(ms: number): void {
    this.clock.wall += ms;
    this.clock.mono += ms;
  }

  run(more: Partial<NewRun> = {}): Promise<RunRecord> {
    this.#runs += 1;
    return this.store.openRun({ kind: "queue", maxAttempts: 3, snapshot: { number: this.#runs }, ...more }, this.now);
  }

  enqueue(run: RunRecord, tasks: readonly (string | NewTask)[], store = this.store) {
    return store.enqueue(
      run.id,
      tasks.map((task) => (typeof task === "string" ? newTask(task) : task)),
      this.now,
    );
  }

  /** A run that has these tasks. */
  async runWith(tasks: readonly (string | NewTask)[], more: Partial<NewRun> = {}): Promise<RunRecord> {
    const run = await this.run(more);
    await this.enqueue(run, tasks);
    return run;
  }

  /** A run of one page, with its task. */
  async page(key = "page", more: Partial<NewRun> = {}): Promise<RunRecord> {
    const { created } = await this.store.startRun(
      { kind: "page", maxAttempts: 3, snapshot: { url: `https://a.example/${key}` }, ...more },
      [newTask(key)],
      this.now,
    );
    return created;
  }

  /** Lets `owner` own lanes; where only one process may, it takes the place of the one before. */
  async enter(owner: string, store = this.store): Promise<void> {
    if (!store.capabilities.singleEngine) return store.joinOwners(owner, TTL);
    const before = await store.engineHolder();
    const { taken } = await store.takeEngine(candidate(owner), TTL, before?.id);
    assert.equal(taken, true);
  }

  async take(owner: string, lane = LANE, store = this.store): Promise<LaneGrant> {
    await this.enter(owner, store);
    const grant = await store.takeLane(lane, owner, TTL);
    assert.ok(grant !== null, `${owner} should get ${lane}`);
    return grant;
  }

  /** `owner` comes after another that died without a word. */
  async takeOver(owner: string, lane = LANE, store = this.store): Promise<LaneGrant> {
    if (!store.capabilities.singleEngine) this.clock.mono += TTL + 1;
    return this.take(owner, lane, store);
  }

  async claim(hold: LaneHold, limit = 100, store = this.store): Promise<Claim> {
    const claim = await store.claim(hold, { limit }, this.now);
    assert.ok(claim !== null, "the lane should be ours");
    return claim;
  }

  settle(hold: LaneHold, tasks: readonly ClaimedTask[], verdict: Verdict, store = this.store): Promise<Settled> {
    const settled = tasks.map((task) => ({ task, verdict, attempt: attempt(task.tries + 1) }));
    return store.settle([{ hold, tasks: settled }], this.now);
  }

  /** As `settle`, for attempts that tell something beside their outcome. */
  report(hold: LaneHold, tasks: readonly ClaimedTask[], verdict: Verdict, report: Report): Promise<Settled> {
    const settled = tasks.map((task) => ({ task, verdict, attempt: attempt(task.tries + 1), report }));
    return this.store.settle([{ hold, tasks: settled }], this.now);
  }

  /** Claims everything that is ready in the lane and gives it one verdict. */
  async work(hold: LaneHold, verdict: Verdict): Promise<Settled> {
    const { tasks } = await this.claim(hold);
    return this.settle(hold, tasks, verdict);
  }

  async status(run: RunRecord): Promise<string> {
    const found = await this.store.run(run.id);
    return found?.status ?? "missing";
  }

  async states(run: RunRecord): Promise<Record<string, TaskState>> {
    const list = await this.store.tasks(run.id, { limit: 10_000 });
    return Object.fromEntries(list.map((task) => [task.key, task.state]));
  }

  /** The run's counters over all lanes, without the zeros. */
  async counts(run: RunRecord): Promise<Partial<TaskCounts>> {
    const total = { ...NO_TASKS };
    for (const { counts } of await this.store.counts(run.id)) {
      for (const name of TASK_STATES) total[name] += counts[name];
    }
    return Object.fromEntries(Object.entries(total).filter(([, n]) => n > 0));
  }

  events(run: RunRecord): Promise<EventRecord[]> {
    return this.store.events(run.id, { limit: 10_000 });
  }

  async words(run: RunRecord): Promise<string[]> {
    return (await this.events(run)).map((event) => event.message);
  }

  async ends(run: RunRecord): Promise<string[]> {
    const events = await this.events(run);
    return events.map((event) => event.message).filter((message) => TERMINAL_WORDS.test(message));
  }

  async expectClean(): Promise<void> {
    const { checks, findings } = await this.store.audit();
    assert.ok(checks.length > 0);
    assert.deepEqual(findings, []);
  }
}
