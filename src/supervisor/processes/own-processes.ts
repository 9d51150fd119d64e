/** The API and the workers: this program, as child processes. */
import { closeSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { Config } from "../../config/options.ts";
import type { ChildKind, Health } from "./child.ts";
import { begin, type Handle, type Program, type Spawned } from "./handle.ts";
import { LogFile } from "./log-file.ts";

interface OwnDeps {
  config: Config;
  /** The command of this program with the current service URLs; arguments are appended. */
  program: () => Promise<Program>;
  /** Resolves when the process of this name that a dead supervisor left is gone. */
  predecessor: Promise<void>;
}

const API_ANSWER_MS = 2000;
const CHECK_EVERY_MS = 2000;
/** Time beyond the grace period to close everything. */
const SPARE_MS = 5000;

export function apiChild(deps: OwnDeps & { onUrl: (url: string) => void }): ChildKind & { logFile: LogFile } {
  const process = ownProcess(deps, "api");
  let url: string | null = null;
  // A port chosen as any free one stays the same: clients know it by now.
  let port = deps.config.port;
  return {
    ...process.common,
    name: "api",
    kind: "api",
    begin: (signal) =>
      process.begin(["serve", "--no-worker", "--host", deps.config.host, "--port", String(port)], signal),
    async check(): Promise<Health> {
      const startupReport = process.startupReport();
      if (typeof startupReport["url"] !== "string")
        return { ok: false, why: "it is not listening yet", starting: true };
      url = startupReport["url"];
      port = portOf(url);
      deps.onUrl(url);
      return askHealth(url);
    },
    port: () => (url === null ? null : portOf(url)),
    hungAfter: 3,
  };
}

export function workerChild(
  deps: OwnDeps & { name: string; health: (handle: Handle, first: boolean) => Promise<Health> },
): ChildKind & { logFile: LogFile } {
  const process = ownProcess(deps, deps.name);
  let first = true;
  return {
    ...process.common,
    name: deps.name,
    kind: "worker",
    begin: (signal) => {
      first = true;
      return process.begin(["worker"], signal);
    },
    async check(handle): Promise<Health> {
      if (process.startupReport()["role"] === undefined)
        return { ok: false, why: "it is not ready yet", starting: true };
      const health = await deps.health(handle, first);
      first &&= !health.ok;
      return health;
    },
    port: () => null,
    // By then it was pinged and had its timeout.
    hungAfter: 1,
  };
}

/** URLs omit port 80. */
const portOf = (url: string) => Number(new URL(url).port || 80);

function ownProcess({ config, program, predecessor }: OwnDeps, name: string) {
  const logFile = new LogFile(join(config.dataDir, "logs", `${name}.log`));
  let written = 0;
  let text = "";
  /** With --json a process prints on standard output how it started, or why it could not. */
  const startupReport = (): Record<string, unknown> => {
    try {
      return JSON.parse(text) as Record<string, unknown>;
    } catch {
      return {};
    }
  };
  return {
    startupReport,
    async begin(words: readonly string[], signal: AbortSignal): Promise<Spawned> {
      await predecessor;
      signal.throwIfAborted();
      const now = await program();
      signal.throwIfAborted();
      text = "";
      const log = logFile.open();
      written = logFile.size;
      const withArgs = { ...now, args: [...now.args, ...words, "--json"] };
      const handle = await begin(withArgs, { log, stdout: "pipe", tied: true }).finally(() => closeSync(log));
      handle.child.stdout
        ?.setEncoding("utf8")
        .on("data", (chunk: string) => (text = `${text}${chunk}`.slice(0, 65_536)));
      return handle;
    },
    common: {
      logFile,
      lastWords: (): string | null => {
        const { error } = startupReport() as { error?: { message?: string; hint?: string } };
        if (error?.message !== undefined) return [error.message, error.hint].filter(Boolean).join(". ");
        return messageIn(logFile.lastLine(written));
      },
      checkEveryMs: CHECK_EVERY_MS,
      stopSteps: [{ signal: "SIGTERM" as const, waitMs: config.shutdownGraceMs + SPARE_MS }],
      atOnce: "SIGKILL" as const,
    },
  };
}

/** Log lines are JSON; only the message is shown. */
function messageIn(line: string | null): string | null {
  try {
    const { message, error } = JSON.parse(line ?? "") as { message?: string; error?: string };
    return [message, error].filter((part) => part !== undefined).join(": ") || line;
  } catch {
    return line;
  }
}

/** A process that listens on all addresses is checked locally. */
const HERE: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

function askHealth(url: string): Promise<Health> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const fail = (why: string) => resolve({ ok: false, why });
    const begun = performance.now();
    const call = request(
      { host: HERE[host] ?? host, port, path: "/health", signal: AbortSignal.timeout(API_ANSWER_MS), agent: false },
      (answer) => {
        answer.resume();
        answer.on("error", (error) => fail(messageOf(error)));
        answer.on("end", () => {
          const ms = Math.max(1, Math.round(performance.now() - begun));
          if (answer.statusCode === 200) resolve({ ok: true, what: `answers on ${url}, ${ms} ms` });
          else fail(`GET /health answers ${answer.statusCode}`);
        });
      },
    );
    call.on("error", (error) =>
      fail(
        error.name === "AbortError" || error.name === "TimeoutError"
          ? `no answer within ${API_ANSWER_MS} ms`
          : messageOf(error),
      ),
    );
    call.end();
  });
}
