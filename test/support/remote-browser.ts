import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromiumPath } from "./browser-kit.ts";

export interface RemoteChromium extends AsyncDisposable {
  pid: number;
  port: number;
  /** Of the debugging port, which is on the loopback interface only. */
  url: string;
  kill(signal: NodeJS.Signals): void;
}

/** A browser as somebody else starts it: only with a debugging port, without our options. */
export async function startRemoteChromium(port = 0): Promise<RemoteChromium> {
  const profile = mkdtempSync(join(tmpdir(), "rb-"));
  const args = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    `--remote-debugging-port=${port}`,
    `--user-data-dir=${profile}`,
  ];
  const child = spawn(chromiumPath, [...args, "about:blank"], { stdio: ["ignore", "ignore", "pipe"], detached: true });
  const listening = Promise.withResolvers<number>();
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    const found = /DevTools listening on ws:\/\/[^:]+:(\d+)\//.exec(said);
    if (found !== null) listening.resolve(Number(found[1]));
  });
  child.once("exit", () => listening.reject(new Error(`the browser ended: ${said}`)));
  const actual = await listening.promise;
  // The whole group: a killed browser leaves its helpers.
  const kill = (signal: NodeJS.Signals) => {
    try {
      process.kill(-child.pid!, signal);
    } catch {
      // It is gone already.
    }
  };
  return {
    pid: child.pid!,
    port: actual,
    url: `http://127.0.0.1:${actual}`,
    kill,
    async [Symbol.asyncDispose]() {
      const ended = child.exitCode !== null || child.signalCode !== null ? null : once(child, "exit");
      kill("SIGKILL");
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
}
