import type { ProcessIdentity } from "../../base/machine.ts";
import type { Config } from "../../config/options.ts";
import type { ChildKind } from "../processes/child.ts";
import type { Program } from "../processes/handle.ts";

export type ServiceName = "redis" | "postgres";

/** The settings that a managed service is started with. */
export interface ServiceSettings {
  folder: string;
  /** An address of this machine that only this machine reaches. */
  host: string;
  port: number;
  /** "": no password. */
  password: string;
  /** Its last process, as far as we know. */
  last: ProcessIdentity | null;
}

export interface ServiceKind {
  name: ServiceName;
  defaultPort: number;
  /** Its processes have this name, and work in `folderOf`. */
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
  /** Where the configuration says that there is one. */
  configured(config: Config): string | null;
  /** The settings with which a managed service serves that URL; null: it cannot. */
  settingsFor(url: string): Pick<ServiceSettings, "host" | "port" | "password"> | null;
  /** Rejects when it does not answer in time; the error may say `starting`. */
  check(url: string, timeoutMs: number): Promise<string>;
  stopSteps: ChildKind["stopSteps"];
  atOnce: NodeJS.Signals;
}
