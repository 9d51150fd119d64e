/**
 * The line between a thread that works in synchronous steps and the one that speaks with the database. Requests go over
 * in one message, and the asking thread stands still until their answers have come back.
 */
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { Row, Value, Values } from "../sql/kernel/connection.ts";
import type { PlainError } from "./errors.ts";

export type WireValue = Value | readonly Value[];

export interface Request {
  text: string;
  /** Under which it is prepared once per connection; null: it is said once. */
  name: string | null;
  values: readonly WireValue[];
  lists: boolean;
}

export interface Batch {
  /** What its answers are told apart by from those of a batch that was given up. */
  number: number;
  requests: Request[];
  /** Nothing was begun before that this depends on: another connection may serve as well. */
  fresh: boolean;
}

export type Answer = { rows: unknown[]; count: number } | { error: PlainError };

/** What a connection of ours can do beside what the methods need. What it returns is asked when it is first called. */
export interface TakesLists {
  /** A statement in Postgres's own words, with lists among its values. */
  bulk(text: string, values: readonly WireValue[]): () => { rows: unknown[]; count: number };
  first(text: string, values: Values): () => Row | undefined;
}

export interface LineEnds {
  asking: { port: MessagePort; bell: Int32Array };
  answering: { port: MessagePort; bell: Int32Array };
}

export function makeLine(): LineEnds {
  const { port1, port2 } = new MessageChannel();
  const bell = new Int32Array(new SharedArrayBuffer(4));
  return {
    asking: { port: port1 as unknown as MessagePort, bell },
    answering: { port: port2 as unknown as MessagePort, bell },
  };
}

/** Longer than anything that the answering thread lets last: after that it is dead. */
const DEAF_MS = 120_000;

const NO_ANSWER: PlainError = { message: "the thread that speaks with the database does not answer", code: null };

let last = 0;

/** Stands still until the answers are there. What comes late for a batch that was given up is nobody's. */
export function ask({ port, bell }: LineEnds["asking"], what: Omit<Batch, "number">, deafMs = DEAF_MS): Answer[] {
  last += 1;
  const number = last;
  const deadline = performance.now() + deafMs;
  port.postMessage({ ...what, number } satisfies Batch);
  for (;;) {
    const rung = Atomics.load(bell, 0);
    const received = receiveMessageOnPort(port) as { message: Answered } | undefined;
    if (received?.message.number === number) return received.message.answers;
    if (received !== undefined) continue;
    const left = deadline - performance.now();
    if (left <= 0) {
      // Whatever was begun there is not gone on with.
      port.postMessage("drop");
      return [{ error: NO_ANSWER }];
    }
    Atomics.wait(bell, 0, rung, left);
  }
}

interface Answered {
  number: number;
  answers: Answer[];
}

export function answer({ port, bell }: LineEnds["answering"], number: number, answers: Answer[]): void {
  port.postMessage({ number, answers } satisfies Answered);
  Atomics.add(bell, 0, 1);
  Atomics.notify(bell, 0);
}
