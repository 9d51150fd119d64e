import type { MonitorStore } from "../../ports/monitors/monitor-port.ts";
import type { TrackedPageStore } from "../../ports/monitors/tracked-port.ts";
import type { Context } from "../kernel/context.ts";
import { readMonitor, readMonitorChange, readMonitorChanges, trimMonitor } from "./changes.ts";
import { concludeMonitor, dropWaitingPages, recordComparisons, recordUnreached } from "./record-changes.ts";
import { expireTracked, readTrackedPage } from "./tracked-pages.ts";
import { monitorsDue, readKnownPages, readMonitorState, readWaitingPages } from "./waiting-pages.ts";

export function monitorStore(context: Context): MonitorStore & TrackedPageStore {
  return {
    trackedPage: async (key) => readTrackedPage(context, key),
    expireTrackedPages: async (before, limit) => expireTracked(context, before, limit),
    monitorState: async (jobId, key) => readMonitorState(context, jobId, key),
    knownPages: async (jobId, options) => readKnownPages(context, jobId, options),
    monitorsDue: async (limit) => monitorsDue(context, limit),
    waitingPages: async (runId, limit) => readWaitingPages(context, runId, limit),
    recordComparisons: async (runId, what, pages, now, shared) =>
      recordComparisons(context, runId, what, pages, now, shared),
    recordUnreached: async (runId, what, limit, now) => recordUnreached(context, runId, what, limit, now),
    dropWaitingPages: async (runId, limit) => dropWaitingPages(context, runId, limit),
    concludeMonitor: async (run, options, now) => concludeMonitor(context, run, options, now),
    trimMonitor: async (runId, keep, limit) => trimMonitor(context, runId, keep, limit),
    monitor: async (jobId) => readMonitor(context, jobId),
    monitorChanges: async (jobId, options) => readMonitorChanges(context, jobId, options),
    monitorChange: async (jobId, number) => readMonitorChange(context, jobId, number),
  };
}
