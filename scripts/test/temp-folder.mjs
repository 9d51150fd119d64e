// Where the tests of one run put their temporary files. What is left of them at the end, or after Ctrl-C, is removed, and
// programs that still work there are ended: services that `orb up` starts have process groups of their own.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";

/** Its name is short, as the paths of sockets must be. Services that run as a user of their own pass through it. */
export function makeTestFolder() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ot-")));
  chmodSync(folder, 0o711);
  return folder;
}

/** Says whether there were processes to end. */
export function clearTestFolder(folder) {
  const left = processesIn(folder);
  for (const pid of left) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
  try {
    // Whatever is dying may write a last file.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  } catch {
    process.stdout.write(`${folder} could not be removed\n`);
  }
  return left.length > 0;
}

/** Those that are in it, or were started with something in it; none where the system has no /proc. */
function processesIn(folder) {
  const inside = `${folder}${sep}`;
  return pids().filter((pid) => {
    try {
      const at = readlinkSync(`/proc/${pid}/cwd`);
      return at === folder || at.startsWith(inside) || readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(inside);
    } catch {
      // It has ended, or is somebody else's.
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
