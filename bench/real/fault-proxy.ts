/**
 * A reverse proxy that injects faults, as a separate process: fault-proxy.ts ORIGIN LOG SOUND RATES. The SOUND paths (a
 * JSON list) have no faults. Compresses responses, sends them chunked, and closes connections after 100 requests.
 * Prints its origin; logs one line per request: time, status, path, fault.
 */
import { createWriteStream } from "node:fs";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { createGzip } from "node:zlib";
import { type Fault, faultOf, type FaultRates } from "./faults.ts";

const REQUESTS_PER_CONNECTION = 100;

const [origin = "", log = "", sound = "[]", rates = "{}"] = process.argv.slice(2);
const faults = JSON.parse(rates) as FaultRates;
const withoutFaults = new Set(["/robots.txt", ...(JSON.parse(sound) as string[])]);
const lines = createWriteStream(log);
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const limited = new Set<string>();

function forward(from: IncomingMessage, to: ServerResponse): void {
  const { accept, "accept-encoding": encodings = "" } = from.headers;
  const { port, hostname } = new URL(origin);
  const asked = request({ agent, hostname, port, path: from.url, headers: accept === undefined ? {} : { accept } });
  asked.on("error", () => to.destroy());
  asked.on("response", (answer) => {
    const { "content-type": type, location } = answer.headers;
    const packs = /gzip/.test(String(encodings)) && (type ?? "").startsWith("text/");
    // Rewrites redirects of the origin to this proxy.
    const moved = location === undefined ? undefined : new URL(location, origin);
    to.writeHead(answer.statusCode ?? 502, {
      ...(type === undefined ? {} : { "content-type": type }),
      ...(moved === undefined ? {} : { location: moved.pathname + moved.search }),
      ...(packs ? { "content-encoding": "gzip" } : {}),
    });
    const done = () => {};
    if (packs) pipeline(answer, createGzip({ level: 1 }), to, done);
    else pipeline(answer, to, done);
  });
  asked.end();
}

function fail(fault: Fault, path: string, query: string, to: ServerResponse): boolean {
  const say = (status: number, headers: Record<string, string> = {}) => {
    to.writeHead(status, { "content-type": "text/html", ...headers });
    to.end(`<title>${status}</title><p>${status}</p>`);
    return true;
  };
  if (fault === "serverError") return say(500);
  if (fault === "notFound") return say(404);
  if (fault === "loop") return say(302, { location: query === "" ? `${path}?again=1` : path });
  if (fault === "rateLimited" && !limited.has(path)) {
    limited.add(path);
    return say(429, { "retry-after": "1" });
  }
  return false;
}

const server = createServer(async (from, to) => {
  const at = Date.now();
  const [path = "/", query = ""] = (from.url ?? "/").split(/(?=\?)/);
  const name = (() => {
    try {
      return decodeURI(path);
    } catch {
      return path;
    }
  })();
  const fault = withoutFaults.has(name) ? null : faultOf(name, faults);
  to.on("finish", () => lines.write(`${at} ${to.statusCode} ${path}${query} ${fault ?? "none"}\n`));
  const waitMs = faults.everyMs + (fault === "slow" ? faults.slowMs : 0);
  if (waitMs > 0) await sleep(waitMs);
  if (fault === null || !fail(fault, path, query, to)) forward(from, to);
});
server.maxRequestsPerSocket = REQUESTS_PER_CONNECTION;
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
process.once("SIGTERM", () => lines.end(() => process.exit()));
