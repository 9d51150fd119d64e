/** What a tool is, whatever way it is called by. */
import type { Static, TSchema } from "typebox";
import type { Clock } from "../base/clock.ts";
import type { OrbweaverClient } from "../api-client/client.ts";

/** One call of a tool: what it works with, and who waits for the answer. */
export interface ToolCall {
  api: OrbweaverClient;
  clock: Clock;
  /** Nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Whether they no longer want what was asked for, either: they said so, and did not merely go away. */
  isCancelled(): boolean;
  /** This process ends: who waits for a run is answered with what is known of it. */
  stopping: AbortSignal;
  /** Reports progress; does nothing if the client did not ask for it. */
  progress(done: number, total: number, message: string): void;
}

/** What agents may assume of a tool before they call it. */
export interface Hints {
  /** Changes nothing that people would notice. */
  reads: boolean;
  /** What it ends cannot be brought back. */
  destroys?: boolean;
  /** Twice is the same as once. */
  repeatable?: boolean;
  /** Talks to web sites. */
  open?: boolean;
}

export interface Tool<I extends TSchema = TSchema, O extends TSchema = TSchema> {
  name: string;
  title: string;
  description: string;
  input: I;
  output: O;
  hints: Hints;
  call(args: Static<I>, call: ToolCall): Promise<Static<O>>;
}

/** Gives the tool's function the types of its schemas. */
export function defineTool<I extends TSchema, O extends TSchema>(tool: Tool<I, O>): Tool {
  return tool as unknown as Tool;
}

/** The tool could not do it: what went wrong, and what to do about it. */
export class ToolFailure extends Error {
  /** Answered beside the words, for programs. */
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
