/** Starts the fault proxy in front of a server, and reads its log. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Fault, FaultRates } from "./faults.ts";
import { pathOf } from "./link-graph.ts";

export interface ProxyRequest {
  /** Unix time in milliseconds. */
  at: number;
  status: number;
  path: string;
  fault: Fault | null;
}

export interface FaultProxy {
  url: string;
  /** Stops it and returns all requests. */
  stop(): Promise<ProxyRequest[]>;
}

export async function startFaultProxy(
  origin: string,
  { log, sound, rates }: { log: string; sound: string[]; rates: FaultRates },
): Promise<FaultProxy> {
  const file = fileURLToPath(new URL("fault-proxy.ts", import.meta.url));
  const child = spawn(process.execPath, [file, origin, log, JSON.stringify(sound), JSON.stringify(rates)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return {
    url,
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      process.removeListener("exit", kill);
      return readFileSync(log, "utf8").split("\n").slice(0, -1).map(readLine);
    },
  };
}

function readLine(line: string): ProxyRequest {
  const [at = "", status = "", uri = "", fault] = line.split(" ");
  return {
    at: Number(at),
    status: Number(status),
    path: pathOf(uri) ?? uri,
    fault: fault === "none" ? null : (fault as Fault),
  };
}
