import type { ProcessIdentity } from "../../base/machine.ts";
import type { Config } from "../../config/options.ts";
import type { ChildKind } from "../processes/child.ts";
import type { Program } from "../processes/handle.ts";

export type ServiceName = "redis" | "postgres";

/** The settings that a managed service is started with. */
export interface ServiceSettings {
  folder: string;
  /** A local address. */
  host: string;
  port: number;
  /** "": no password. */
  password: string;
  /** Its last known process. */
  last: ProcessIdentity | null;
}

export interface ServiceKind {
  name: ServiceName;
  defaultPort: number;
  /** The name of its processes, which run in `folderOf`. */
  program: string;
  folderOf(folder: string): string;
  /** Whether this process is the parent of the others. */
  isMain(pid: number, data: string): boolean;
  /** The port that a running service has recorded in the folder; null: none. */
  portIn(folder: string): number | null;
  /** Where it is installed; throws when it is not, or cannot work in that folder. */
  require(folder: string): string;
  prepare(settings: ServiceSettings, signal: AbortSignal): Promise<Program>;
  urlOf(settings: Pick<ServiceSettings, "port" | "password">): string;
  target(url: string): { host: string; port: number };
  /** The configured URL of an existing one. */
  configured(config: Config): string | null;
  /** The settings with which a managed service serves that URL; null: it cannot. */
  settingsFor(url: string): Pick<ServiceSettings, "host" | "port" | "password"> | null;
  /** Rejects on timeout; the error may have `starting`. */
  check(url: string, timeoutMs: number): Promise<string>;
  stopSteps: ChildKind["stopSteps"];
  atOnce: NodeJS.Signals;
}
