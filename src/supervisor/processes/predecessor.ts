import { type Clock, sleep } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { isProvenAlive } from "../../base/machine.ts";
import { adopt, endProcess } from "./handle.ts";
import { SERVICES } from "../services/services.ts";
import type { ChildStatus, UpState } from "./state-file.ts";

export interface LeftDeps {
  clock: Clock;
  log: Log;
  graceMs: number;
}

const SPARE_MS = 5000;

/** What a dead supervisor has left and what is proven to be its own: a pid alone may be anybody's by now. */
export function leftBehind(before: UpState | null): ChildStatus[] {
  return (before?.children ?? []).filter(({ identity }) => identity !== null && isProvenAlive(identity));
}

/**
 * Resolves when it is gone. The API and the workers have heard of their supervisor's end and stop by themselves: those that
 * do not within their grace period, or when there is no time (`hurry`), are ended. Services know nothing of it.
 */
export async function endLeft(
  child: ChildStatus,
  { clock, log, graceMs }: LeftDeps,
  hurry: AbortSignal,
): Promise<void> {
  if (child.identity === null) return;
  const handle = adopt(child.identity, clock);
  log.info(`${child.name} of a supervisor that is gone is still there; it ends first`, {
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
