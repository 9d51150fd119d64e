/** The thread that reads documents, one at a time. Its process watches the memory. */
import { parentPort } from "node:worker_threads";
import { messageOf } from "../base/errors.ts";
import { DocumentError, type DocumentInput, type DocumentLimits, type DocumentProblem, type ReadDocument } from "./document.ts";
import { readDocument } from "./read.ts";

export interface ReadOrder {
  input: DocumentInput;
  limits: DocumentLimits;
}

export type ReadOutcome =
  | { kind: "document"; document: ReadDocument }
  | { kind: "problem"; problem: DocumentProblem; message: string };

parentPort?.on("message", ({ input, limits }: ReadOrder) => {
  void readDocument(input, limits)
    .then(
      (document): ReadOutcome => ({ kind: "document", document }),
      (error: unknown): ReadOutcome =>
        error instanceof DocumentError
          ? { kind: "problem", problem: error.problem, message: error.message }
          : { kind: "problem", problem: "document_damaged", message: messageOf(error) },
    )
    .then((outcome) => parentPort?.postMessage(outcome));
});
