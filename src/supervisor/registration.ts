import { type Clock, sleep } from "../base/clock.ts";
import { isOrbError, messageOf, type OrbError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Service } from "../base/service.ts";
import type { Engine } from "../engine/port.ts";
import type { LaneWorker } from "../lanes/worker.ts";
import type { SettledTask, Store } from "../store/ports/port.ts";
import type {
  BrowserCount,
  LlmCounts,
  NewWorker,
  WorkerHeartbeat,
  WorkerRequests,
} from "../store/ports/worker-port.ts";
import { AttemptCounts } from "./attempt-counts.ts";
import { Throughput } from "./throughput.ts";

/** Interval of heartbeats and of reading requests to this worker. */
export const PULSE_MS = 2000;
const LOOK_MS = 500;
/** For a database on another machine. */
const FAR_LOOK_MS = 1000;
/** Running tasks listed in a heartbeat. */
const MOST_ACTIVE = 100;

interface RegistrationDeps {
  store: Store;
  clock: Clock;
  log: Log;
  self: Omit<NewWorker, "heartbeatMs">;
  /** The fingerprint of the key that all machines must share, and the error when it differs; null: a single machine. */
  key: { mark: string; differs(): OrbError } | null;
  engine: Pick<Engine, "role" | "drain" | "resume">;
  /** Kind of engine, for display. */
  engineKind: string;
  worker: Pick<LaneWorker, "inFlight" | "paused" | "active" | "rateLimitWaits">;
  /** Bytes of the process and its browsers. */
  memory: () => Promise<number>;
  problems: () => Promise<WorkerHeartbeat["troubles"]>;
  /** Remote browsers. */
  browsers?: () => readonly BrowserCount[];
  /** Usage of the language model; null: none configured. */
  llm?: () => LlmCounts | null;
}

/**
 * Registers a worker: writes heartbeats, answers pings and drains on request. Work continues when the store is not
 * writable; the heartbeat is retried.
 */
export class Registration implements Service {
  readonly #deps: RegistrationDeps;
  readonly #stopping = new AbortController();
  readonly #throughput: Throughput;
  readonly #attempts = new AttemptCounts();
  #living: Promise<void> = Promise.resolve();
  #drain = false;
  #registered = false;
  /** Logged once per outage. */
  #isUnreachable = false;

  constructor(deps: RegistrationDeps) {
    this.#deps = deps;
    this.#throughput = new Throughput(deps.clock);
  }

  get id(): string {
    return this.#deps.self.id;
  }

  /** Called for every settled task. */
  note(settled: SettledTask): void {
    this.#attempts.note(settled);
    const { kind } = settled.verdict;
    if (kind === "completed" || kind === "skipped") this.#throughput.note("completed");
    else if (kind === "failed") this.#throughput.note("failed");
  }

  /** Throws when the registered workers use another key. */
  async start(): Promise<void> {
    try {
      await this.#pulse();
    } catch (error) {
      if (isOrbError(error, "secret_key_wrong")) throw error;
      this.#failed(error);
    }
    this.#living = this.#live();
  }

  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return this.#living;
    this.#stopping.abort();
    await this.#living;
    const { store, clock } = this.#deps;
    if (this.#registered) await this.#trying(() => store.workerStopped(this.id, clock.now()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #live(): Promise<void> {
    const { store, clock } = this.#deps;
    let pulsed = clock.monotonic();
    const lookMs = store.capabilities.singleEngine ? LOOK_MS : FAR_LOOK_MS;
    for (;;) {
      await sleep(clock, lookMs, this.#stopping.signal);
      if (this.#stopping.signal.aborted) return;
      const isDue = clock.monotonic() - pulsed >= PULSE_MS;
      if (isDue) pulsed = clock.monotonic();
      await this.#trying(async () => {
        if (isDue || !this.#registered) await this.#pulse();
        else await this.#follow(await store.workerRequests(this.id));
      });
    }
  }

  async #pulse(): Promise<void> {
    const { store, clock, self, key } = this.#deps;
    if (!this.#registered) {
      const worker = { ...self, heartbeatMs: PULSE_MS };
      if (!(await store.registerWorker(worker, clock.now(), key?.mark)) && key !== null) throw key.differs();
    }
    this.#registered = true;
    await this.#follow(await store.recordHeartbeat(this.id, this.#state(), await this.reading(), clock.now()));
  }

  #state(): "working" | "draining" | "drained" {
    if (!this.#drain) return "working";
    return this.#deps.engine.role === "drained" ? "drained" : "draining";
  }

  /** Current state of the worker. */
  async reading(): Promise<WorkerHeartbeat> {
    const { engine, engineKind, worker, memory, problems, browsers, llm } = this.#deps;
    const asked = llm?.() ?? null;
    const remote = browsers?.() ?? [];
    return {
      role: engine.role === "drained" ? "standby" : engine.role,
      engine: engineKind,
      inFlight: worker.inFlight,
      ...this.#throughput.read(),
      memoryBytes: await memory(),
      paused: worker.paused,
      troubles: await problems(),
      attempts: this.#attempts.read(),
      active: worker.active(MOST_ACTIVE),
      waits: worker.rateLimitWaits(),
      ...(remote.length === 0 ? {} : { browsers: remote }),
      ...(asked === null ? {} : { llm: asked }),
    };
  }

  async #follow({ drain, ping }: WorkerRequests): Promise<void> {
    const { store, clock, engine, log } = this.#deps;
    if (ping) await store.answerPings(this.id, clock.now());
    if (drain === this.#drain) return;
    this.#drain = drain;
    if (drain) {
      log.info("draining: running tasks finish, and this worker takes no more until it is resumed", {
        worker: this.id,
      });
      engine.drain();
    } else {
      log.info("resumed: this worker takes work again", { worker: this.id });
      engine.resume();
    }
    await this.#pulse();
  }

  async #trying(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#isUnreachable = false;
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    // Its row was removed after a long silence: register again.
    if (isOrbError(error, "not_found")) this.#registered = false;
    if (!this.#isUnreachable)
      this.#deps.log.warn("cannot write this worker's heartbeat; it continues to work", { error: messageOf(error) });
    this.#isUnreachable = true;
  }
}
