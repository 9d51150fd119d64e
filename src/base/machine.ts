import { readFileSync, readlinkSync } from "node:fs";
import { hostname, uptime } from "node:os";

/** What tells one process from every other that ever was, as far as the platform lets us know. */
export interface ProcessIdentity {
  /** One boot of one machine: what shares it shares the monotonic clock, containers included. */
  boot: string;
  pid: number;
  /** When it started, and in which pid namespace: only there does its pid mean anything. */
  pidStart: string;
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return otherwise;
  }
}

function bootIdentity(): string {
  const boot = readOr("/proc/sys/kernel/random/boot_id", "");
  return boot === "" ? `${hostname()}/${Math.round((Date.now() / 1000 - uptime()) / 60)}` : boot;
}

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** When the process started, in clock ticks since boot; empty where the platform does not say. */
function startOf(pid: number): string {
  const stat = readOr(`/proc/${pid}/stat`, "");
  // The command name may contain anything, parentheses included; the fields after the last one are plain.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

export function ownIdentity(): ProcessIdentity {
  return { boot: bootIdentity(), pid: process.pid, pidStart: `${startOf(process.pid)}@${pidNamespace()}` };
}

/** Whether the process may still be alive; true when that cannot be known from here. */
export function mayBeAlive(who: ProcessIdentity): boolean {
  if (who.boot !== bootIdentity()) return true;
  const [started = "", namespace = ""] = who.pidStart.split("@");
  // Of a process in another container its lease is all that we know.
  if (namespace !== pidNamespace()) return true;
  try {
    process.kill(who.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  const start = startOf(who.pid);
  // A zombie is dead for our purposes: its parent just has not looked yet.
  if (start !== "" && stateOf(who.pid) === "Z") return false;
  return start === "" || started === "" || start === started;
}

function stateOf(pid: number): string {
  const stat = readOr(`/proc/${pid}/stat`, "");
  return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
}

/** The name of this machine, for people. */
export function machineName(): string {
  return hostname();
}

const HARMLESS = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "TMP", "SystemRoot", "FONTCONFIG_PATH"];

/** The part of our environment that programs we start may see: what they need to run, and no secret. */
export function harmlessEnvironment(): Record<string, string> {
  return Object.fromEntries(HARMLESS.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
