import assert from "node:assert/strict";
import { NO_TASKS, endOfRun, type TaskCounts } from "../../src/domain/run/run-end.ts";
import { OPEN_TASK_STATES, type RunState, TERMINAL_RUN_STATES } from "../../src/domain/run/states.ts";
import type { LaneGrant, Store } from "../../src/store/ports/port.ts";
import { attempt, candidate, newTask, refused, TTL } from "../contract/store/kit.ts";
import { compareWorld } from "./world-compare.ts";
import {
  type Action,
  type InFlight,
  LANES,
  type ModelLane,
  type ModelRun,
  type ModelTask,
  type Owner,
  RUNS,
  type Settling,
} from "./world-model.ts";
import { applyVerdict, verdictOf } from "./world-verdicts.ts";

const isOpen = (task: ModelTask) => OPEN_TASK_STATES.includes(task.state);

/** What a store should hold, in plain arrays, next to a real one that is told the same. */
export class World {
  readonly stores: Record<Owner, Store>;
  readonly times: { wall: number; mono: number };
  readonly runs: (ModelRun | null)[] = RUNS.map(() => null);
  readonly lanes: ModelLane[] = LANES.map(() => ({ known: false, owner: null, epoch: 0, until: 0 }));
  readonly grants = new Map<string, LaneGrant>();
  inFlight: InFlight[] = [];
  engine: { holder: Owner; until: number } | null = null;
  born = 0;

  constructor(stores: Record<Owner, Store>, times: { wall: number; mono: number }) {
    this.stores = stores;
    this.times = times;
  }

  get any(): Store {
    return this.stores.A;
  }

  counts(one: ModelRun): TaskCounts {
    const counts = { ...NO_TASKS };
    for (const task of one.tasks) counts[task.state] += 1;
    return counts;
  }

  end(one: ModelRun): boolean {
    if (one.status !== "running" || one.tasks.some(isOpen)) return false;
    one.status = endOfRun(this.counts(one)).status;
    one.ends += 1;
    return true;
  }

  reopen(one: ModelRun, to: RunState): void {
    one.status = to;
    one.generation += 1;
  }

  owns(who: Owner, at: number, grant: LaneGrant | undefined): boolean {
    const held = this.lanes[at];
    return held?.owner === who && grant?.epoch === held.epoch;
  }

  async step(what: Action): Promise<void> {
    switch (what.do) {
      case "openRun":
        return this.openRun(what.run);
      case "enqueue":
        return this.enqueue(what.run, what.lane, what.keys);
      case "takeEngine":
        return this.takeEngine(what.owner);
      case "takeLane":
        return this.takeLane(what.owner, what.lane);
      case "releaseLane":
        return this.releaseLane(what.owner, what.lane);
      case "claim": {
        const keys = [...this.grants.keys()];
        const key = keys[what.pick % keys.length];
        return key === undefined ? undefined : this.claim(key[0] as Owner, Number(key[1]), what.limit);
      }
      case "settle":
        return this.settle(what);
      case "heartbeat":
        return this.heartbeat(what.owner);
      case "pass":
        this.times.wall += what.ms;
        this.times.mono += what.ms;
        return;
      case "pause":
        return this.change(what.run, "paused", ["queued", "running"]);
      case "resume":
        return this.change(what.run, "running", ["queued", "paused", "recovering", "completed", "partial", "failed"]);
      case "cancel":
        return this.change(what.run, "cancelled", ["queued", "running", "paused", "recovering"]);
      case "recover":
        return this.change(what.run, "recovering", ["failed"]);
      case "retryFailed":
        return this.retryFailed(what.run, what.lane, what.limit);
    }
  }

  async openRun(index: number): Promise<void> {
    const wanted = { kind: "queue" as const, alias: `run-${index}`, maxAttempts: 3, snapshot: index };
    const record = await this.any.openRun(wanted, this.times.wall);
    const known = this.runs[index];
    if (known) assert.equal(record.id, known.record.id);
    else this.runs[index] = { record, status: "queued", generation: 1, ends: 0, tasks: [] };
  }

  async enqueue(index: number, at: number, keys: readonly number[]): Promise<void> {
    const one = this.runs[index];
    if (!one) return;
    const names = keys.map((key) => `k${key}`);
    const fresh = [...new Set(names)].filter((name) => one.tasks.every((task) => task.key !== name));
    const call = this.any.enqueue(
      one.record.id,
      names.map((name) => newTask(name, { lane: LANES[at] ?? "" })),
      this.times.wall,
    );
    if (fresh.length > 0 && one.status === "cancelled") return refused("illegal_transition", call);
    const reopens = fresh.length > 0 && TERMINAL_RUN_STATES.includes(one.status);
    const result = await call;
    assert.deepEqual(
      [result.added, result.existing, result.reopened],
      [fresh.length, names.length - fresh.length, reopens],
    );
    if (names.length > 0) this.knowLane(at);
    for (const key of fresh) {
      this.born += 1;
      one.tasks.push({ key, lane: at, state: "queued", tries: 0, waits: 0, readyAt: 0, history: 0, born: this.born });
    }
    if (reopens) this.reopen(one, "running");
  }

  knowLane(at: number): void {
    const held = this.lanes[at];
    if (held) held.known = true;
  }

  async takeEngine(who: Owner): Promise<void> {
    const free = this.engine === null || this.engine.holder === who || this.engine.until < this.times.mono;
    const { taken } = await this.stores[who].takeEngine(candidate(who), TTL);
    assert.equal(taken, free);
    if (!free) return;
    if (this.engine?.holder !== who) for (const held of this.lanes) held.owner = null;
    this.engine = { holder: who, until: this.times.mono + TTL };
  }

  async takeLane(who: Owner, at: number): Promise<void> {
    const held = this.lanes[at];
    if (held === undefined) return;
    const free = held.known && this.engine?.holder === who && (held.owner === null || held.until < this.times.mono);
    const grant = await this.stores[who].takeLane(LANES[at] ?? "", who, TTL);
    assert.equal(grant !== null, free);
    if (grant === null) return;
    const left = this.runs.flatMap(
      (one) => one?.tasks.filter((task) => task.lane === at && task.state === "running") ?? [],
    );
    for (const task of left) task.state = "queued";
    assert.equal(grant.recovered, left.length);
    assert.ok(grant.epoch > held.epoch);
    Object.assign(held, { owner: who, epoch: grant.epoch, until: this.times.mono + TTL });
    this.grants.set(`${who}${at}`, grant);
  }

  async releaseLane(who: Owner, at: number): Promise<void> {
    const grant = this.grants.get(`${who}${at}`);
    if (grant === undefined) return;
    await this.stores[who].releaseLane(grant);
    const held = this.lanes[at];
    if (held && this.owns(who, at, grant)) held.owner = null;
  }

  async claim(who: Owner, at: number, limit: number): Promise<void> {
    const grant = this.grants.get(`${who}${at}`);
    if (grant === undefined) return;
    const claim = await this.stores[who].claim(grant, { limit }, this.times.wall);
    assert.equal(claim !== null, this.owns(who, at, grant));
    if (claim === null) return;
    const served = this.runs.filter((one) => one?.status === "queued" || one?.status === "running");
    const here = served.flatMap((one) => one?.tasks.filter((task) => task.lane === at) ?? []);
    for (const task of here) if (task.state === "retrying" && task.readyAt <= this.times.wall) task.state = "queued";
    const ready = here.filter((task) => task.state === "queued");
    assert.equal(claim.tasks.length, Math.min(limit, ready.length));
    assert.equal(claim.more, ready.length > limit);
    const sleeping = here.filter((task) => task.state === "retrying").map((task) => task.readyAt);
    assert.equal(claim.nextReadyAt, sleeping.length === 0 ? null : Math.min(...sleeping));
    for (const task of claim.tasks) {
      const index = this.runs.findIndex((one) => one?.record.id === task.runId);
      const one = this.runs[index];
      const mine = one?.tasks.find((candidate) => candidate.key === task.key);
      assert.ok(one && mine && ready.includes(mine), `${task.key} was not to be claimed`);
      assert.deepEqual([task.tries, task.waits, task.attempts.length], [mine.tries, mine.waits, mine.history]);
      const older = ready.filter(
        (other) => one.tasks.includes(other) && other.state === "queued" && other.born < mine.born,
      );
      assert.deepEqual(older, [], "older tasks of a run come first");
      mine.state = "running";
      if (one.status === "queued") one.status = "running";
      this.inFlight.push({ owner: who, lane: at, grant, run: index, task });
    }
    const shares = served.map((one) => claim.tasks.filter((task) => task.runId === one?.record.id).length);
    const starved = served.some(
      (one, index) =>
        one?.tasks.some((task) => task.lane === at && task.state === "queued") &&
        (shares[index] ?? 0) + 1 < Math.max(...shares),
    );
    assert.ok(!starved, "no run gets two more than one that still has work");
  }

  async settle(what: Settling): Promise<void> {
    const first = this.inFlight[what.pick % this.inFlight.length];
    if (first === undefined) return;
    const { owner: who, lane: at } = first;
    // One batch per grant: what was claimed under an older grant is settled with that one.
    const batch = this.inFlight.filter((one) => one.grant === first.grant).slice(0, what.take);
    this.inFlight = this.inFlight.filter((one) => !batch.includes(one));
    const verdict = verdictOf(what, this.times.wall);
    const result = await this.stores[who].settle(
      [
        {
          hold: first.grant,
          tasks: batch.map(({ task }) => ({ task, verdict, attempt: attempt(task.tries + 1) })),
        },
      ],
      this.times.wall,
    );
    const holds = this.owns(who, at, first.grant);
    assert.deepEqual(result.lost, holds ? [] : [first.grant.laneId]);
    if (!holds) {
      assert.deepEqual([result.opened, result.ended], [[], []]);
      return;
    }
    const touched = new Set<ModelRun>();
    let live = 0;
    for (const { run: index, task } of batch) {
      const one = this.runs[index];
      const known = one?.tasks.find((candidate) => candidate.key === task.key);
      assert.ok(one && known && known.state === "running" && known.lane === at);
      touched.add(one);
      if (TERMINAL_RUN_STATES.includes(one.status)) {
        // Nothing is written for a run after its end.
        known.state = "cancelled";
        continue;
      }
      applyVerdict(known, what, this.times.wall);
      if (what.verdict === "moved") this.knowLane(what.to);
      live += 1;
    }
    const ended = [...touched].filter((one) => this.end(one));
    assert.deepEqual(
      new Map(result.ended.map((one) => [one.runId, one.status])),
      new Map(ended.map((one) => [one.record.id, one.status])),
    );
    assert.deepEqual(result.opened, what.verdict === "moved" && live > 0 ? [LANES[what.to]] : []);
  }

  async heartbeat(who: Owner): Promise<void> {
    const kept = await this.stores[who].heartbeat(who, TTL);
    assert.equal(kept !== null, this.engine?.holder === who);
    if (kept === null || this.engine === null) return;
    this.engine.until = this.times.mono + TTL;
    for (const held of this.lanes) if (held.owner === who) held.until = this.times.mono + TTL;
    assert.equal(kept.size, this.lanes.filter((held) => held.owner === who).length);
  }

  async change(index: number, to: RunState, from: readonly RunState[]): Promise<void> {
    const one = this.runs[index];
    if (!one) return;
    const call = this.any.changeRun(one.record.id, to, `Run ${to}`, this.times.wall);
    if (!from.includes(one.status)) return refused("illegal_transition", call);
    await call;
    if (TERMINAL_RUN_STATES.includes(one.status)) this.reopen(one, to);
    else one.status = to;
    if (TERMINAL_RUN_STATES.includes(to)) one.ends += 1;
    this.end(one);
  }

  async retryFailed(index: number, at: number | null, limit: number): Promise<void> {
    const one = this.runs[index];
    if (!one) return;
    const failed = one.tasks.filter((task) => task.state === "failed" && (at === null || task.lane === at));
    const call = this.any.retryFailed(
      one.record.id,
      at === null ? { limit } : { limit, site: (LANES[at] ?? "").replace("site:", "") },
      this.times.wall,
    );
    if (failed.length > 0 && one.status === "cancelled") return refused("illegal_transition", call);
    const { requeued } = await call;
    assert.equal(requeued, Math.min(limit, failed.length));
    // Which of them it chose is the store's own business.
    for (const task of failed) {
      const now = await this.any.taskByKey(one.record.id, task.key);
      if (now?.state === "queued") Object.assign(task, { state: "queued", tries: 0, waits: 0, readyAt: 0 });
    }
    assert.equal(failed.filter((task) => task.state === "queued").length, requeued);
    if (requeued > 0 && TERMINAL_RUN_STATES.includes(one.status)) this.reopen(one, "running");
  }

  /** One owner comes after all others and does what is left; then every run has ended. */
  async finish(): Promise<void> {
    await this.step({ do: "pass", ms: TTL + 1 });
    await this.takeEngine("B");
    for (const [index, one] of this.runs.entries()) {
      if (one?.status === "paused" || one?.status === "recovering") await this.step({ do: "resume", run: index });
    }
    for (const at of LANES.keys()) await this.takeLane("B", at);
    await compareWorld(this);
    await this.expectClean();
    for (const at of LANES.keys()) await this.claim("B", at, 1000);
    while (this.inFlight.length > 0) {
      await this.settle({ do: "settle", pick: 0, take: 1000, verdict: "completed", to: 0 });
    }
    for (const one of this.runs)
      assert.ok(one === null || TERMINAL_RUN_STATES.includes(one.status) || one.tasks.length === 0);
    await compareWorld(this);
    await this.expectClean();
  }

  async expectClean(): Promise<void> {
    const { findings } = await this.any.audit();
    assert.deepEqual(findings, []);
  }
}
