import { silentLog } from "../../src/base/log.ts";
import { integerBelow, type Random } from "../../src/base/random.ts";
import { EmbeddedEngine } from "../../src/engine/embedded/engine.ts";
import type { TaskHandler } from "../../src/lanes/handlers/handler.ts";
import type { LaneRules } from "../../src/lanes/rules.ts";
import { LaneWorker } from "../../src/lanes/worker.ts";
import type { Store } from "../../src/store/ports/port.ts";
import type { SimProcess, World } from "./world.ts";

export const pick = <T>(random: Random, list: readonly T[]): T => list[integerBelow(random, list.length)] as T;

export interface CrewPlan {
  processes: number;
  maxWorkers: number;
  ttlMs: number;
  /** How likely a process dies at a call of the store, and freezes at a look around. */
  crash: number;
  freeze: number;
  jumps: boolean;
  /** Whether the reconciler is there. It is a safety net: nothing may hang on it. */
  net: boolean;
}

export function crewPlan(random: Random): CrewPlan {
  return {
    maxWorkers: pick(random, [1, 3, 32]),
    crash: pick(random, [0, 0, 0.01, 0.03, 0.1]),
    freeze: pick(random, [0, 0, 0.002]),
    jumps: random.next() < 0.06,
    processes: pick(random, [1, 1, 2, 3]),
    ttlMs: pick(random, [5000, 60_000]),
    net: random.next() < 0.5,
  };
}

/** The processes of the product on one machine: killed, frozen and started again as the plan has it. */
export class Crew {
  readonly #world: World;
  readonly #truth: Store;
  readonly #random: Random;
  readonly #plan: CrewPlan;
  readonly #rules: LaneRules;
  readonly #handlerFor: (process: SimProcess, store: Store) => TaskHandler;
  readonly #processes: SimProcess[] = [];
  #faults = true;
  crashes = 0;

  constructor(
    world: World,
    truth: Store,
    random: Random,
    plan: CrewPlan,
    rules: LaneRules,
    handlerFor: (process: SimProcess, store: Store) => TaskHandler,
  ) {
    this.#world = world;
    this.#truth = truth;
    this.#random = random;
    this.#plan = plan;
    this.#rules = rules;
    this.#handlerFor = handlerFor;
  }

  start(): void {
    for (let index = 0; index < this.#plan.processes; index += 1) this.#world.schedule(index * 10, () => this.#boot());
    this.#world.schedule(200, () => this.#disturb());
    // Faults end some day; from then on everything must come to an end by itself.
    this.#world.schedule(120_000, () => (this.#faults = false));
  }

  end(): void {
    for (const process of this.#processes) process.alive = false;
  }

  #crash(): "before" | "after" | null {
    if (!this.#faults || !this.#world.chance(this.#plan.crash)) return null;
    this.crashes += 1;
    return this.#world.chance(0.5) ? "before" : "after";
  }

  #boot(): void {
    const world = this.#world;
    const random = this.#random;
    const { maxWorkers, ttlMs, net } = this.#plan;
    const process = world.spawn();
    const store = world.storeFor(process, this.#truth, () => this.#crash());
    const handler = this.#handlerFor(process, store);
    const worker = new LaneWorker({
      store,
      clock: process.clock,
      random,
      log: silentLog,
      rules: this.#rules,
      handlers: () => handler,
      maxWorkers,
      gauge: { read: () => ({ lagMs: 0, memory: 0 }), stop: () => {} },
      probeRoom: async () => {},
      onOpened: (lanes) => engine.offer(lanes),
    });
    const engine = new EmbeddedEngine({
      store,
      host: worker,
      clock: process.clock,
      random,
      log: silentLog,
      identity: { boot: "sim", pid: process.pid, pidStart: "" },
      mayBeAlive: (holder) => world.mayBeAlive(holder),
      link: world.linkFor(process),
      watch: (address) => world.watchFor(process, address),
      leaseTtlMs: ttlMs,
      heartbeatMs: ttlMs / 4,
      graceMs: 1000,
      ...(net ? {} : { reconcileMs: Number.POSITIVE_INFINITY }),
      maxActiveLanes: pick(random, [1, 2, 32]),
    });
    this.#processes.push(process);
    // Whoever dies is started again after a while.
    process.onDeath.push(() => world.schedule(pick(random, [0, 50, 2000, 9000]), () => this.#boot()));
    void engine.start();
  }

  #disturb(): void {
    if (!this.#faults) return;
    const world = this.#world;
    const random = this.#random;
    const [victim] = this.#processes.filter(({ alive }) => alive).toSorted(() => random.next() - 0.5);
    if (victim !== undefined && world.chance(this.#plan.freeze * 50))
      world.freeze(victim, pick(random, [500, 8000, 90_000]));
    if (this.#plan.jumps && world.chance(0.05)) world.wallOffset += pick(random, [-3_600_000, 3_600_000, 86_400_000]);
    world.schedule(500, () => this.#disturb());
  }
}
