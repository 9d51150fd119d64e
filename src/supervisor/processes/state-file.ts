import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isProvenAlive, type ProcessIdentity } from "../../base/machine.ts";
import { replaceFile } from "../../base/files/whole-file.ts";

/**
 * `silent`: it runs and does not answer at the moment. `restarting`: it died and is started again soon. `crash_loop`: it
 * died too often, and is tried rarely. `gone`: nobody looks after it, and it is not there.
 */
export type ChildState = "starting" | "up" | "silent" | "restarting" | "crash_loop" | "stopping" | "stopped" | "gone";

/** The public status of one child. */
export interface ChildStatus {
  name: string;
  kind: "redis" | "postgres" | "api" | "worker";
  state: ChildState;
  identity: ProcessIdentity | null;
  port: number | null;
  restarts: number;
  /** When the present process was begun, or found. */
  since: number | null;
  /** Its last health message. */
  health: string | null;
  /** Why it last died. */
  note: string | null;
}

export interface UpState {
  /** null: it has stopped and left nothing. */
  supervisor: ProcessIdentity | null;
  /** `program`: one of the user's own, which has the services for itself. */
  by: "up" | "program";
  startedAt: number;
  url: string | null;
  /** Services keep their ports over restarts. */
  ports: Partial<Record<"redis" | "postgres", number>>;
  children: ChildStatus[];
}

export function upFolder(dataDir: string): string {
  return join(dataDir, "up");
}

export class StateFile {
  readonly #path: string;

  constructor(dataDir: string) {
    this.#path = join(upFolder(dataDir), "state.json");
  }

  /** null: there is none, or none that can be read. It is never half written. */
  read(): UpState | null {
    try {
      const state = JSON.parse(readFileSync(this.#path, "utf8")) as UpState;
      return Array.isArray(state.children) && typeof state.ports === "object" ? state : null;
    } catch {
      return null;
    }
  }

  write(state: UpState): void {
    replaceFile(this.#path, `${JSON.stringify(state, null, 2)}\n`);
  }
}

/** The part that is true now: a file may outlive the processes that it names. */
export function provenState(state: UpState): UpState {
  return {
    ...state,
    supervisor: state.supervisor !== null && isProvenAlive(state.supervisor) ? state.supervisor : null,
    children: state.children.map((child) =>
      child.identity === null || isProvenAlive(child.identity)
        ? child
        : { ...child, identity: null, since: null, health: null, state: goneState(child.state) },
    ),
  };
}

function goneState(state: ChildState): ChildState {
  return state === "restarting" || state === "crash_loop" || state === "stopped" || state === "starting"
    ? state
    : "gone";
}
