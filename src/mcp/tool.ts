/** The interface of tools, independent of the transport. */
import type { Static, TSchema } from "typebox";
import type { Clock } from "../base/clock.ts";
import type { Role } from "../domain/access/roles.ts";
import type { OrbweaverClient } from "../api-client/client.ts";

/** One call of a tool. */
export interface ToolCall {
  api: OrbweaverClient;
  clock: Clock;
  /** Aborted when the client no longer waits for the answer. */
  signal: AbortSignal;
  /** Whether the client cancelled, rather than only disconnected. */
  isCancelled(): boolean;
  /** This process shuts down: calls that wait for a run return its current state. */
  stopping: AbortSignal;
  /** Reports progress; does nothing if the client did not ask for it. */
  progress(done: number, total: number, message: string): void;
}

/** MCP annotations of a tool. */
export interface Hints {
  /** Has no visible effect. */
  reads: boolean;
  /** Its effect cannot be undone. */
  destroys?: boolean;
  /** Idempotent. */
  repeatable?: boolean;
  /** Accesses web sites. */
  open?: boolean;
}

export interface Tool<I extends TSchema = TSchema, O extends TSchema = TSchema> {
  name: string;
  title: string;
  description: string;
  input: I;
  output: O;
  /** Needed to call it: that of the routes that it calls. */
  role: Role;
  hints: Hints;
  call(args: Static<I>, call: ToolCall): Promise<Static<O>>;
}

/** Types the tool's function by its schemas. */
export function defineTool<I extends TSchema, O extends TSchema>(tool: Tool<I, O>): Tool {
  return tool as unknown as Tool;
}

/** The tool failed: what happened, and the remedy. */
export class ToolFailure extends Error {
  /** Returned beside the message, for programs. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.name = "ToolFailure";
    this.details = details;
  }
}

/** The next call, with its arguments. */
export interface Next {
  tool: string;
  arguments: Record<string, unknown>;
  why: string;
}
