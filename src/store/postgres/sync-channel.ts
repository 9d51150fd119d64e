/**
 * A synchronous channel from a store thread to the thread that holds the database connections. Requests are sent in one
 * message, and the sender blocks until their answers have arrived.
 */
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { Query, Row, Value, Values } from "../sql/kernel/connection.ts";
import type { PlainError } from "./errors.ts";

export type WireValue = Value | readonly Value[];

export interface Request {
  text: string;
  /** The name of the prepared statement, prepared once per connection; null: not prepared. */
  name: string | null;
  values: readonly WireValue[];
  lists: boolean;
}

export interface Batch {
  /** Distinguishes its answers from late answers to a batch that timed out. */
  number: number;
  requests: Request[];
  /** Depends on no open transaction: a new connection may execute it. */
  fresh: boolean;
}

export type Answer = { rows: unknown[]; count: number } | { error: PlainError };

/** Postgres-only extensions of a connection. The statement is executed when the returned function is first called. */
export interface BulkConnection {
  /** A statement in Postgres syntax, with arrays among its values. */
  bulk(text: string, values: readonly WireValue[]): () => { rows: unknown[]; count: number };
  first(text: string, values: Values): () => Row | undefined;
  list(query: Query): () => unknown[];
}

export interface ChannelEnds {
  asking: { port: MessagePort; wakeup: Int32Array };
  answering: { port: MessagePort; wakeup: Int32Array };
}

export function createChannel(): ChannelEnds {
  const { port1, port2 } = new MessageChannel();
  const wakeup = new Int32Array(new SharedArrayBuffer(4));
  return {
    asking: { port: port1 as unknown as MessagePort, wakeup },
    answering: { port: port2 as unknown as MessagePort, wakeup },
  };
}

/** Longer than every time limit of the answering thread: after that it counts as dead. */
const ANSWER_TIMEOUT_MS = 120_000;

const NO_RESPONSE: PlainError = { message: "the database connection thread does not answer", code: null };

let last = 0;

/** Blocks until the answers are there. Late answers to a batch that timed out are discarded. */
export function ask(
  { port, wakeup }: ChannelEnds["asking"],
  what: Omit<Batch, "number">,
  timeoutMs = ANSWER_TIMEOUT_MS,
): Answer[] {
  last += 1;
  const number = last;
  const deadline = performance.now() + timeoutMs;
  port.postMessage({ ...what, number } satisfies Batch);
  for (;;) {
    const wakeups = Atomics.load(wakeup, 0);
    const received = receiveMessageOnPort(port) as { message: Answered } | undefined;
    if (received?.message.number === number) return received.message.answers;
    if (received !== undefined) continue;
    const remainingMs = deadline - performance.now();
    if (remainingMs <= 0) {
      // Aborts a transaction that is still open there.
      port.postMessage("drop");
      return [{ error: NO_RESPONSE }];
    }
    Atomics.wait(wakeup, 0, wakeups, remainingMs);
  }
}

interface Answered {
  number: number;
  answers: Answer[];
}

export function answer({ port, wakeup }: ChannelEnds["answering"], number: number, answers: Answer[]): void {
  port.postMessage({ number, answers } satisfies Answered);
  Atomics.add(wakeup, 0, 1);
  Atomics.notify(wakeup, 0);
}
