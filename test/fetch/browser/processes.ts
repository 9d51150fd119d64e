import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";

export interface Process {
  pid: number;
  parent: number;
  state: string;
  command: string;
  residentBytes: number;
}

/** All processes that the system lists now. */
export function processes(): Process[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state = "", parent = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
      const resident = Number(readFileSync(`/proc/${name}/statm`, "utf8").split(" ")[1]) * 4096;
      return [{ pid: Number(name), parent: Number(parent), state, command, residentBytes: resident }];
    } catch {
      return []; // It ended while it was looked at.
    }
  });
}

/** The process and all that descend from it. */
export function treeOf(pid: number): Process[] {
  const all = processes();
  const found = all.filter((process) => process.pid === pid);
  for (const process of found) found.push(...all.filter(({ parent }) => parent === process.pid));
  return found;
}

export function renderersOf(pid: number): Process[] {
  return treeOf(pid).filter(({ command }) => command.includes("--type=renderer"));
}

export function isAlive(pid: number): boolean {
  return processes().some((process) => process.pid === pid && process.state !== "Z");
}

/** Folders that browsers started by Playwright keep for as long as they run. */
export function profileFolders(): string[] {
  return readdirSync(tmpdir()).filter((name) => /^playwright[_-]/.test(name));
}

/** What it waits for is seen by looking only; it looks often, and gives up late. */
export async function eventually(what: string, condition: () => boolean, limitMs = 240_000): Promise<void> {
  const until = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > until) throw new Error(`this never became true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
