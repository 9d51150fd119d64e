import type { RetentionStore } from "../../ports/retention-port.ts";
import type { Context } from "../kernel/context.ts";
import { expireOldest, expireRuns, keepRun, lastRunNumber, trimJobs } from "./expire-runs.ts";
import { noteDiskUse, readDiskUse, storedBytes } from "../ops/disk-use.ts";
import { deleteRun } from "./hide-runs.ts";
import { recordOrphanedFiles } from "./orphaned-files.ts";
import { dropFiles, forgetOrphanedFiles, isOrphaned, orphanedFiles, removeExpired } from "./retention.ts";
import {
  advanceDeletions,
  countDeletable,
  countRemoving,
  createDeletion,
  readDeletion,
  readDeletions,
} from "./run-deletions.ts";

export function retentionStore(context: Context): RetentionStore {
  const { connection } = context;
  return {
    expireRuns: (limits, limit, now) => expireRuns(context, limits, limit, now),
    trimJobs: (limits, now) => trimJobs(context, limits, now),
    expireOldest: (limit, now, which) => expireOldest(context, limit, now, which),
    keepRun: async (id, keep) => keepRun(context, id, keep),
    deleteRun: (id, now) => deleteRun(context, id, now),
    countDeletable: async (filter) => countDeletable(context, filter),
    createDeletion: async (filter, now) => createDeletion(context, filter, now),
    deletion: async (id) => readDeletion(context, id),
    deletions: async (limit) => readDeletions(context, limit),
    advanceDeletions: (limit, now) => advanceDeletions(context, limit, now),
    countRemoving: async (limit) => countRemoving(context, limit),
    lastRunNumber: async () => lastRunNumber(context),
    storedBytes: async (window) => storedBytes(context, window),
    databaseBytes: async () => connection.dialect.bytes(connection),
    noteDiskUse: async (use, now) => noteDiskUse(context, use, now),
    diskUse: async () => readDiskUse(context),
    removeExpired: async (limit) => removeExpired(context, limit),
    orphanedFiles: async (window) => orphanedFiles(context, window),
    recordOrphanedFiles: async (hashes) => connection.write(() => recordOrphanedFiles(context, hashes)),
    isOrphaned: async (hash) => isOrphaned(context, hash),
    dropFiles: async (ids) => dropFiles(context, ids),
    forgetOrphanedFiles: async (hashes) => forgetOrphanedFiles(context, hashes),
  };
}
