import { hash } from "node:crypto";
import { chmodSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How the processes on one database reach its engine without polling: a local socket beside the file. */
export interface Link {
  readonly address: string;
  /** Becomes reachable; `onPoke` gets the lanes another process gave work to, or null for "look at everything". */
  listen(onPoke: (lanes: string[] | null) => void): Promise<void>;
  close(): Promise<void>;
}

export interface Watch {
  /** Resolves when the engine's end is gone, or at once when it cannot be reached. */
  readonly closed: Promise<void>;
  stop(): void;
}

// sun_path has 108 bytes on Linux and 104 on macOS, the terminating zero included.
const LONGEST_SOCKET_PATH = 103;

export function socketPath(databasePath: string): string {
  if (process.platform === "win32") return `\\\\.\\pipe\\orb-${hash("sha256", databasePath, "hex").slice(0, 24)}`;
  const beside = `${databasePath}.sock`;
  if (Buffer.byteLength(beside) <= LONGEST_SOCKET_PATH) return beside;
  return join(tmpdir(), `orb-${hash("sha256", databasePath, "hex").slice(0, 24)}.sock`);
}

export function createLink(address: string): Link {
  const sockets = new Set<Socket>();
  let onPoke: (lanes: string[] | null) => void = () => {};
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      text += chunk;
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) onPoke(parsePoke(line));
      // A peer that never ends its line is not one of ours.
      if (text.length > 1_000_000) socket.destroy();
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    socket.unref();
  });
  server.unref();
  return {
    address,
    listen: (listener) =>
      new Promise((resolve, reject) => {
        onPoke = listener;
        // Whoever listens holds the engine lock, so a file that is still there belongs to a dead engine.
        if (process.platform !== "win32") rmSync(address, { force: true });
        server.once("error", reject);
        server.listen(address, () => {
          server.off("error", reject);
          if (process.platform !== "win32") chmodSync(address, 0o600);
          resolve();
        });
      }),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function parsePoke(line: string): string[] | null {
  try {
    const value: unknown = JSON.parse(line);
    return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : null;
  } catch {
    return null;
  }
}

const MOST_LANES_IN_A_POKE = 200;

/** Tells the engine at `address` about new work; silent when it cannot be reached, because the engine also looks by itself. */
export function poke(address: string, lanes: readonly string[] | null): Promise<void> {
  return new Promise((resolve) => {
    const socket = createConnection(address);
    const finish = () => {
      socket.destroy();
      resolve();
    };
    socket.setTimeout(500, finish);
    socket.on("error", finish);
    socket.on("connect", () => {
      const told = lanes === null || lanes.length > MOST_LANES_IN_A_POKE ? null : lanes;
      socket.end(`${JSON.stringify(told)}\n`, finish);
    });
  });
}

export function watchEngine(address: string): Watch {
  const socket = createConnection(address);
  const closed = new Promise<void>((resolve) => {
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve());
  });
  socket.resume();
  socket.unref();
  return { closed, stop: () => socket.destroy() };
}
