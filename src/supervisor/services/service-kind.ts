import type { ProcessIdentity } from "../../base/machine.ts";
import type { Config } from "../../config/options.ts";
import type { ChildKind } from "../processes/child.ts";
import type { Program } from "../processes/handle.ts";

export type ServiceName = "redis" | "postgres";

/** What a service of ours is started with. */
export interface Place {
  folder: string;
  /** An address of this machine that only this machine reaches. */
  host: string;
  port: number;
  /** "": none is asked for. */
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
  /** Whether this one of them is the one that the others belong to. */
  isMain(pid: number, data: string): boolean;
  /** Where one that runs in that folder listens, as it has written down; null: it has not. */
  portIn(folder: string): number | null;
  /** Where it is installed; throws when it is not, or cannot work in that folder. */
  require(folder: string): string;
  prepare(place: Place, signal: AbortSignal): Promise<Program>;
  urlOf(place: Pick<Place, "port" | "password">): string;
  target(url: string): { host: string; port: number };
  /** Where the configuration says that there is one. */
  configured(config: Config): string | null;
  /** What one of ours has to be to be what that address asks for; null: it cannot be. */
  placeAt(url: string): Pick<Place, "host" | "port" | "password"> | null;
  /** Rejects when it does not answer in time; the error may say `starting`. */
  check(url: string, timeoutMs: number): Promise<string>;
  stopSteps: ChildKind["stopSteps"];
  atOnce: NodeJS.Signals;
}
