/**
 * What a kill between two system calls leaves on the disk, for work that also uses promises, callbacks and streams. From the
 * chosen call on none has an effect: synchronous ones throw, the others never come back.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";

type Call = (...args: unknown[]) => unknown;
type Calls = Record<string, Call>;

const SYNC = [
  ...["closeSync", "fsyncSync", "linkSync", "mkdirSync", "openSync", "readdirSync", "readSync", "renameSync", "rmSync"],
  ...["statSync", "unlinkSync", "utimesSync", "writeFileSync", "writeSync"],
];
const CALLBACK = ["open", "write", "writev", "fsync", "close"];
const PROMISE = ["open", "rename", "rm", "stat", "unlink"];
const HANDLE = ["write", "datasync", "sync", "stat", "read"];

/** Says whether there was a call number `at` (from 0), before which the work was ended. */
async function killedAtCall(at: number, work: () => Promise<void>): Promise<boolean> {
  let count = 0;
  const killed = Promise.withResolvers<"killed">();
  const isAlive = () => {
    if (count < at) {
      count += 1;
      return true;
    }
    killed.resolve("killed");
    return false;
  };
  const anyHandle = await fs.promises.open(tmpdir(), "r");
  const handle = Object.getPrototypeOf(anyHandle) as Calls;
  await anyHandle.close();
  const opened: fs.promises.FileHandle[] = [];
  const restore = [
    replace(fs as unknown as Calls, SYNC, (real) => (...args) => {
      if (!isAlive()) throw new Error("killed");
      return real(...args);
    }),
    replace(
      fs as unknown as Calls,
      CALLBACK,
      (real) =>
        (...args) =>
          void (isAlive() && real.apply(fs, args)),
    ),
    replace(fs.promises as unknown as Calls, PROMISE, (real, name) => async (...args) => {
      if (!isAlive()) return new Promise(() => {});
      const result = await real(...args);
      if (name === "open") opened.push(result as fs.promises.FileHandle);
      return result;
    }),
    replace(
      handle,
      HANDLE,
      (real) =>
        function (this: unknown, ...args: unknown[]) {
          return isAlive() ? real.apply(this, args) : new Promise(() => {});
        },
    ),
  ];
  syncBuiltinESMExports();
  try {
    return (await Promise.race([work(), killed.promise])) === "killed";
  } catch (error) {
    // The work may have turned the kill into an error of its own.
    if (count < at) throw error;
    return true;
  } finally {
    for (const undo of restore) undo();
    syncBuiltinESMExports();
    for (const one of opened) await one.close().catch(() => {});
  }
}

function replace(owner: Calls, names: readonly string[], wrap: (real: Call, name: string) => Call): () => void {
  const real = names.map((name) => [name, owner[name]!] as const);
  for (const [name, call] of real) owner[name] = wrap(call, name);
  return () => {
    for (const [name, call] of real) owner[name] = call;
  };
}

/** Kills `work` before its first call, its second, and so on until it ends by itself; `check` is called after each. */
export async function forEachAsyncKill(
  work: (round: number) => Promise<void>,
  check: (round: number) => Promise<void>,
): Promise<number> {
  for (let round = 0; ; round += 1) {
    const killed = await killedAtCall(round, () => work(round));
    await check(round);
    if (!killed) return round;
  }
}
