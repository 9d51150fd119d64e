/** `orb up`: puts together what looks after all processes of a configuration. Part of the composition root. */
import { systemClock } from "./base/clock.ts";
import { messageOf, OrbError } from "./base/errors.ts";
import type { Log } from "./base/log.ts";
import { type Client, openClient } from "./client.ts";
import type { Config } from "./config/options.ts";
import { startAlerting } from "./supervisor/alerting.ts";
import type { Health } from "./supervisor/child.ts";
import { tellCrashLoops } from "./supervisor/crash-loops.ts";
import type { Handle } from "./supervisor/handle.ts";
import { provenState, StateFile, type UpState } from "./supervisor/state-file.ts";
import { Up, type UpDeps } from "./supervisor/up.ts";
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
  const program = {
    file: process.execPath,
    args: [...process.execArgv, entry],
    cwd,
    env: { ...env, ORB_PARENT_FD: "3", ORB_PARENT_GONE: "stop" },
  };
  let client: Client | null = null;
  const health = async ({ identity }: Handle, first: boolean): Promise<Health> => {
    if (identity === null || client === null) return { ok: false, why: "it is not ours" };
    return workerHealth({ store: client.store, clock: systemClock }, identity, { ask: first });
  };
  let tell = () => {};
  const own = { program, workerHealth: health };
  const up = Up.take({ config, clock: systemClock, log, own, changed: () => tell(), ...more });
  if (up === null) return null;
  try {
    // Migrates, too, before the others begin; and says what is wrong with the configuration while there is nothing to undo.
    client = await openClient(config);
  } catch (error) {
    up.giveUp();
    throw error;
  }
  const opened = client;
  const alerts = startAlerting(config, { ...opened, log });
  const told = tellCrashLoops({ clock: systemClock, raise: alerts.raise });
  tell = () =>
    void told(up.state.children).catch((error: unknown) =>
      log.warn("a crash loop could not be told", { error: messageOf(error) }),
    );
  return {
    get state() {
      return up.state;
    },
    start: () => up.start(),
    hurry: () => up.hurry(),
    stop: () =>
      up
        .stop()
        .finally(() => alerts.stop())
        .finally(() => opened.close()),
  };
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
