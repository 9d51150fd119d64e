/** The verbs about workers, put together. */
import type { WorkerVerbs } from "../worker-port.ts";
import type { Context } from "./context.ts";
import { endStoppedNow, stoppedTasks, stopTask } from "./stop-task.ts";
import {
  answerPings,
  askDrain,
  askPing,
  forgetWorkers,
  loseWorkers,
  pingAnswered,
  pulseWorker,
  readWorker,
  readWorkers,
  registerWorker,
  workerStopped,
  workerWishes,
} from "./workers.ts";

export function workerVerbs(context: Context): WorkerVerbs {
  return {
    registerWorker: async (worker, now) => registerWorker(context, worker, now),
    pulse: async (id, state, pulse, now) => pulseWorker(context, id, state, pulse, now),
    workerWishes: async (id) => workerWishes(context, id),
    workerStopped: async (id, now) => workerStopped(context, id, now),
    workers: async (filter) => readWorkers(context, filter),
    worker: async (id) => readWorker(context, id),
    askDrain: async (id, drain) => askDrain(context, id, drain),
    askPing: async (id) => askPing(context, id),
    answerPings: async (id, now) => answerPings(context, id, now),
    pingAnswered: async (id, ping) => pingAnswered(context, id, ping),
    loseWorkers: async (now) => loseWorkers(context, now),
    forgetWorkers: async (before) => forgetWorkers(context, before),
    stopTask: async (taskId, now) => stopTask(context, taskId, now),
    endStopped: async (now) => endStoppedNow(context, now),
    stoppedTasks: async (rows) => stoppedTasks(context, rows),
  };
}
