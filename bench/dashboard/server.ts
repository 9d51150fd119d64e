/** `orb serve` as a child process, and its cost. Reads /proc, so Linux only. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { request } from "undici";

const ENV = { APP_ALLOW_PRIVATE_NETWORKS: "true", APP_MAX_PER_HOST: "32", APP_MAX_WORKERS: "64" };

export class BenchServer implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly url: string;

  private constructor(child: ChildProcess, folder: string, url: string) {
    this.#child = child;
    this.#folder = folder;
    this.url = url;
  }

  static async start(): Promise<BenchServer> {
    const folder = mkdtempSync(join(tmpdir(), "orb-bench-dashboard-"));
    const program = fileURLToPath(new URL("../../bin/orb", import.meta.url));
    const child = spawn(process.execPath, [program, "serve", "--port", "0"], {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...ENV },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    const url = await new Promise<string>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`orb serve ended with ${code}: ${said}`)));
      child.stderr!.setEncoding("utf8").on("data", (text: string) => {
        said = (said + text).slice(-10_000);
        const found = /listening on (http:\/\/[^"\s]+)/.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      });
    });
    return new BenchServer(child, folder, url);
  }

  async call<T>(method: "GET" | "POST" | "PUT", path: string, body?: unknown): Promise<T> {
    const answer = await request(this.url + path, {
      method,
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path} was answered with ${answer.statusCode}: ${text}`);
    return JSON.parse(text) as T;
  }

  /** CPU time of all its threads since start, in seconds. */
  cpuSeconds(): number {
    const folder = `/proc/${this.#child.pid}/task`;
    const nanoseconds = readdirSync(folder).map((thread) =>
      Number(readFileSync(join(folder, thread, "schedstat"), "utf8").split(" ")[0]),
    );
    return nanoseconds.reduce((sum, value) => sum + value, 0) / 1e9;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
