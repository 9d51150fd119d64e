import { execFileSync, type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findNginx } from "./debian.ts";

export interface RunningService {
  url: string;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function find(names: readonly string[]): string | null {
  return names.find((name) => existsSync(name)) ?? null;
}

async function stopped(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await ended;
}

async function untilAnswers(port: number, child: ChildProcess): Promise<void> {
  // A failing benchmark must not leave a server behind.
  process.once("exit", () => child.kill("SIGKILL"));
  const { connect } = await import("node:net");
  for (let tries = 0; tries < 200; tries += 1) {
    if (child.exitCode !== null) throw new Error("the service ended while starting");
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true));
      socket.on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the service did not answer");
}

/** A durable Redis: appendonly, with `always` also fsynced. */
export async function startRedis(fsync: "always" | "everysec"): Promise<RunningService | null> {
  const binary = find(["/usr/bin/redis-server", "/usr/local/bin/redis-server"]);
  if (binary === null) return null;
  const dir = mkdtempSync(join(tmpdir(), "orb-bench-redis-"));
  const port = await freePort();
  const child = spawn(
    binary,
    [
      "--port",
      `${port}`,
      "--bind",
      "127.0.0.1",
      "--dir",
      dir,
      "--appendonly",
      "yes",
      "--appendfsync",
      fsync,
      "--save",
      "",
    ],
    { stdio: "ignore" },
  );
  await untilAnswers(port, child);
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      await stopped(child, "SIGTERM");
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A PostgreSQL with default durability. `args` are further words for it, such as `-c max_connections=500`. */
export async function startPostgres(args: readonly string[] = []): Promise<RunningService | null> {
  const root = "/usr/lib/postgresql";
  const version = existsSync(root) ? readdirSync(root).toSorted().at(-1) : undefined;
  if (version === undefined || !existsSync(join(root, version, "bin", "initdb"))) return null;
  const bin = join(root, version, "bin");
  const dir = mkdtempSync(join(tmpdir(), "orb-bench-postgres-"));
  // PostgreSQL refuses to run as root.
  const who =
    process.getuid?.() === 0
      ? { uid: Number(execFileSync("id", ["-u", "postgres"])), gid: Number(execFileSync("id", ["-g", "postgres"])) }
      : {};
  if (who.uid !== undefined) chownSync(dir, who.uid, who.gid);
  execFileSync(join(bin, "initdb"), ["-D", dir, "-U", "orb", "-A", "trust"], { stdio: "ignore", ...who });
  const port = await freePort();
  const child = spawn(join(bin, "postgres"), ["-D", dir, "-p", `${port}`, "-h", "127.0.0.1", "-k", dir, ...args], {
    stdio: "ignore",
    ...who,
  });
  await untilAnswers(port, child);
  // It listens before it answers.
  const ask = ["-h", "127.0.0.1", "-p", `${port}`, "-U", "orb", "-c", "select 1", "postgres"];
  for (let tries = 0; spawnSync(join(bin, "psql"), ask, { stdio: "ignore" }).status !== 0; tries += 1) {
    if (tries === 100) throw new Error("PostgreSQL did not answer");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url: `postgres://orb@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await stopped(child, "SIGINT");
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** By file extension, as web servers usually do. */
export const USUAL_TYPES = `types { text/html html htm shtml; application/xhtml+xml xhtml; text/plain txt; text/css css;
  application/javascript js mjs; application/json json map; text/xml xml; application/pdf pdf; image/png png; image/gif gif;
  image/jpeg jpg jpeg; image/svg+xml svg svgz; image/x-icon ico; font/woff woff; font/woff2 woff2; }
  default_type application/octet-stream;`;

const ALL_PAGES = `default_type "text/html; charset=utf-8"; types { text/plain txt; text/css css; }`;

export interface NginxOptions {
  /** Logs every request: time, status, URL and content type. */
  accessLog?: string | undefined;
  /** Content-type directives; default: all files are HTML. */
  types?: string;
}

/** A single-process nginx that serves a folder. */
export async function startNginx(
  folder: string,
  { accessLog, types = ALL_PAGES }: NginxOptions = {},
): Promise<RunningService | null> {
  const program = findNginx();
  if (program === null) return null;
  const dir = mkdtempSync(join(tmpdir(), "orb-bench-nginx-"));
  const port = await freePort();
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${dir};`);
  const config = join(dir, "nginx.conf");
  writeFileSync(
    config,
    `daemon off; master_process off; worker_processes 1; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
events { worker_connections 1024; }
http {
  ${temp.join(" ")}
  log_format asked '$msec $status $request_uri $sent_http_content_type';
  access_log ${accessLog === undefined ? "off" : `${accessLog} asked`};
  ${types}
  sendfile on; tcp_nopush on; keepalive_requests 1000000; keepalive_timeout 65s;
  open_file_cache max=2000 inactive=600s;
  server { listen 127.0.0.1:${port} backlog=1024; root ${folder}; }
}
`,
  );
  const child = spawn(program.file, ["-p", dir, "-c", config, "-e", join(dir, "error.log")], {
    stdio: "ignore",
    env: { ...process.env, ...program.env },
  });
  await untilAnswers(port, child);
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      await stopped(child, "SIGTERM");
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
