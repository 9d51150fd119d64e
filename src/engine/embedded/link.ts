import { hash } from "node:crypto";
import { chmodSync, renameSync, rmSync, statSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A local socket beside the database file, by which other processes reach the engine without polling. */
export interface Link {
  readonly address: string;
  /** Becomes reachable; `onPoke` gets the lanes another process gave work to, or null for "reconcile everything". */
  listen(onPoke: (lanes: string[] | null) => void): Promise<void>;
  close(): Promise<void>;
}

export interface Watch {
  /** Resolves when the engine closes the socket, or at once when it cannot be reached. */
  readonly closed: Promise<void>;
  stop(): void;
}

// sun_path has 108 bytes on Linux and 104 on macOS including the terminating zero; a new socket has a longer, temporary name.
const MAX_SOCKET_PATH = 103 - 8;
const NAMED_PIPES = process.platform === "win32";

export function socketPath(databasePath: string): string {
  if (NAMED_PIPES) return `\\\\.\\pipe\\orb-${hash("sha256", databasePath, "hex").slice(0, 24)}`;
  const beside = `${databasePath}.sock`;
  if (Buffer.byteLength(beside) <= MAX_SOCKET_PATH) return beside;
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
      // No Orbweaver process sends a line this long.
      if (text.length > 1_000_000) socket.destroy();
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    socket.unref();
  });
  server.unref();
  // A failed accept (no file handles left) is ignored: the client has written to the store as well.
  server.on("error", () => {});
  const socketName = NAMED_PIPES
    ? { bind: address, clear: () => {}, show: () => {}, remove: () => {} }
    : socketFile(address);
  return {
    address,
    listen: (listener) =>
      new Promise((resolve, reject) => {
        onPoke = listener;
        socketName.clear();
        server.once("error", reject);
        server.listen(socketName.bind, () => {
          server.off("error", reject);
          try {
            socketName.show();
            resolve();
          } catch (error) {
            server.close(() => reject(error));
          }
        });
      }),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        socketName.remove();
        server.close(() => resolve());
      }),
  };
}

/**
 * The socket is created under a temporary name and then renamed. The listener holds the engine lock, so an existing
 * socket belongs to a dead engine. On close, Node removes the name that it created: thanks to the rename, an engine that
 * was frozen and replaced does not remove the socket of its successor.
 */
function socketFile(address: string) {
  const bind = `${address}.${process.pid.toString(36)}`;
  let inode: number | null = null;
  return {
    bind,
    clear: () => rmSync(bind, { force: true }),
    show: () => {
      chmodSync(bind, 0o600);
      inode = statSync(bind).ino;
      renameSync(bind, address);
    },
    remove: () => {
      if (inode !== null && statSync(address, { throwIfNoEntry: false })?.ino === inode)
        rmSync(address, { force: true });
      inode = null;
    },
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

const MAX_LANES_PER_POKE = 200;

/** Notifies the engine at `address` of new work. False: it cannot be reached, and finds the work by polling. */
export function poke(address: string, lanes: readonly string[] | null): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(address);
    const finish = (delivered: boolean) => {
      socket.destroy();
      resolve(delivered);
    };
    socket.setTimeout(500, () => finish(false));
    socket.on("error", () => finish(false));
    socket.on("connect", () => {
      const payload = lanes === null || lanes.length > MAX_LANES_PER_POKE ? null : lanes;
      socket.end(`${JSON.stringify(payload)}\n`, () => finish(true));
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
