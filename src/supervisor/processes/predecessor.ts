import { type Clock, sleep } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { isProvenAlive } from "../../base/machine.ts";
import { adopt, endProcess } from "./handle.ts";
import { SERVICES } from "../services/services.ts";
import type { ChildStatus, UpState } from "./state-file.ts";

interface LeftDeps {
  clock: Clock;
  log: Log;
  graceMs: number;
}

const SPARE_MS = 5000;

/** Processes that a dead supervisor left, if proven: a pid alone may have been reused. */
export function leftBehind(before: UpState | null): ChildStatus[] {
  return (before?.children ?? []).filter(({ identity }) => identity !== null && isProvenAlive(identity));
}

/**
 * Resolves when they are gone. The API and the workers detect the end of their supervisor and stop by themselves; those
 * that exceed their grace period, or all with `hurry`, are killed. Services do not detect it.
 */
export async function endLeft(
  child: ChildStatus,
  { clock, log, graceMs }: LeftDeps,
  hurry: AbortSignal,
): Promise<void> {
  if (child.identity === null) return;
  const handle = adopt(child.identity, clock);
  log.info(`${child.name} of a dead supervisor is still running; stopping it first`, {
    child: child.name,
    pid: child.identity.pid,
  });
  if (child.kind === "redis" || child.kind === "postgres")
    return endProcess(handle, SERVICES[child.kind].stopSteps, clock);
  const enough = AbortSignal.any([hurry, whenDone(handle.exited)]);
  await sleep(clock, graceMs + SPARE_MS, enough);
  return endProcess(handle, [{ signal: "SIGTERM", waitMs: SPARE_MS }], clock);
}

function whenDone(promise: Promise<unknown>): AbortSignal {
  const done = new AbortController();
  void promise.then(() => done.abort());
  return done.signal;
}
