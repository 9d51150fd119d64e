import { type Clock, sleep } from "../../base/clock.ts";
import { isOrbError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { endProcess, type Handle } from "./handle.ts";
import { type Pace, Restarts } from "./restarts.ts";
import type { ChildState, ChildStatus } from "./state-file.ts";

/** Result of a health check. `starting`: it reports that it is not ready yet. */
export type Health = { ok: true; what: string } | { ok: false; why: string; starting?: boolean };

export interface ChildKind {
  readonly name: string;
  readonly kind: ChildStatus["kind"];
  /** Starts the process, or adopts a running one. */
  begin(signal: AbortSignal): Promise<Handle>;
  /** Answers in bounded time. */
  check(handle: Handle): Promise<Health>;
  /** Its port, once known. */
  port(): number | null;
  /** Its last error output. */
  lastWords(): string | null;
  readonly checkEveryMs: number;
  /** Consecutive failed checks after which it counts as hung. */
  readonly hungAfter: number;
  /** Signals that stop it, in escalating order; finally it is killed. */
  readonly stopSteps: readonly { signal: NodeJS.Signals; waitMs: number }[];
  /** For an immediate stop. */
  readonly atOnce: NodeJS.Signals;
}

interface ChildDeps {
  clock: Clock;
  log: Log;
  pace: Pace;
  /** Called after every change of `status`; changed numbers in a health message are reported with a delay. */
  changed(): void;
}

/** Health checks before a starting child counts as failed; `starting` answers do not count for a while. */
const START_TRIES = 10;
const START_PAUSE_MS = 500;
const STARTING_PAUSE_MS = 100;
const START_LIMIT_MS = 60_000;
/** Maximum age of numbers in a reported health message. */
const NUMBERS_MS = 10_000;

/** Keeps one process running until it is stopped. */
export class Child {
  readonly #kind: ChildKind;
  readonly #deps: ChildDeps;
  readonly #restarts: Restarts;
  readonly #stopping = new AbortController();
  readonly #settled = Promise.withResolvers<void>();
  #loop: Promise<void> | null = null;
  #handle: Handle | null = null;
  #state: ChildState = "starting";
  #begun = 0;
  #since: number | null = null;
  #health: string | null = null;
  /** The health message reported last, and when. */
  #reported: { words: string; at: number } | null = null;
  /** Why a restart was requested; null: none was. */
  #renewal: string | null = null;
  #pause = new AbortController();
  #note: string | null = null;

  constructor(kind: ChildKind, deps: ChildDeps) {
    this.#kind = kind;
    this.#deps = deps;
    this.#restarts = new Restarts(deps.pace);
  }

  get kind(): ChildStatus["kind"] {
    return this.#kind.kind;
  }

  get status(): ChildStatus {
    const { name, kind } = this.#kind;
    return {
      name,
      kind,
      state: this.#state,
      identity: this.#handle?.identity ?? null,
      port: this.#kind.port(),
      restarts: Math.max(0, this.#begun - 1),
      since: this.#since,
      health: this.#health,
      note: this.#note,
    };
  }

  /** Resolves when it is up for the first time, or its first start failed. */
  async start(): Promise<void> {
    this.#loop = this.#live();
    await this.#settled.promise;
  }

  /** Resolves when the process is gone. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#handle !== null) {
      this.#set("stopping");
      await endProcess(this.#handle, this.#kind.stopSteps, this.#deps.clock);
    }
    await this.#loop;
    this.#handle = null;
    this.#since = null;
    this.#health = null;
    this.#set("stopped");
  }

  /** Stops the process gracefully and starts another one at once; does not count as a crash. */
  async renew(why: string): Promise<void> {
    this.#renewal = why;
    this.#pause.abort();
    if (this.#handle !== null) await endProcess(this.#handle, this.#kind.stopSteps, this.#deps.clock);
  }

  /** Stops waiting for its work; `stop` then ends soon. */
  hurry(): void {
    this.#stopping.abort();
    this.#handle?.kill(this.#kind.atOnce);
  }

  #set(state: ChildState, isNews = false): void {
    const changed = this.#state !== state;
    this.#state = state;
    if (changed || isNews) this.#deps.changed();
  }

  /** Whether its health message has changed except for times and counts, which change all the time. */
  #isNewHealth(words: string): boolean {
    this.#health = words;
    const now = this.#deps.clock.monotonic();
    const isNew = this.#reported === null || shape(this.#reported.words) !== shape(words);
    const isOld =
      this.#reported !== null &&
      now - this.#reported.at >= NUMBERS_MS &&
      untimed(this.#reported.words) !== untimed(words);
    if (isNew || isOld) this.#reported = { words, at: now };
    return isNew || isOld;
  }

  async #live(): Promise<void> {
    const { clock, log } = this.#deps;
    const { signal } = this.#stopping;
    const about = { child: this.#kind.name };
    while (!signal.aborted) {
      this.#renewal = null;
      const why = await this.#once();
      this.#settled.resolve();
      if (signal.aborted) return;
      if (this.#renewal !== null) {
        this.#over("restarting", this.#renewal);
        log.info(`${this.#kind.name} is restarted`, { ...about, why: this.#renewal });
        continue;
      }
      const { waitMs, crashLoop } = this.#restarts.died(clock.monotonic());
      const wasLooping = this.#state === "crash_loop";
      this.#over(crashLoop ? "crash_loop" : "restarting", why);
      const seconds = waitMs / 1000;
      if (crashLoop)
        log.error(
          wasLooping
            ? `${this.#kind.name} crashed again; restart in ${seconds} s`
            : `${this.#kind.name} crashed repeatedly; it is now restarted only every ${seconds} s`,
          { ...about, why },
        );
      else log.warn(`${this.#kind.name} crashed; restart in ${seconds} s`, { ...about, why });
      this.#pause = new AbortController();
      await sleep(clock, waitMs, AbortSignal.any([signal, this.#pause.signal]));
    }
  }

  #over(state: ChildState, why: string): void {
    this.#handle = null;
    this.#since = null;
    this.#health = null;
    this.#note = why;
    this.#set(state);
  }

  /** One lifetime of the process; returns why it ended. */
  async #once(): Promise<string> {
    const { signal } = this.#stopping;
    this.#begun += 1;
    if (this.#state !== "crash_loop") this.#set("starting");
    let handle: Handle;
    try {
      handle = await this.#kind.begin(signal);
    } catch (error) {
      const hint = isOrbError(error) ? (error.hint ?? "") : "";
      return [messageOf(error), hint].filter((part) => part !== "").join(". ");
    }
    this.#handle = handle;
    this.#since = this.#deps.clock.now();
    this.#deps.changed();
    const over = new AbortController();
    // When it dies, a running check no longer matters.
    const gone = once(over.signal).then((): Health => ({ ok: false, why: "gone" }));
    let end: string | null = null;
    void handle.exited.then((how) => {
      end = how;
      over.abort();
    });
    const asked = () => over.abort();
    signal.addEventListener("abort", asked, { once: true });
    // A stop during startup found no process to end.
    if (signal.aborted || this.#renewal !== null) await endProcess(handle, this.#kind.stopSteps, this.#deps.clock);
    const complaint = await this.#watch(handle, over.signal, gone);
    signal.removeEventListener("abort", asked);
    if (signal.aborted) return "";
    if (complaint !== null) {
      this.#deps.log.error(`${this.#kind.name} ${complaint}; stopping it`, { child: this.#kind.name });
      await endProcess(handle, [], this.#deps.clock);
      return complaint;
    }
    // A killed process leaves no last log line.
    const words = String(end).startsWith("SIG") ? null : this.#kind.lastWords();
    return words === null ? `${end}` : `${end}: ${words}`;
  }

  /** Until it exits, or has to be stopped: returns why. */
  async #watch(handle: Handle, over: AbortSignal, gone: Promise<Health>): Promise<string | null> {
    const { clock, log } = this.#deps;
    const begun = clock.monotonic();
    let upAt: number | null = null;
    let failures = 0;
    while (!over.aborted) {
      const look = this.#kind.check(handle).catch((error: unknown): Health => ({ ok: false, why: messageOf(error) }));
      const health = await Promise.race([look, gone]);
      if (over.aborted) return null;
      if (health.ok) {
        failures = 0;
        const isNews = this.#isNewHealth(health.what);
        if (upAt === null) {
          upAt = clock.monotonic();
          log.info(`${this.#kind.name} is up`, {
            child: this.#kind.name,
            pid: handle.identity?.pid,
            health: health.what,
          });
          this.#settled.resolve();
        }
        this.#set("up", isNews);
        if (this.#restarts.well(clock.monotonic() - upAt)) log.info(`${this.#kind.name} has recovered`);
      } else {
        const isNews = this.#isNewHealth(health.why);
        if (health.starting !== true) failures += 1;
        if (upAt === null && (failures >= START_TRIES || clock.monotonic() - begun > START_LIMIT_MS))
          return `was not ready in time (${health.why})`;
        if (upAt !== null && failures >= this.#kind.hungAfter) return `does not answer (${health.why})`;
        this.#set(upAt !== null && failures > 0 ? "silent" : this.#state, isNews);
      }
      await sleep(clock, this.#pauseAfter(health, upAt !== null), over);
    }
    return null;
  }

  #pauseAfter(health: Health, isUp: boolean): number {
    if (health.ok) return this.#kind.checkEveryMs;
    // A child that reports `starting` is checked again soon.
    return !isUp && health.starting === true ? STARTING_PAUSE_MS : START_PAUSE_MS;
  }
}

/** A message without its numbers. */
const shape = (words: string) => words.replaceAll(/\d+/g, "0");

/** A message without its response time. */
const untimed = (words: string) => words.replace(/, \d+ ms$/, "");

function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
