/** What a kill between two system calls leaves on the disk: from the chosen call on, none has an effect any more. */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const CALLS = [
  ...["closeSync", "fsyncSync", "linkSync", "mkdirSync", "openSync", "readdirSync", "renameSync", "rmSync"],
  ...["statSync", "writeFileSync", "writeSync"],
] as const;

class Killed extends Error {}

/**
 * Runs `work`, which may use the synchronous calls of `node:fs` only, and ends it before its call number `at` (from 0). A
 * `writeFileSync` counts as three calls: open, half of the bytes, the rest. Says whether there was such a call.
 */
export function killedAtCall(at: number, work: () => void): boolean {
  let count = 0;
  const step = <Result>(call: () => Result): Result => {
    if (count >= at) throw new Killed("killed");
    count += 1;
    return call();
  };
  const real = Object.fromEntries(CALLS.map((name) => [name, fs[name]])) as Pick<typeof fs, (typeof CALLS)[number]>;
  const slowWrite = (path: string, content: string | Uint8Array, options?: fs.WriteFileOptions) => {
    const { mode, flag = "w" } = typeof options === "object" && options !== null ? options : {};
    const bytes = Buffer.from(content as Uint8Array);
    const half = bytes.length >> 1;
    const file = step(() => real.openSync(path, flag, mode ?? undefined));
    step(() => real.writeSync(file, bytes, 0, half));
    step(() => real.writeSync(file, bytes, half));
    real.closeSync(file);
  };
  for (const name of CALLS)
    Object.assign(fs, {
      [name]:
        name === "writeFileSync"
          ? slowWrite
          : (...args: unknown[]) => step(() => (real[name] as (...all: unknown[]) => unknown)(...args)),
    });
  syncBuiltinESMExports();
  try {
    work();
    return false;
  } catch (error) {
    // The work may have turned it into an error of its own.
    if (count < at) throw error;
    return true;
  } finally {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  }
}

/** Kills `work` before its first call, its second, and so on until it ends by itself; `check` is called after each. */
export function forEachKill(work: (round: number) => void, check: (round: number) => void): number {
  for (let round = 0; ; round += 1) {
    const killed = killedAtCall(round, () => work(round));
    check(round);
    if (!killed) return round;
  }
}
