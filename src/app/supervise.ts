/** `orb up`: composes the supervisor of all processes of a configuration. Part of the composition root. */
import { systemClock } from "../base/clock.ts";
import { messageOf, OrbError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { type Client, openClient } from "./context.ts";
import { clusterOf } from "./cluster.ts";
import type { Config } from "../config/options.ts";
import { closeToOthers } from "./file-access.ts";
import { type Alerting, startAlerting } from "../supervisor/alerting.ts";
import type { Health } from "../supervisor/processes/child.ts";
import { alertCrashLoops } from "../supervisor/processes/crash-loops.ts";
import type { Handle } from "../supervisor/processes/handle.ts";
import { provenState, StateFile, type UpState } from "../supervisor/processes/state-file.ts";
import { Up, type UpDeps } from "../supervisor/processes/up.ts";
import { workerHealth } from "../supervisor/worker-health.ts";

export interface Surroundings {
  /** The entry file of this program. */
  entry: string;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

interface RunningUp {
  readonly state: UpState;
  start(): Promise<void>;
  stop(): Promise<void>;
  hurry(): void;
}

/** Null: another process supervises this data directory. Starts nothing before `start`. */
export async function takeUp(
  config: Config,
  log: Log,
  { entry, env, cwd }: Surroundings,
  more: Pick<UpDeps, "pace" | "logRules"> = {},
): Promise<RunningUp | null> {
  closeToOthers(config, log);
  let client: Client | null = null;
  let alerts: Alerting | null = null;
  let opening: Promise<void> | null = null;
  let reportCrashLoops = () => {};
  /** Also migrates, before the other processes start. */
  const open = async () => {
    client = await openClient(config, systemClock, { log }).catch((error: unknown) => {
      opening = null;
      throw error;
    });
    alerts = startAlerting(config, { ...client, log });
    const crashLoops = alertCrashLoops({ clock: systemClock, raise: alerts.raise });
    reportCrashLoops = () =>
      void crashLoops(up?.state.children ?? []).catch((error: unknown) =>
        log.warn("cannot raise the crash-loop alert", { error: messageOf(error) }),
      );
  };
  const close = async () => {
    const [alerting, opened] = [alerts, client];
    [opening, alerts, client] = [null, null, null];
    await alerting?.stop().finally(() => opened?.close());
  };
  const program = async () => {
    if (opening === null) refuseMissing(up?.state.children ?? []);
    await (opening ??= open());
    const cluster = await clusterOf(config);
    const addresses =
      cluster === null ? {} : { APP_DATABASE_URL: cluster.databaseUrl, APP_REDIS_URL: cluster.redisUrl };
    return {
      file: process.execPath,
      args: [...process.execArgv, entry],
      cwd,
      env: { ...env, ...addresses, ORB_PARENT_FD: "3", ORB_PARENT_GONE: "stop" },
    };
  };
  const health = async ({ identity }: Handle, first: boolean): Promise<Health> => {
    if (identity === null || client === null) return { ok: false, why: "it is not ours" };
    return workerHealth({ store: client.store, clock: client.clock }, identity, { ask: first });
  };
  // Open connections lead to the old address; the next process to start opens new ones.
  const programs = { program, moved: close, workerHealth: health };
  const up = Up.take({ config, clock: systemClock, log, programs, changed: () => reportCrashLoops(), ...more });
  if (up === null) return null;
  try {
    // Reports configuration errors while there is nothing to undo, unless the check needs managed services.
    if (config.database.kind === "sqlite" || config.managedServices === null) await (opening = open());
  } catch (error) {
    up.giveUp();
    throw error;
  }
  const stop = () => up.stop().finally(close);
  return {
    get state() {
      return up.state;
    },
    start: () => up.start().catch((error: unknown) => stop().then(() => Promise.reject(error))),
    hurry: () => up.hurry(),
    stop,
  };
}

/** Nothing works without the services. */
function refuseMissing(children: UpState["children"]): void {
  const failed = children.find(({ kind, state }) => kind !== "api" && kind !== "worker" && state !== "up");
  if (failed === undefined) return;
  throw new OrbError("service_unavailable", `${failed.name} cannot be started: ${failed.note ?? failed.health}`);
}

/** Starts the configured services for a program that embeds the rest. Leaves those of an `orb up` to it. */
export async function startServices(config: Config, log: Log): Promise<{ stop(): Promise<void>; hurry(): void }> {
  closeToOthers(config, log);
  const up = Up.take({ config, clock: systemClock, log, programs: null });
  if (up === null) return { stop: async () => {}, hurry: () => {} };
  await up.start();
  try {
    refuseMissing(up.state.children);
    return up;
  } catch (error) {
    await up.stop();
    throw error;
  }
}

/** The recorded state, as far as it is still true. */
export async function upState(config: Config): Promise<UpState | null> {
  const state = new StateFile(config.dataDir).read();
  return state === null ? null : provenState(state);
}
