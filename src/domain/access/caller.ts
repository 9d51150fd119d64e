/**
 * Who causes the current change, and what they may see. It follows the calls of a request into the store, which records
 * it in the audit log and hides what is outside the limits of a key.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export const ACTOR_KINDS = ["key", "person", "token", "local", "schedule", "repair", "system"] as const;
/**
 * `token`: APP_API_TOKEN; `local`: a caller on this machine where no token is set; `person`: signed in by another system.
 */
export type ActorKind = (typeof ACTOR_KINDS)[number];

export interface Actor {
  kind: ActorKind;
  /** Of the key or the job of the schedule; of a person, issuer and subject; null: there is only one. */
  id: string | null;
  name: string;
}

/** Limits of a key; null: no limit of this kind. What meets all of them is visible. */
export interface Limits {
  jobs: readonly string[] | null;
  sites: readonly string[] | null;
  tags: readonly string[] | null;
}

export interface Caller {
  actor: Actor;
  /** Null: sees everything. */
  limits: Limits | null;
  ip: string | null;
  requestId: string | null;
}

interface Call {
  caller: Caller | null;
}

const CALLS = new AsyncLocalStorage<Call>();

/** Null: the program itself acts. */
export function currentCaller(): Caller | null {
  return CALLS.getStore()?.caller ?? null;
}

/** Null: no caller, or one that sees everything. */
export function callersLimits(): Limits | null {
  return currentCaller()?.limits ?? null;
}

export function asCaller<T>(caller: Caller | null, work: () => T): T {
  return CALLS.run({ caller }, work);
}

/** For work that outlives the request, such as an engine that it wakes. */
export function asProgram<T>(work: () => T): T {
  return CALLS.exit(work);
}

/** Keeps the caller for a function that runs later. */
export function withCaller<F extends (...args: never[]) => unknown>(work: F): F {
  return AsyncLocalStorage.bind(work as never) as unknown as F;
}

/** Starts a request: everything that `work` begins has this caller, until `end`. */
export function beginCall(caller: Caller, work: () => void): { end(): void } {
  const call: Call = { caller };
  CALLS.run(call, work);
  return { end: () => void (call.caller = null) };
}
