// The folder for temporary files of one test run. At the end, or after Ctrl-C, it is deleted, and programs that still
// work in it are killed: services of `orb up` have their own process groups.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";

/** A short name, because socket paths are limited. Services that run as another user can enter it. */
export function makeTestFolder() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ot-")));
  chmodSync(folder, 0o711);
  return folder;
}

/** Returns whether there were processes to kill. */
export function clearTestFolder(folder) {
  const left = processesIn(folder);
  for (const pid of left) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has exited by itself.
    }
  }
  try {
    // Dying processes may write a last file.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  } catch {
    process.stdout.write(`${folder} could not be removed\n`);
  }
  return left.length > 0;
}

/** Processes with their working directory or an argument in it; none without /proc. */
function processesIn(folder) {
  const inside = `${folder}${sep}`;
  return pids().filter((pid) => {
    try {
      const at = readlinkSync(`/proc/${pid}/cwd`);
      return at === folder || at.startsWith(inside) || readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(inside);
    } catch {
      // It has exited, or belongs to another user.
      return false;
    }
  });
}

function pids() {
  try {
    return readdirSync("/proc")
      .filter((name) => /^[0-9]+$/.test(name))
      .map(Number)
      .filter((pid) => pid !== process.pid);
  } catch {
    return [];
  }
}
