/** Real small proxies on the loopback network: HTTP CONNECT, the same over TLS, and SOCKS5. */
import { EventEmitter } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { parseUpstream, type Upstream } from "../../src/domain/proxy/upstream.ts";
import { type Certificate, selfSigned } from "./certificate.ts";
import { somePort } from "./services.ts";

export type ProxyKind = "connect" | "connect-tls" | "socks5";

/**
 * `dead`: nobody listens. `slow`: takes `slowMs` for each tunnel. `blocking`: answers 403 in place of every (plain) site.
 * `dies-after:N`: is gone when more than N pieces have passed from clients, about as many as requests. `refuses`: makes no
 * tunnel. `garbage`: speaks no protocol at all.
 */
export type ProxyBehaviour = "good" | "dead" | "slow" | "blocking" | "refuses" | "garbage" | `dies-after:${number}`;

export interface ProxySpec {
  kind: ProxyKind;
  behaviour?: ProxyBehaviour;
  auth?: { username: string; password: string };
  slowMs?: number;
  host?: string;
}

/** One tunnel that somebody asked for with the right password. */
export interface Passed {
  /** As the proxy was told it: an address, or a name that it would have to resolve. */
  host: string;
  port: number;
  /** First lines of the plain requests that passed, such as `GET / HTTP/1.1`. */
  requests: string[];
  /** From the client. */
  bytes: number;
}

export interface TestProxies extends AsyncDisposable {
  all: readonly TestProxy[];
  /** Of those that speak TLS; trust it with `tls: { ca }`. */
  ca: Buffer | null;
}

export async function startProxies(specs: readonly ProxySpec[]): Promise<TestProxies> {
  const tls = specs.some(({ kind }) => kind === "connect-tls");
  const certificate = tls ? selfSigned("IP:127.0.0.1", "IP:127.0.0.2", "DNS:proxy.test") : null;
  const all = specs.map((spec) => new TestProxy(spec, certificate));
  await Promise.all(all.map((proxy) => proxy.start()));
  return {
    all,
    ca: certificate?.cert ?? null,
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((proxy) => proxy.kill()));
    },
  };
}

const SCHEMES = { connect: "http", "connect-tls": "https", socks5: "socks5" } as const;

export class TestProxy {
  readonly seen: Passed[] = [];
  /** All connections to it, whatever became of them. */
  connections = 0;
  readonly #spec: Required<Omit<ProxySpec, "auth">> & Pick<ProxySpec, "auth">;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #events = new EventEmitter();
  #left: number;
  #port = 0;

  constructor(spec: ProxySpec, certificate: Certificate | null) {
    this.#spec = { behaviour: "good", slowMs: 1_000, host: "127.0.0.1", ...spec };
    const { behaviour, kind } = this.#spec;
    this.#left = behaviour.startsWith("dies-after:") ? Number(behaviour.split(":")[1]) : Infinity;
    this.#server =
      kind === "connect-tls"
        ? createTlsServer({ ...certificate! }, (socket) => this.#serve(socket))
        : createServer((socket) => this.#serve(socket));
    this.#server.on("connection", (socket: Socket) => this.#keep(socket));
    this.#server.on("tlsClientError", () => {});
  }

  get port(): number {
    return this.#port;
  }

  /** With what lets one in. */
  get url(): string {
    const { auth, kind, host } = this.#spec;
    const user = auth && `${encodeURIComponent(auth.username)}:${encodeURIComponent(auth.password)}@`;
    return `${SCHEMES[kind]}://${user ?? ""}${host}:${this.#port}`;
  }

  get upstream(): Upstream {
    return parseUpstream(this.url) as Upstream;
  }

  /** Of all tunnels. */
  get requests(): string[] {
    return this.seen.flatMap(({ requests }) => requests);
  }

  /** Resolves when somebody asks for a tunnel, or has already. */
  used(): Promise<void> {
    return this.seen.length > 0 ? Promise.resolve() : new Promise((resolve) => this.#events.once("used", resolve));
  }

  /** Resolves when nobody is connected to it any more. */
  idle(): Promise<void> {
    return this.#sockets.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#events.once("idle", resolve));
  }

  async start(): Promise<void> {
    // One that nobody else is given while it is gone.
    this.#port = await somePort();
    await this.#listen();
    if (this.#spec.behaviour === "dead") await this.kill();
  }

  /** Gone, in the middle of whatever passes. */
  async kill(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** At its old address, and for good. */
  async revive(): Promise<void> {
    this.#left = Infinity;
    this.#spec.behaviour = "good";
    await this.#listen();
  }

  #listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#port, this.#spec.host, () => {
        this.#server.off("error", reject);
        this.#port = (this.#server.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#events.emit("idle");
    });
  }

  #serve(client: Socket): void {
    this.connections += 1;
    client.on("error", () => {});
    const { behaviour, kind } = this.#spec;
    if (behaviour === "garbage") client.once("data", () => client.end("\u0007 220 this is the wrong house\r\n\r\n"));
    else void (kind === "socks5" ? this.#socks(client) : this.#connect(client)).catch(() => client.destroy());
  }

  async #connect(client: Socket): Promise<void> {
    const { auth, behaviour } = this.#spec;
    const head = await readUntil(client, (bytes) => {
      const end = bytes.indexOf("\r\n\r\n");
      return end === -1 ? Infinity : end + 4;
    });
    const [, host = "", port = ""] = /^CONNECT (\S+):(\d+) HTTP\/1\.1\r\n/.exec(head.toString("latin1")) ?? [];
    const given = /^proxy-authorization: basic (\S+)\r$/im.exec(head.toString("latin1"))?.[1] ?? "";
    if (auth !== undefined && given !== Buffer.from(`${auth.username}:${auth.password}`).toString("base64"))
      return void client.end('HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\n\r\n');
    if (behaviour === "refuses") return void client.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
    return this.#tunnel(client, host.replace(/^\[|\]$/g, ""), Number(port), {
      granted: "HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n",
      failed: "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
    });
  }

  async #socks(client: Socket): Promise<void> {
    const { auth, behaviour } = this.#spec;
    const hello = await readUntil(client, (bytes) => 2 + (bytes[1] ?? Infinity));
    const method = auth === undefined ? 0 : 2;
    if (!hello.subarray(2).includes(method)) return void client.end(Buffer.from([5, 0xff]));
    client.write(Buffer.from([5, method]));
    if (auth !== undefined) {
      const given = await readUntil(client, (bytes) => {
        const user = bytes[1] ?? Infinity;
        return 3 + user + (bytes[2 + user] ?? Infinity);
      });
      const right = Buffer.from([1, ...counted(auth.username), ...counted(auth.password)]);
      if (!given.equals(right)) return void client.end(Buffer.from([1, 1]));
      client.write(Buffer.from([1, 0]));
    }
    const asked = await readUntil(client, (bytes) => addressEnd(bytes) + 2);
    const answer = (reply: number) => Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0]);
    if (behaviour === "refuses") return void client.end(answer(2));
    const host = asked.subarray(4, addressEnd(asked));
    return this.#tunnel(client, hostOf(asked[3]!, host), asked.readUInt16BE(addressEnd(asked)), {
      granted: answer(0),
      failed: answer(5),
    });
  }

  async #tunnel(
    client: Socket,
    host: string,
    port: number,
    { granted, failed }: { granted: Buffer | string; failed: Buffer | string },
  ): Promise<void> {
    const { behaviour, slowMs } = this.#spec;
    const passed: Passed = { host, port, requests: [], bytes: 0 };
    this.seen.push(passed);
    this.#events.emit("used");
    if (behaviour === "slow") await new Promise((resolve) => setTimeout(resolve, slowMs).unref());
    if (client.destroyed) return;
    const count = (chunk: Buffer) => {
      passed.bytes += chunk.length;
      const [line] = /^[A-Z]+ \S+ HTTP\/1\.1/.exec(chunk.toString("latin1")) ?? [];
      if (line !== undefined) passed.requests.push(line);
      if ((this.#left -= 1) < 0) void this.kill();
    };
    if (behaviour === "blocking") {
      client.write(granted);
      const text = "<h1>403 Forbidden</h1><p>Access denied.</p>";
      client.on("data", count).on("data", () => {
        client.write(
          `HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
        );
      });
      return;
    }
    const site = connect({ host, port });
    this.#keep(site);
    site.once("close", () => client.destroy());
    client.once("close", () => site.destroy());
    site.once("error", () => client.end(failed));
    await new Promise((resolve) => site.once("connect", resolve).once("close", resolve));
    if (site.destroyed) return;
    client.write(granted);
    client.on("data", count).pipe(site).pipe(client);
  }
}

/** The first bytes of a connection, up to where `end` says that they are complete; what follows stays in the socket. */
function readUntil(socket: Socket, end: (bytes: Buffer) => number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const read = () => {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
        bytes = Buffer.concat([bytes, chunk]);
        const length = end(bytes);
        if (bytes.length < length) continue;
        socket.off("readable", read);
        if (bytes.length > length) socket.unshift(bytes.subarray(length));
        return resolve(bytes.subarray(0, length));
      }
    };
    socket.on("readable", read).once("close", () => reject(new Error("the client has gone")));
  });
}

const counted = (text: string): number[] => [Buffer.byteLength(text), ...Buffer.from(text)];

/** Of a SOCKS5 request: where its address ends. */
function addressEnd(bytes: Buffer): number {
  if (bytes.length < 5) return Infinity;
  return bytes[3] === 1 ? 8 : bytes[3] === 4 ? 20 : 5 + bytes[4]!;
}

function hostOf(type: number, bytes: Buffer): string {
  if (type === 3) return bytes.subarray(1).toString("latin1");
  if (type === 1) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16)).join(":");
  return groups;
}
