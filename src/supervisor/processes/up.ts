import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { ownIdentity } from "../../base/machine.ts";
import type { Config } from "../../config/options.ts";
import { Child, type ChildKind, type Health } from "./child.ts";
import type { Handle, Program } from "./handle.ts";
import { keepRotating, LOG_RULES, type LogFile, type LogRules } from "./log-file.ts";
import { apiChild, workerChild } from "./own-processes.ts";
import { endLeft, leftBehind } from "./predecessor.ts";
import { PACE, type Pace } from "./restarts.ts";
import type { ServiceName } from "../services/service-kind.ts";
import { serviceChild, serviceFolder, SERVICES } from "../services/services.ts";
import { type ChildStatus, StateFile, upFolder, type UpState } from "./state-file.ts";
import { acquireSupervisorLock } from "./up-lock.ts";

export interface UpDeps {
  config: Config;
  clock: Clock;
  log: Log;
  /** The API and the workers; null: services only. */
  programs: OwnPrograms | null;
  changed?: () => void;
  pace?: Pace;
  logRules?: LogRules;
}

interface OwnPrograms {
  /** Called after the services have started, and before each process. */
  program(): Promise<Program>;
  /** Service URLs have changed. */
  moved(): Promise<void>;
  workerHealth(handle: Handle, first: boolean): Promise<Health>;
}

/** All supervised processes of one configuration. */
export class Up {
  readonly #deps: UpDeps;
  readonly #lock: { release(): void };
  readonly #file: StateFile;
  readonly #before: UpState | null;
  readonly #children: Child[] = [];
  readonly #logFiles: LogFile[] = [];
  readonly #stopping = new AbortController();
  readonly #startedAt: number;
  readonly #ends: Promise<void>[] = [];
  #left: ChildStatus[] = [];
  #rotating: Promise<void> = Promise.resolve();
  #url: string | null = null;
  #stopped: Promise<void> | null = null;
  #unwritten = false;
  /** A service has a new URL, and its users must restart. */
  #moved = false;
  /** Whether any process was started with the service URLs. */
  #addressesShared = false;
  #following: Promise<void> = Promise.resolve();

  private constructor(deps: UpDeps, lock: { release(): void }) {
    this.#deps = deps;
    this.#lock = lock;
    this.#file = new StateFile(deps.config.dataDir);
    this.#before = this.#file.read();
    this.#startedAt = deps.clock.now();
  }

  /** Null: another supervisor owns this data directory. */
  static take(deps: UpDeps): Up | null {
    // Missing programs are reported before anything starts.
    for (const name of managed(deps.config)) SERVICES[name].require(serviceFolder(deps.config, name));
    const lock = acquireSupervisorLock(upFolder(deps.config.dataDir));
    return lock === null ? null : new Up(deps, lock);
  }

  get state(): UpState {
    const children = this.#children.map((child) => child.status);
    const ports = { ...this.#before?.ports };
    for (const { kind, port } of children)
      if ((kind === "redis" || kind === "postgres") && port !== null) ports[kind] = port;
    const by = this.#deps.programs === null ? "program" : "up";
    return { supervisor: ownIdentity(), by, startedAt: this.#startedAt, url: this.#url, ports, children };
  }

  /** Resolves when each of them is up, or failed to start once. */
  async start(): Promise<void> {
    const { config, clock, log, programs } = this.#deps;
    this.#left = leftBehind(this.#before);
    const services = managed(config);
    const ending = new Map<string, Promise<void>>();
    for (const child of this.#left) {
      if (services.some((name) => name === child.name)) continue;
      const end = endLeft(child, { clock, log, graceMs: config.shutdownGraceMs }, this.#stopping.signal);
      ending.set(child.name, end);
      this.#ends.push(end);
    }
    const gone = (name: string) => ending.get(name) ?? Promise.resolve();
    this.#rotating = keepRotating(
      this.#logFiles,
      { clock, log, rules: this.#deps.logRules ?? LOG_RULES },
      this.#stopping.signal,
    );
    const moved = () => (this.#moved = true);
    for (const name of services)
      await this.#add(serviceChild(SERVICES[name], { config, clock, before: this.#before, moved }));
    // No process knows a URL yet: earlier port changes do not matter.
    this.#moved = false;
    this.#addressesShared = true;
    if (programs === null || this.#stopping.signal.aborted) return;
    const { workerHealth, program } = programs;
    // Reports errors before any process starts.
    await program();
    if (this.#stopping.signal.aborted) return;
    const names = Array.from({ length: config.upWorkers }, (_, index) => `worker-${index + 1}`);
    await Promise.all([
      ...names.map((name) =>
        this.#add(workerChild({ config, program, predecessor: gone(name), name, health: workerHealth })),
      ),
      this.#add(
        apiChild({
          config,
          program,
          predecessor: gone("api"),
          onUrl: (url) => {
            const changed = this.#url !== url;
            this.#url = url;
            if (changed) this.#changed();
          },
        }),
      ),
    ]);
  }

  /** In reverse order: the API stops accepting, the workers finish or requeue, then the services. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Before `start`: nothing was started, so nothing is stopped or written. */
  giveUp(): void {
    this.#lock.release();
  }

  /** Stops waiting; `stop` then ends soon. */
  hurry(): void {
    for (const child of this.#children) child.hurry();
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    const of = (kind: Child["kind"]) => this.#children.filter((child) => child.kind === kind);
    for (const kind of ["api", "worker", "postgres", "redis"] as const)
      await Promise.all(of(kind).map((child) => child.stop()));
    await Promise.all([this.#rotating, this.#following, ...this.#ends]);
    this.#write({ ...this.state, supervisor: null, url: null, children: [] });
    this.#lock.release();
  }

  async #add(kind: ChildKind & { logFile: LogFile }): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    const { clock, log, pace = PACE } = this.#deps;
    const child = new Child(kind, { clock, log, pace, changed: () => this.#changed() });
    this.#children.push(child);
    this.#logFiles.push(kind.logFile);
    this.#changed();
    await child.start();
  }

  #changed(): void {
    // If this process is killed now, the next one must also know what its predecessor left.
    const { children, ...state } = this.state;
    const left = leftBehind({ ...state, children: this.#left });
    const strangers = left.filter((old) => !children.some((child) => child.identity?.pid === old.identity?.pid));
    this.#write({ ...state, children: [...children, ...strangers] });
    this.#deps.changed?.();
    const isThere = children.every(({ kind, state: how }) => kind === "api" || kind === "worker" || how === "up");
    if (!this.#addressesShared || !this.#moved || !isThere) return;
    this.#moved = false;
    this.#following = this.#following.then(() => this.#follow());
  }

  /** Restarts the API and the workers when service URLs change, which they read at startup. */
  async #follow(): Promise<void> {
    const { programs, log } = this.#deps;
    if (this.#stopping.signal.aborted) return;
    const why = "a service has a new port: another process uses the old one";
    if (programs === null) return log.warn(`${why}: restart the processes that use it`);
    try {
      await programs.moved();
    } catch (error) {
      log.warn("the services are not usable at their new ports yet", { error: messageOf(error) });
    }
    for (const kind of ["worker", "api"] as const)
      await Promise.all(this.#children.filter((child) => child.kind === kind).map((child) => child.renew(why)));
  }

  #write(state: UpState): void {
    try {
      this.#file.write(state);
      this.#unwritten = false;
    } catch (error) {
      if (!this.#unwritten)
        this.#deps.log.warn("cannot write the state file; the next orb up may not find these processes", {
          file: join(upFolder(this.#deps.config.dataDir), "state.json"),
          error: messageOf(error),
        });
      this.#unwritten = true;
    }
  }
}

function managed(config: Config): readonly ServiceName[] {
  // Always in this order, whatever the order in the configuration.
  return (["redis", "postgres"] as const).filter((name) => config.managedServices?.includes(name) === true);
}
