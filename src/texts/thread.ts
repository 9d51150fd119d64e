/** The thread that compares texts: the main thread of a worker must stay free for its lanes. */
import { parentPort, workerData } from "node:worker_threads";
import { messageOf, systemCode } from "../base/errors.ts";
import { type SearchMethod, TextDuplicates, type Verdicts } from "./duplicates.ts";

/** Texts to add, each with its rank; or null: all are there. */
export type ToTexts = { texts: readonly string[]; ranks: Float64Array } | null;

export type FromTexts =
  | { kind: "added" }
  | { kind: "progress"; done: number }
  | { kind: "decided"; verdicts: Verdicts }
  | { kind: "failed"; message: string; code: string | null };

const PROGRESS_EVERY = 20_000;

const port = parentPort;
if (port === null) throw new Error("this file runs in a worker thread only");
const { search, folder } = workerData as { search: SearchMethod; folder: string };
const reply = (message: FromTexts) => port.postMessage(message);
/** Made with the first order: its failures are told as all others. */
let made: TextDuplicates | null = null;

port.on("message", (order: ToTexts) => {
  try {
    const duplicates = (made ??= new TextDuplicates(search, folder));
    if (order === null) {
      const verdicts = duplicates.decide((done) => {
        if (done % PROGRESS_EVERY === 0) reply({ kind: "progress", done });
      });
      reply({ kind: "decided", verdicts });
      return;
    }
    for (const [at, text] of order.texts.entries()) duplicates.add(text, order.ranks[at] ?? 0);
    reply({ kind: "added" });
  } catch (error) {
    reply({ kind: "failed", message: messageOf(error), code: systemCode(error) ?? null });
  }
});
