/** Runs a program as a child process and measures its cost. Reads /proc, so Linux only. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface Command {
  file: string;
  args: string[];
  cwd: string;
  env?: Record<string, string>;
}

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
  wallSeconds: number;
  /** User and system time of the process and of its children. */
  cpuSeconds: number;
  peakMegabytes: number;
  /** User and system time of the threads that read pages, up to the last look. */
  readingSeconds: number;
}

export interface Started {
  child: ChildProcess;
  ended: Promise<Ran>;
}

const TICKS_PER_SECOND = 100;
const LOOK_MS = 50;

/** CPU time of all reaped children. */
function childrenCpu(): number {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

function readProc(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // It has exited meanwhile.
  }
}

/** A value of /proc/…/status, summed over a process and its descendants, in MB. */
export function treeMegabytes(pid: number, field: "VmHWM" | "VmRSS"): number {
  const own = Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(readProc(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;
  let threads: string[] = [];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    return own;
  }
  const children = threads.flatMap((thread) => readProc(`/proc/${pid}/task/${thread}/children`).split(" "));
  return children.reduce((sum, child) => sum + (child.trim() === "" ? 0 : treeMegabytes(Number(child), field)), own);
}

/** CPU time of the worker threads of a process, by thread. */
function workerThreads(pid: number): [thread: string, seconds: number][] {
  let threads: string[] = [];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    // It has exited.
  }
  return threads.flatMap((thread): [string, number][] => {
    const stat = readProc(`/proc/${pid}/task/${thread}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const seconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    return stat.includes("(WorkerThread)") ? [[thread, seconds]] : [];
  });
}

/** Only one at a time: the CPU time of children is only known in total. */
export function start({ file, args, cwd, env }: Command): Started {
  const begun = performance.now();
  const cpuBefore = childrenCpu();
  const child = spawn(file, args, {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? cwd, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  let stdout = "";
  let stderr = "";
  child.stdout!.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  let peakMegabytes = 0;
  const reading = new Map<string, number>();
  const look = setInterval(() => {
    for (const [thread, seconds] of workerThreads(child.pid!)) reading.set(thread, seconds);
    peakMegabytes = Math.max(peakMegabytes, treeMegabytes(child.pid!, "VmHWM"));
  }, LOOK_MS);
  const ended = new Promise<Ran>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      const wallSeconds = (performance.now() - begun) / 1000;
      const cpuSeconds = childrenCpu() - cpuBefore;
      const readingSeconds = [...reading.values()].reduce((sum, one) => sum + one, 0);
      resolve({ code, stdout, stderr, wallSeconds, cpuSeconds, peakMegabytes, readingSeconds });
    });
  }).finally(() => {
    clearInterval(look);
    process.removeListener("exit", kill);
  });
  return { child, ended };
}

export const run = (command: Command): Promise<Ran> => start(command).ended;
