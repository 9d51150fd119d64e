/** The thread that reads documents, one at a time. Its process watches the memory. */
import { parentPort } from "node:worker_threads";
import { messageOf } from "../base/errors.ts";
import {
  DocumentError,
  type DocumentInput,
  type DocumentLimits,
  type DocumentProblem,
  type ReadDocument,
} from "./document.ts";
import { readDocument } from "./read.ts";

export interface ReadOrder {
  input: DocumentInput;
  limits: DocumentLimits;
}

export type ReadOutcome =
  | { kind: "document"; document: ReadDocument }
  /** `isBroken`: something of the file may still run, so the process reads no other. */
  | { kind: "problem"; problem: DocumentProblem; message: string; isBroken?: true };

/** Counts the orders, so that each is answered once. */
let order = 0;
let answered = 0;

function answer(to: number, outcome: ReadOutcome): void {
  if (to !== order || answered === order) return;
  answered = order;
  parentPort?.postMessage(outcome);
}

// A library may throw from a callback, where nothing of ours can catch it: that file is damaged.
process.on("uncaughtException", (error) => {
  const message = `the file is damaged (${messageOf(error)})`;
  answer(order, { kind: "problem", problem: "document_damaged", message, isBroken: true });
});
// PDF.js loads the other pages of a file ahead of time and waits only for the one it was asked for: a damaged page that
// nobody reads rejects unnoticed.
process.on("unhandledRejection", () => {});

parentPort?.on("message", ({ input, limits }: ReadOrder) => {
  order += 1;
  const own = order;
  void readDocument(input, limits)
    .then(
      (document): ReadOutcome => ({ kind: "document", document }),
      (error: unknown): ReadOutcome =>
        error instanceof DocumentError
          ? { kind: "problem", problem: error.problem, message: error.message }
          : { kind: "problem", problem: "document_damaged", message: messageOf(error) },
    )
    .then((outcome) => answer(own, outcome));
});
