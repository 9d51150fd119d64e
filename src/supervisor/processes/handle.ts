import { type ChildProcess, spawn } from "node:child_process";
import { type Clock, sleep } from "../../base/clock.ts";
import { identityOf, isProvenAlive, ownIdentity, type ProcessIdentity } from "../../base/machine.ts";

/** A supervised process. */
export interface Handle {
  /** Null: not on this machine, or not ours. */
  readonly identity: ProcessIdentity | null;
  /** Resolves with the exit code or signal. */
  readonly exited: Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

export interface Program {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Run as another user. */
  user?: { uid: number; gid: number };
}

export interface Spawned extends Handle {
  readonly child: ChildProcess;
}

/**
 * Starts a program in its own session: Ctrl-C in a terminal reaches only the supervisor, which stops the others in
 * order. `tied`: it detects our end by a pipe, the only signal that a kill -9 leaves.
 */
export function begin(program: Program, options: { log: number; stdout?: "pipe"; tied?: boolean }): Promise<Spawned> {
  const child = spawn(program.file, program.args, {
    cwd: program.cwd,
    env: program.env,
    detached: true,
    stdio: ["ignore", options.stdout ?? options.log, options.log, ...(options.tied === true ? ["pipe" as const] : [])],
    ...program.user,
  });
  const exited = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : signal));
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => {
      const pid = child.pid ?? 0;
      // If the platform cannot identify it, or it has exited already, only this handle knows the process.
      const identity = identityOf(pid) ?? { ...ownIdentity(), pid, pidStart: "" };
      // Writing to a pipe whose reader is gone.
      child.stdio[3]?.on("error", () => {});
      resolve({ child, identity, exited, kill: (signal) => void child.kill(signal) });
    });
  });
}

const LOOK_MS = 200;

/** A process that another one started; polled, because nothing reports its exit. */
export function adopt(identity: ProcessIdentity, clock: Clock): Handle {
  const gone = async () => {
    while (isProvenAlive(identity)) await sleep(clock, LOOK_MS);
    return "gone";
  };
  return {
    identity,
    exited: gone(),
    kill: (signal) => {
      if (!isProvenAlive(identity)) return;
      try {
        process.kill(identity.pid, signal);
      } catch {
        // It exited between check and signal.
      }
    },
  };
}

/** A service that is not ours to stop: ending it does nothing. */
export function external(): Handle {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { identity: null, exited: promise, kill: () => resolve("no answer") };
}

/** Sends escalating signals until it is gone. */
export async function endProcess(
  handle: Handle,
  steps: readonly { signal: NodeJS.Signals; waitMs: number }[],
  clock: Clock,
): Promise<void> {
  let over = false;
  for (const { signal, waitMs } of steps) {
    handle.kill(signal);
    const enough = new AbortController();
    void handle.exited.then(() => {
      over = true;
      enough.abort();
    });
    await sleep(clock, waitMs, enough.signal);
    if (over) return;
  }
  handle.kill("SIGKILL");
  await handle.exited;
}
