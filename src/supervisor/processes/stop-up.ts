import { sleep, systemClock } from "../../base/clock.ts";
import { OrbError, systemCode } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ProcessIdentity } from "../../base/machine.ts";
import type { Config } from "../../config/options.ts";
import { endLeft, leftBehind } from "./predecessor.ts";
import { SERVICES } from "../services/services.ts";
import { provenState, StateFile, upFolder } from "./state-file.ts";
import { acquireSupervisorLock } from "./up-lock.ts";

interface StopPace {
  patienceMs: number;
  /** How often the wait is logged. */
  sayMs: number;
}

const LOOK_MS = 100;
const SAY_MS = 5000;
/** Time beyond the grace period for the API and the workers each, and a margin. */
const SPARE_MS = 15_000;

/** Asks the supervisor of this data directory to stop, and waits for that. */
export async function stopUp(
  config: Config,
  log: Log,
  pace: StopPace = { patienceMs: longestStop(config), sayMs: SAY_MS },
): Promise<"stopped" | "nothing runs"> {
  const lock = acquireSupervisorLock(upFolder(config.dataDir));
  if (lock === null) {
    await stopOther(config, log, pace);
    return "stopped";
  }
  try {
    return (await endAllLeft(config, log)) > 0 ? "stopped" : "nothing runs";
  } finally {
    lock.release();
  }
}

/** No supervisor runs: ends the processes that a killed one left. */
async function endAllLeft(config: Config, log: Log): Promise<number> {
  const file = new StateFile(config.dataDir);
  const state = file.read();
  const left = leftBehind(state);
  const deps = { clock: systemClock, log, graceMs: config.shutdownGraceMs };
  await Promise.all(left.map((child) => endLeft(child, deps, AbortSignal.abort())));
  if (state !== null) file.write({ ...state, supervisor: null, url: null, children: [] });
  return left.length;
}

async function stopOther(config: Config, log: Log, { patienceMs, sayMs }: StopPace): Promise<void> {
  const supervisor = askToStop(config);
  const begun = systemClock.monotonic();
  for (let loggedAt = begun; ;) {
    await sleep(systemClock, LOOK_MS);
    const taken = acquireSupervisorLock(upFolder(config.dataDir));
    if (taken !== null) return taken.release();
    const now = systemClock.monotonic();
    if (now - loggedAt >= sayMs) {
      loggedAt = now;
      log.info(`waiting for ${remainingProcesses(config).join(", ") || "orb up itself"} to stop`);
    }
    if (now - begun < patienceMs) continue;
    throw new OrbError(
      "service_unavailable",
      `orb up, process ${supervisor.pid} of this machine, has not stopped within ${patienceMs / 1000} s`,
      { hint: `Stop it with kill -9 ${supervisor.pid}; then run orb up --stop again to stop its remaining processes.` },
    );
  }
}

function askToStop(config: Config): ProcessIdentity {
  const state = new StateFile(config.dataDir).read();
  const supervisor = state === null ? null : provenState(state).supervisor;
  if (state === null || supervisor === null)
    throw new OrbError("service_unavailable", "orb up is running, but its process cannot be identified from here", {
      hint: "Stop it where it was started, for example in its container.",
    });
  if (state.by === "program")
    throw new OrbError(
      "service_unavailable",
      `the services belong to process ${supervisor.pid}, a program that uses the library, not to orb up`,
      { hint: "They stop when that program closes its Orchestrator or exits." },
    );
  try {
    process.kill(supervisor.pid, "SIGTERM");
  } catch (error) {
    // A process that exited meanwhile needs no stop.
    if (systemCode(error) === "EPERM")
      throw new OrbError("service_unavailable", `orb up runs as process ${supervisor.pid} of another user`, {
        hint: "Stop it as the user who started it, or as root.",
      });
    if (systemCode(error) !== "ESRCH") throw error;
  }
  return supervisor;
}

function remainingProcesses(config: Config): string[] {
  return leftBehind(new StateFile(config.dataDir).read()).map(({ name }) => name);
}

/** The maximum duration of a healthy stop: the API, then the workers, then each service. */
function longestStop({ shutdownGraceMs, managedServices }: Config): number {
  const steps = (managedServices ?? []).flatMap((name) => SERVICES[name].stopSteps);
  return 2 * shutdownGraceMs + SPARE_MS + steps.reduce((sum, { waitMs }) => sum + waitMs, 0);
}
