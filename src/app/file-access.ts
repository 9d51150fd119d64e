/** Closes the data directory to other users of the machine. Part of the composition root: it knows all paths. */
import { chmodSync, chownSync, type Dirent, existsSync, readFileSync, statSync } from "node:fs";
import { chmod, chown, opendir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, OrbError } from "../base/errors.ts";
import { fileMode, folderMode, makeFolder, shareWithGroup } from "../base/files/file-modes.ts";
import type { Log } from "../base/log.ts";
import type { Config } from "../config/options.ts";
import { isForeignFile } from "../store/sqlite/connection.ts";

type StoragePaths = Pick<Config, "dataDir" | "database" | "artifacts" | "fileGroup" | "managedServices">;

interface OpenPath {
  path: string;
  mode: number;
  wanted: number;
}

/** Folders and files that other users of this machine may read or enter. */
export function openToOthers(config: StoragePaths): OpenPath[] {
  if (process.platform === "win32") return [];
  const { dataDir, database, artifacts } = config;
  const files = databaseFiles(database);
  const folders = [
    { path: dataDir, wanted: dataDirMode(config) },
    ...(artifacts.kind === "local" ? [{ path: artifacts.path, wanted: wantedFolder(config) }] : []),
  ];
  const wanted = config.fileGroup === null ? 0o600 : 0o640;
  return [...folders, ...files.map((path) => ({ path, wanted }))].flatMap((entry) => {
    const found = statSync(entry.path, { throwIfNoEntry: false });
    const mode = found === undefined ? 0 : found.mode & 0o777;
    return (mode & ~entry.wanted & 0o777) === 0 ? [] : [{ ...entry, mode }];
  });
}

/** Only of a database that we created: a file of another program is rejected and stays as it is. */
function databaseFiles(database: StoragePaths["database"]): string[] {
  if (database.kind !== "sqlite" || isForeignFile(database.path)) return [];
  return ["", "-wal", "-shm"].map((suffix) => database.path + suffix);
}

const wantedFolder = ({ fileGroup }: StoragePaths) => (fileGroup === null ? 0o700 : 0o750);

/** A Postgres that runs as another user, because we are root, must be able to enter its folder. */
function dataDirMode(config: StoragePaths): number {
  const passes = process.getuid?.() === 0 && config.managedServices?.includes("postgres") === true;
  return wantedFolder(config) | (passes ? 0o011 : 0);
}

/**
 * Creates new files for owner or group only, and repairs existing ones. Logs once what it changed or could not change.
 */
export function closeToOthers(config: StoragePaths, log: Pick<Log, "info" | "warn">): void {
  if (process.platform === "win32") return;
  const group = config.fileGroup === null ? null : groupId(config.fileGroup);
  shareWithGroup(group !== null);
  try {
    makeFolder(config.dataDir);
    const { mode } = statSync(config.dataDir);
    const passage = dataDirMode(config) & 0o011;
    if ((mode & passage) !== passage) chmodSync(config.dataDir, (mode & 0o777) | passage);
  } catch {
    // Reported where the folder is used.
  }
  const open = openToOthers(config);
  const mended: string[] = [];
  const failed: string[] = [];
  for (const { path, wanted } of open) {
    // The artifacts folder is closed last, after everything in it: see below.
    if (config.artifacts.kind === "local" && path === config.artifacts.path && path !== config.dataDir) continue;
    try {
      chmodSync(path, wanted);
      mended.push(path);
    } catch (error) {
      failed.push(`${path}: ${messageOf(error)}`);
    }
  }
  if (group !== null) failed.push(...grantGroup(config, group));
  if (mended.length > 0) log.info("closed these paths to other users of this machine", { paths: mended });
  if (failed.length > 0)
    log.warn("other users of this machine can read stored data", {
      paths: failed,
      fix: "make the user that runs Orbweaver their owner, or run orb as their owner",
    });
}

function grantGroup({ dataDir, database }: StoragePaths, group: number): string[] {
  const failed: string[] = [];
  const files = databaseFiles(database);
  for (const path of [dataDir, ...files].filter((one) => existsSync(one))) {
    const found = statSync(path);
    try {
      if (found.gid !== group) chownSync(path, -1, group);
      // New files in the folder inherit its group.
      if (found.isDirectory()) chmodSync(path, (found.mode & 0o777) | 0o2050);
      else chmodSync(path, 0o640);
    } catch (error) {
      failed.push(`${path}: ${messageOf(error)}`);
    }
  }
  return failed;
}

function groupId(name: string): number {
  if (/^\d+$/.test(name)) return Number(name);
  const lines = existsSync("/etc/group") ? readFileSync("/etc/group", "utf8").split("\n") : [];
  const id = lines.map((line) => line.split(":")).find(([group]) => group === name)?.[2];
  if (id !== undefined) return Number(id);
  const message = `there is no group ${name} on this machine`;
  throw new OrbError("config_invalid", `APP_FILE_GROUP: ${message}`, { fields: [{ path: "APP_FILE_GROUP", message }] });
}

/**
 * Closes artifacts of earlier versions in the background, one after the other. The folder itself comes last: while it
 * is open, it may contain open files, and the next start continues.
 */
export async function closeArtifacts(
  config: StoragePaths,
  log: Pick<Log, "info" | "warn">,
  signal: AbortSignal,
): Promise<void> {
  if (config.artifacts.kind !== "local" || process.platform === "win32") return;
  const { path } = config.artifacts;
  if (!openToOthers(config).some((entry) => entry.path === path)) return;
  const group = config.fileGroup === null ? null : groupId(config.fileGroup);
  let count = 0;
  try {
    for await (const { entry, at } of within(path)) {
      if (signal.aborted) return;
      if (group !== null) await chown(at, -1, group);
      await chmod(at, entry.isDirectory() ? folderMode() | (group === null ? 0 : 0o2000) : fileMode());
      count += 1;
    }
    if (group !== null) await chown(path, -1, group);
    await chmod(path, folderMode() | (group === null ? 0 : 0o2000));
    log.info("closed the artifacts to other users of this machine", { path, files: count });
  } catch (error) {
    log.warn("other users of this machine can read artifacts", { path, error: messageOf(error) });
  }
}

async function* within(folder: string): AsyncGenerator<{ entry: Dirent; at: string }> {
  for await (const entry of await opendir(folder)) {
    const at = join(folder, entry.name);
    if (entry.isDirectory()) yield* within(at);
    if (entry.isDirectory() || entry.isFile()) yield { entry, at };
  }
}
