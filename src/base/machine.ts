import { readFileSync, readlinkSync } from "node:fs";
import { hostname, uptime } from "node:os";

/** What tells one process from every other that ever was, as far as the platform lets us know. */
export interface ProcessIdentity {
  boot: string;
  pid: number;
  pidStart: string;
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return otherwise;
  }
}

/** One boot of one machine, within one pid namespace: only there does a pid mean anything to us. */
function bootIdentity(): string {
  const boot = readOr("/proc/sys/kernel/random/boot_id", "");
  if (boot === "") return `${hostname()}/${Math.round((Date.now() / 1000 - uptime()) / 60)}`;
  try {
    return `${boot}/${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return boot;
  }
}

/** When the process started, in clock ticks since boot; empty where the platform does not say. */
function startOf(pid: number): string {
  const stat = readOr(`/proc/${pid}/stat`, "");
  // The command name may contain anything, parentheses included; the fields after the last one are plain.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

export function ownIdentity(): ProcessIdentity {
  return { boot: bootIdentity(), pid: process.pid, pidStart: startOf(process.pid) };
}

/** Whether the process may still be alive; true when that cannot be known from here. */
export function mayBeAlive(who: ProcessIdentity): boolean {
  if (who.boot !== bootIdentity()) return true;
  try {
    process.kill(who.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  const start = startOf(who.pid);
  // A zombie is dead for our purposes: its parent just has not looked yet.
  if (start !== "" && stateOf(who.pid) === "Z") return false;
  return start === "" || who.pidStart === "" || start === who.pidStart;
}

function stateOf(pid: number): string {
  const stat = readOr(`/proc/${pid}/stat`, "");
  return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
}
