/**
 * Runs in a worker thread of the handler process: loads the user's module and executes one item, step or page at a time.
 * A module that loops, allocates or exits harms this process only.
 */
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { Channel, Refused } from "./channel.ts";
import { contentsOf, readModule } from "./module.ts";
import type { FromThread, ToThread } from "./protocol.ts";
import { recordBaseline } from "./left-running.ts";
import { runExtractor } from "./run-extractor.ts";
import { runItem } from "./run-item.ts";
import { StepExecution } from "./run-step.ts";

const port = parentPort;
if (port === null) throw new Error("this file runs in a worker thread only");
const send = (message: FromThread) => port.postMessage(message);
let channel: Channel | null = null;
let abort = new AbortController();
let step: StepExecution | null = null;

try {
  const module = readModule((await import(pathToFileURL(workerData.module as string).href)) as Record<string, unknown>);
  // The file may have changed since the engine read the module's contents.
  const missing = (what: string): never => {
    const message = `the module no longer has a ${what}`;
    throw new Refused({ message, reason: "handler_missing", httpStatus: null, retryAfterMs: null });
  };
  port.on("message", (message: ToThread) => {
    switch (message.kind) {
      case "abort":
        return abort.abort();
      case "run": {
        const { signal } = (abort = new AbortController());
        const current = (channel = new Channel(port, message.execution));
        const handler = module.handlers.get(message.handler);
        return void current.execute(async () =>
          handler === undefined
            ? missing(`handler named ${message.handler}`)
            : runItem(current, handler.run, message.item, signal),
        );
      }
      case "step": {
        const { signal } = (abort = new AbortController());
        const current = (channel = new Channel(port, message.execution));
        const kind = module.steps.get(message.step);
        return void current.execute(async () => {
          if (kind === undefined) return missing(`step kind named ${message.step}`);
          step = new StepExecution(current, message.about, signal);
          return step.run(kind, message.params);
        });
      }
      case "extract": {
        const { signal } = (abort = new AbortController());
        const current = (channel = new Channel(port, message.execution));
        const extractor = module.extractors.get(message.extractor);
        return void current.execute(async () =>
          extractor === undefined
            ? missing(`extractor named ${message.extractor}`)
            : runExtractor(current, extractor, message.page, signal),
        );
      }
      case "pull":
        return step?.pulled();
      default:
        return channel?.answered(message);
    }
  });
  recordBaseline();
  send({ kind: "ready", ...contentsOf(module) });
} catch (error) {
  send({ kind: "broken", message: error instanceof Error ? error.message : String(error) });
}
