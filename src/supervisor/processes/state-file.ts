import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isProvenAlive, type ProcessIdentity } from "../../base/machine.ts";
import { replaceFile } from "../../base/files/whole-file.ts";

/**
 * `silent`: runs but does not answer. `restarting`: died and restarts soon. `crash_loop`: died too often and restarts
 * slowly. `gone`: unsupervised and not running.
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
  /** When the current process was started or adopted. */
  since: number | null;
  /** Its last health message. */
  health: string | null;
  /** Why it last died. */
  note: string | null;
}

export interface UpState {
  /** Null: it stopped and left nothing. */
  supervisor: ProcessIdentity | null;
  /** `program`: a user's program that has the services for itself. */
  by: "up" | "program";
  startedAt: number;
  url: string | null;
  /** Services keep their ports across restarts. */
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

  /** Null: missing or unreadable. It is written atomically. */
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

/** Drops what is no longer true: a file may outlive the processes in it. */
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
