import { closeSync, existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type Clock, sleep } from "../../base/clock.ts";
import { messageOf, OrbError } from "../../base/errors.ts";
import { identityOf, isProvenAlive, processesIn, type ProcessIdentity } from "../../base/machine.ts";
import type { Config } from "../../config/options.ts";
import type { ChildKind, Health } from "../processes/child.ts";
import { adopt, begin, external, type Handle } from "../processes/handle.ts";
import { LogFile } from "../processes/log-file.ts";
import { servicePassword } from "./password.ts";
import { freePort, isFree } from "./ports.ts";
import { postgres } from "./postgres.ts";
import { redis } from "./redis.ts";
import type { ServiceSettings, ServiceKind, ServiceName } from "./service-kind.ts";
import type { UpState } from "../processes/state-file.ts";

export const SERVICES: Readonly<Record<ServiceName, ServiceKind>> = { redis, postgres };

export function serviceFolder(config: Config, name: ServiceName): string {
  return join(config.dataDir, "services", name);
}

const ANSWER_MS = 2000;
const CHECK_EVERY_MS = 2000;
const LOOK_MS = 100;
/** How often its port is checked after its process died. */
const PORT_LOOKS = 20;

interface ServiceDeps {
  config: Config;
  clock: Clock;
  /** State of the last supervisor: ports are reused, and its processes recognised. */
  before: UpState | null;
  /** Another process took its port before a restart: it has a new URL. */
  moved?: () => void;
}

/** A service as a supervised child: adopted if it runs, started if not. */
export function serviceChild(kind: ServiceKind, deps: ServiceDeps): ChildKind & { logFile: LogFile } {
  const { config, clock, before, moved } = deps;
  const folder = serviceFolder(config, kind.name);
  const data = kind.folderOf(folder);
  const logFile = new LogFile(join(config.dataDir, "logs", `${kind.name}.log`));
  const configuredUrl = kind.configured(config);
  let last = before?.children.find(({ name, identity }) => name === kind.name && identity !== null)?.identity ?? null;
  let port = before?.ports[kind.name] ?? kind.defaultPort;
  let url = configuredUrl ?? kind.urlOf({ port, password: servicePassword(folder) });
  let written = 0;

  /**
   * A managed process comes first, wherever it listens: a service that merely answers at the URL is not ours to stop.
   */
  async function findRunning(): Promise<Handle | null> {
    const there = last !== null && isProvenAlive(last) ? last : processOf(kind, data);
    if (there === null) return configuredUrl !== null && (await answers(kind, configuredUrl)) ? external() : null;
    // The service's own record wins: ours may be outdated or lost.
    if (configuredUrl === null) listensAt(kind.portIn(folder) ?? port);
    return adopt(there, clock);
  }

  function listensAt(now: number): void {
    port = now;
    url = kind.urlOf({ port, password: servicePassword(folder) });
  }

  async function start(signal: AbortSignal): Promise<Handle> {
    kind.require(folder);
    await othersGone(signal);
    if (configuredUrl === null && !(await isOurs(signal))) {
      listensAt(await freePort(kind.defaultPort));
      moved?.();
    }
    const settings =
      configuredUrl === null
        ? { host: "127.0.0.1", port, password: servicePassword(folder) }
        : localSettings(kind, configuredUrl);
    const program = await kind.prepare({ folder, ...settings, last }, signal);
    signal.throwIfAborted();
    const log = logFile.open();
    written = logFile.size;
    return begin(program, { log }).finally(() => closeSync(log));
  }

  /** Its users know its port: choose another one only if a foreign process has taken it. */
  async function isOurs(signal: AbortSignal): Promise<boolean> {
    const patience = last === null ? 0 : PORT_LOOKS;
    for (let look = 0; !(await isFree(port)); look += 1) {
      if (look >= patience || signal.aborted) return false;
      await sleep(clock, LOOK_MS, signal);
    }
    return true;
  }

  /** Helper processes of a killed service end by themselves soon; until then they use its files. */
  async function othersGone(signal: AbortSignal): Promise<void> {
    for (let look = 0; look < 50 && processesIn(realPath(data), kind.program).length > 0; look += 1)
      await sleep(clock, LOOK_MS, signal);
  }

  return {
    name: kind.name,
    kind: kind.name,
    logFile,
    async begin(signal) {
      const handle = (await findRunning()) ?? (await start(signal));
      last = handle.identity;
      return handle;
    },
    async check(): Promise<Health> {
      const begun = clock.monotonic();
      try {
        const what = await kind.check(url, ANSWER_MS);
        return { ok: true, what: `${what}, ${Math.max(1, Math.round(clock.monotonic() - begun))} ms` };
      } catch (error) {
        return { ok: false, why: messageOf(error), starting: (error as { starting?: boolean }).starting === true };
      }
    },
    port: () => (configuredUrl === null ? port : kind.target(configuredUrl).port),
    lastWords: () => logFile.lastLine(written),
    checkEveryMs: CHECK_EVERY_MS,
    hungAfter: 3,
    stopSteps: kind.stopSteps,
    atOnce: kind.atOnce,
  };
}

async function answers(kind: ServiceKind, url: string): Promise<boolean> {
  try {
    await kind.check(url, ANSWER_MS);
    return true;
  } catch {
    return false;
  }
}

/** A service at a configured URL is started only if that URL is local. */
function localSettings(kind: ServiceKind, url: string): Pick<ServiceSettings, "host" | "port" | "password"> {
  const settings = kind.settingsFor(url);
  if (settings !== null) return settings;
  const { host, port } = kind.target(url);
  throw new OrbError("service_unavailable", `${kind.name} at ${host}:${port} does not answer`, {
    hint: `Start it at that address, or remove the address so that orb up starts one on this machine.`,
  });
}

/** The canonical path; a folder that does not exist has none. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** The service process that works in our folder, started by any process. */
function processOf(kind: ServiceKind, data: string): ProcessIdentity | null {
  const found = processesIn(realPath(data), kind.program);
  const main = found.find(({ pid, parent }) => !found.some((other) => other.pid === parent) && kind.isMain(pid, data));
  return main === undefined ? null : identityOf(main.pid);
}
