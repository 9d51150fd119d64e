import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A request as it came over the wire. */
export interface WireRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
}

/** What the site does on a connection once a request has arrived. */
export type Behaviour = (socket: Socket, request: WireRequest) => void;

/**
 * A web server made by hand, so that it can misbehave below HTTP. Each path has a behaviour; every request is logged.
 * Use with `await using`: all sockets and timers end with it.
 */
export class HostileSite implements AsyncDisposable {
  readonly log: WireRequest[] = [];
  /** Bytes written to all connections. */
  sent = 0;
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #routes: Map<string, Behaviour>;
  #origin = "";
  #greeting = "";
  #closeListener: (() => void) | null = null;
  readonly #waiting: { path: string; resolve: () => void }[] = [];

  constructor(routes: Record<string, Behaviour>) {
    this.#routes = new Map(Object.entries(routes));
    this.#server = createServer((socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
      socket.write = ((chunk: Buffer | string, ...rest: unknown[]) => {
        this.sent += typeof chunk === "string" ? Buffer.byteLength(chunk, "latin1") : chunk.length;
        return write(chunk, ...rest);
      }) as typeof socket.write;
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        this.#closeListener?.();
      });
      if (this.#greeting !== "") socket.end(this.#greeting);
      let text = "";
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString("latin1");
        for (let end = text.indexOf("\r\n\r\n"); end !== -1; end = text.indexOf("\r\n\r\n")) {
          const request = parse(text.slice(0, end));
          text = text.slice(end + 4 + Number(request.headers["content-length"] ?? 0));
          this.log.push(request);
          for (const waiter of this.#waiting) if (waiter.path === request.path) waiter.resolve();
          (this.#routes.get(request.path.split("?")[0]!) ?? notFound)(socket, request);
        }
      });
    });
  }

  /** On an address of its own when a test must tell two hosts apart; all of 127/8 is loopback on Linux. */
  async listen(host = "127.0.0.1"): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, host, resolve));
    const { port } = this.#server.address() as AddressInfo;
    this.#origin = `http://${host}:${port}`;
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  on(path: string, behaviour: Behaviour): void {
    this.#routes.set(path, behaviour);
  }

  url(path: string): string {
    return this.#origin + path;
  }

  hits(path: string): number {
    return this.log.filter((request) => request.path === path).length;
  }

  /** Resolves when the path is asked for (or was already). */
  hit(path: string): Promise<void> {
    if (this.hits(path) > 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ path, resolve }));
  }

  /** Speaks first, then closes: what a server of another protocol does. */
  greet(text: string): void {
    this.#greeting = text;
  }

  onClose(listener: () => void): void {
    this.#closeListener = listener;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

export async function startSite(routes: Record<string, Behaviour>, host?: string): Promise<HostileSite> {
  return new HostileSite(routes).listen(host);
}

function parse(head: string): WireRequest {
  const [line = "", ...rest] = head.split("\r\n");
  const [method = "", path = ""] = line.split(" ");
  const headers: Record<string, string> = {};
  for (const header of rest) {
    const colon = header.indexOf(":");
    headers[header.slice(0, colon).toLowerCase()] = header.slice(colon + 1).trim();
  }
  return { method, path, headers };
}

export function head(status: number, headers: Record<string, string | number> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Whatever\r\n${lines.join("")}\r\n`;
}

/** A proper answer. */
export function answer(
  status: number,
  body: string | Buffer,
  headers: Record<string, string | number> = {},
): Behaviour {
  const bytes = Buffer.from(body as string);
  return (socket) => {
    socket.write(head(status, { "content-length": bytes.length, ...headers }));
    if (bytes.length > 0) socket.write(bytes);
  };
}

const notFound = answer(404, "nothing here");

/** Exactly these bytes, then the end of the connection. */
export function rawThenClose(bytes: string | Buffer): Behaviour {
  return (socket) => {
    if (bytes.length > 0) socket.write(bytes);
    socket.end();
  };
}

export function redirect(location: string | ((request: WireRequest) => string), status = 302): Behaviour {
  return (socket, request) => {
    socket.write(
      head(status, { location: typeof location === "string" ? location : location(request), "content-length": 0 }),
    );
  };
}

/** Accepts the request and never says a word. */
export const silence: Behaviour = () => {};

/** Writes first, then one piece at a time for as long as the reader stays. */
export function drip(first: string, piece: string, everyMs: number): Behaviour {
  return (socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(piece), everyMs);
    socket.on("close", () => clearInterval(timer));
  };
}

/** Writes these bytes, waits until they have left, and resets the connection. */
export function reset(bytes = ""): Behaviour {
  return (socket) => {
    if (bytes === "") return socket.resetAndDestroy();
    // The reader has to have them before the reset overtakes them.
    socket.write(bytes, () => setTimeout(() => socket.resetAndDestroy(), 100));
    return undefined;
  };
}

/** As fast as the reader reads, for ever. */
export function flood(first: string, piece: Buffer): Behaviour {
  return (socket) => {
    socket.write(first);
    const push = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on("drain", push);
    push();
  };
}
