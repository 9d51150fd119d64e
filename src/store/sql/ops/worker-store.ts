import type { WorkerStore } from "../../ports/worker-port.ts";
import type { Context } from "../kernel/context.ts";
import { markFiles, readFilesMark } from "./files-mark.ts";
import { hasSealed } from "../kernel/sealed.ts";
import { endStoppedNow, stoppedTasks, stopTask } from "../tasks/stop-task.ts";
import {
  agreeOnKey,
  answerPings,
  askDrain,
  askPing,
  forgetWorkers,
  loseWorkers,
  pingAnswered,
  recordHeartbeat,
  readWorker,
  readWorkers,
  registerWorker,
  workerStopped,
  workerRequests,
} from "./workers.ts";

export function workerStore(context: Context): WorkerStore {
  return {
    agreeOnKey: async (mark) => agreeOnKey(context, mark),
    hasSealed: async () => hasSealed(context),
    filesMark: async () => readFilesMark(context),
    markFiles: async (mark) => markFiles(context, mark),
    registerWorker: async (worker, now, keyMark) => registerWorker(context, worker, now, keyMark),
    recordHeartbeat: async (id, state, heartbeat, now) => recordHeartbeat(context, id, state, heartbeat, now),
    workerRequests: async (id) => workerRequests(context, id),
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
