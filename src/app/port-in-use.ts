/** Finds out what listens on a port. Part of the composition root: it inspects this machine, not the network. */
import { get } from "node:http";
import { createServer } from "node:net";
import { OrbError, systemCode } from "../base/errors.ts";
import type { Config } from "../config/options.ts";

const LOOK_MS = 1000;

/** `orb`: a server of this product. Null: the port is free. */
export async function whoListens({ host, port }: Pick<Config, "host" | "port">): Promise<"orb" | "other" | null> {
  if (port === 0 || !(await isTaken(host, port))) return null;
  const reach = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return new Promise((resolve) => {
    const asked = get({ host: reach, port, path: "/health", timeout: LOOK_MS }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        if (text.length > 10_000) answer.destroy();
      });
      answer.once("close", () => resolve(isOurs(text) ? "orb" : "other"));
    });
    asked.once("timeout", () => asked.destroy());
    asked.once("error", () => resolve("other"));
  });
}

function isTaken(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", (error) => resolve(systemCode(error) === "EADDRINUSE"));
    probe.listen({ host, port }, () => probe.close(() => resolve(false)));
  });
}

function isOurs(text: string): boolean {
  try {
    const answer = JSON.parse(text) as Record<string, unknown>;
    return answer["status"] === "ok" && "uptime_seconds" in answer && "engine" in answer;
  } catch {
    return false;
  }
}

/** A user who starts a second server wants to know that one is running. */
export async function explainTakenPort(error: unknown, config: Config, workerPid: number | null): Promise<unknown> {
  const isTakenPort = error instanceof OrbError && systemCode(error.cause) === "EADDRINUSE";
  if (!isTakenPort || (await whoListens(config)) !== "orb") return error;
  const who = workerPid === null ? "" : ` (process ${workerPid} works on this database)`;
  return new OrbError(
    "config_invalid",
    `port ${config.port} on ${config.host} is in use: Orbweaver is already running there${who}`,
    {
      cause: error,
      hint: `Open http://${config.host}:${config.port}, or stop it with Ctrl-C in its terminal. To start a second server: --port 0 (npm start -- --port 0) uses any free port.`,
      fields: error.fields,
    },
  );
}
