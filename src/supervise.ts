/** `orb up`: puts together what looks after all processes of a configuration. Part of the composition root. */
import { sleep, systemClock } from "./base/clock.ts";
import { OrbError } from "./base/errors.ts";
import type { Log } from "./base/log.ts";
import { openClient } from "./client.ts";
import type { Config } from "./config/options.ts";
import { endLeft, leftBehind } from "./supervisor/predecessor.ts";
import { provenState, StateFile, upFolder, type UpState } from "./supervisor/state-file.ts";
import { Up, type UpDeps } from "./supervisor/up.ts";
import { takeUpLock } from "./supervisor/up-lock.ts";
import { workerHealth } from "./supervisor/worker-health.ts";

export interface Surroundings {
  /** The file that this program is called by. */
  entry: string;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

export interface RunningUp {
  readonly state: UpState;
  start(): Promise<void>;
  stop(): Promise<void>;
  hurry(): void;
}

/** null: another process looks after this data directory. Nothing has been begun before `start`. */
export async function takeUp(
  config: Config,
  log: Log,
  { entry, env, cwd }: Surroundings,
  more: Pick<UpDeps, "pace" | "logRules"> = {},
): Promise<RunningUp | null> {
  // Migrates, too, before the others begin; and says what is wrong with the configuration while there is nothing to undo.
  const client = await openClient(config);
  const deps = { store: client.store, clock: systemClock };
  const program = {
    file: process.execPath,
    args: [...process.execArgv, entry],
    cwd,
    env: { ...env, ORB_PARENT_FD: "3", ORB_PARENT_GONE: "stop" },
  };
  try {
    const up = Up.take({
      config,
      clock: systemClock,
      log,
      own: {
        program,
        workerHealth: async ({ identity }, first) =>
          identity === null ? { ok: false, why: "it is not ours" } : workerHealth(deps, identity, { ask: first }),
      },
      ...more,
    });
    if (up === null) {
      await client.close();
      return null;
    }
    return {
      get state() {
        return up.state;
      },
      start: () => up.start(),
      hurry: () => up.hurry(),
      stop: () => up.stop().finally(() => client.close()),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** The services of the configuration for a program that has the rest in itself. What an `orb up` runs is left to it. */
export async function startServices(config: Config, log: Log): Promise<{ stop(): Promise<void> }> {
  const up = Up.take({ config, clock: systemClock, log, own: null });
  if (up === null) return { stop: async () => {} };
  await up.start();
  const failed = up.state.children.find(({ state }) => state !== "up");
  if (failed === undefined) return up;
  await up.stop();
  throw new OrbError("service_unavailable", `${failed.name} cannot be started: ${failed.note ?? failed.health}`);
}

/** What is written down, as far as it is still true. */
export async function upState(config: Config): Promise<UpState | null> {
  const state = new StateFile(config.dataDir).read();
  return state === null ? null : provenState(state);
}

const LOOK_MS = 100;

/** Asks the one that looks after this data directory to stop, and waits until it has. */
export async function stopUp(config: Config, log: Log): Promise<"stopped" | "nothing runs"> {
  const free = () => takeUpLock(upFolder(config.dataDir));
  const lock = free();
  if (lock !== null) {
    // Nobody looks after it. What a killed one has left is ended in its place.
    try {
      const left = leftBehind(new StateFile(config.dataDir).read());
      const deps = { clock: systemClock, log, graceMs: config.shutdownGraceMs };
      await Promise.all(left.map((child) => endLeft(child, deps, AbortSignal.abort())));
      return left.length > 0 ? "stopped" : "nothing runs";
    } finally {
      lock.release();
    }
  }
  const supervisor = (await upState(config))?.supervisor ?? null;
  if (supervisor === null)
    throw new OrbError(
      "service_unavailable",
      "an orb up is at work, and which process that is cannot be proven from here",
      {
        hint: "Stop it where it was started: another container, or a system that does not tell when processes started.",
      },
    );
  process.kill(supervisor.pid, "SIGTERM");
  for (;;) {
    await sleep(systemClock, LOOK_MS);
    const taken = free();
    if (taken === null) continue;
    taken.release();
    return "stopped";
  }
}
