import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname, uptime } from "node:os";

/** Identifies a process among all that ever ran, as far as the platform allows. */
export interface ProcessIdentity {
  /** One boot of one machine: processes that share it, containers included, share the monotonic clock. */
  boot: string;
  pid: number;
  /** Start time and pid namespace: the pid is only meaningful there. */
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
  return linkOr("/proc/self/ns/pid");
}

/** Start time in clock ticks since boot; empty where the platform does not report it. */
function startOf(pid: number): string {
  const stat = readOr(`/proc/${pid}/stat`, "");
  // The command name may contain anything, including parentheses; the fields after the last one are plain.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

export function ownIdentity(): ProcessIdentity {
  return { boot: bootIdentity(), pid: process.pid, pidStart: `${startOf(process.pid)}@${pidNamespace()}` };
}

/** Whether the process may still be alive; true if unknown. */
export function mayBeAlive(who: ProcessIdentity): boolean {
  if (who.boot !== bootIdentity()) return true;
  const [started = "", namespace = ""] = who.pidStart.split("@");
  // Of a process in another container only the lease is known.
  if (namespace !== pidNamespace()) return true;
  try {
    process.kill(who.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  const start = startOf(who.pid);
  // A zombie counts as dead: its parent has not reaped it yet.
  if (start !== "" && stateOf(who.pid) === "Z") return false;
  return start === "" || started === "" || start === started;
}

/** The process that has this pid now; null: none, or the platform does not report start times. */
export function identityOf(pid: number): ProcessIdentity | null {
  const start = startOf(pid);
  if (start === "" || stateOf(pid) === "Z") return null;
  return { boot: bootIdentity(), pid, pidStart: `${start}@${pidNamespace()}` };
}

/** True only if the process with this pid is proven to be this one: only then may it be signalled. */
export function isProvenAlive(who: ProcessIdentity): boolean {
  const now = identityOf(who.pid);
  return now !== null && now.boot === who.boot && now.pidStart === who.pidStart;
}

/** It may run in another container of this machine, where we cannot see it. */
export function isOutOfSight(who: ProcessIdentity): boolean {
  return who.boot === bootIdentity() && who.pidStart.split("@")[1] !== pidNamespace();
}

/** Processes of this name that work in this folder, with their parents. Those we may not inspect are not ours. */
export function processesIn(folder: string, name: string): { pid: number; parent: number }[] {
  return listOr("/proc").flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || readOr(`/proc/${entry}/comm`, "") !== name) return [];
    const stat = readOr(`/proc/${entry}/stat`, "");
    const [state = "Z", parent = "0"] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state !== "Z" && linkOr(`/proc/${entry}/cwd`) === folder ? [{ pid, parent: Number(parent) }] : [];
  });
}

function listOr(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function linkOr(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function stateOf(pid: number): string {
  const stat = readOr(`/proc/${pid}/stat`, "");
  return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
}

export function machineName(): string {
  return hostname();
}

/** Whether we ignore SIGHUP (`nohup`). */
export function ignoresHangUp(): boolean {
  const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readOr("/proc/self/status", ""))?.[1] ?? "0";
  return (BigInt(`0x${ignored}`) & 1n) === 1n;
}

const HARMLESS = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "TMP", "SystemRoot", "FONTCONFIG_PATH"];

/** The part of our environment that child programs may see: what they need to run, and no secret. */
export function harmlessEnvironment(): Record<string, string> {
  return Object.fromEntries(HARMLESS.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
