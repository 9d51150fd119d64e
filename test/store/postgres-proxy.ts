import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";

/** Hooks for the traffic. */
export interface ProxyRules {
  /** A statement is about to go to the server; it waits, and all after it, for what is returned. */
  asked?(text: string, connection: ProxyConnection): void | Promise<void>;
  /** False: a new connection is refused. */
  accepts?(): boolean;
  /** What the server says, as it is passed on. */
  answered?(data: Buffer): Buffer;
}

export interface ProxyConnection {
  /** Nothing that the server says from now on is passed on. */
  withhold(): void;
  /** What was withheld is passed on. */
  passOn(): void;
  /**
   * Resolves when the server has said after this that such a command is done (`COMMIT`, `SELECT 1`): statements are sent
   * together, so what it says next may answer an earlier one.
   */
  answer(command: string): Promise<void>;
  cut(): void;
  /** As `cut`, but the server gets what was sent before. */
  cutBehind(): void;
  /** Of the connection to the server, by which the server tells its sessions apart. */
  readonly clientPort: number;
}

/** A TCP proxy in front of Postgres that recognises statements, and can delay answers or cut connections. */
export class PostgresProxy implements Disposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: (near: Socket) => void) {
    this.#server = createServer(server);
  }

  static async to(port: number, rules: ProxyRules): Promise<PostgresProxy> {
    const proxy: PostgresProxy = new PostgresProxy((near) => {
      if (rules.accepts?.() === false) return void near.on("error", () => {}).destroy();
      const far = createConnection({ host: "127.0.0.1", port });
      join(near, far, rules);
      for (const socket of [near, far]) proxy.#sockets.add(socket);
    });
    await new Promise<void>((resolve) => proxy.#server.listen({ host: "127.0.0.1", port: 0 }, resolve));
    return proxy;
  }

  url(of: string): string {
    const url = new URL(of);
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

function join(near: Socket, far: Socket, rules: ProxyRules): void {
  // Messages are passed on one by one, and none waits for more.
  for (const socket of [near, far]) socket.setNoDelay(true);
  const prepared = new Map<string, string>();
  const waiting: { command: string; heard: string; resolve: () => void }[] = [];
  let held: Buffer[] | null = null;
  let rest = Buffer.alloc(0);
  let begun = false;
  const state = { isCut: false };
  const connection: ProxyConnection = {
    withhold: () => void (held ??= []),
    passOn() {
      for (const data of held ?? []) near.write(data);
      held = null;
    },
    answer: (command) => new Promise((resolve) => waiting.push({ command: `${command}\0`, heard: "", resolve })),
    cut() {
      state.isCut = true;
      near.destroy();
      far.destroy();
    },
    cutBehind() {
      state.isCut = true;
      held = [];
      far.end();
      far.once("close", () => near.destroy());
    },
    get clientPort() {
      return far.localPort ?? 0;
    },
  };
  let passing = false;
  near.on("data", (data) => {
    rest = Buffer.concat([rest, data]);
    if (!passing) void pass();
  });
  /** Message by message, so that a cut in between leaves those before it. */
  const pass = async () => {
    passing = true;
    while (!state.isCut) {
      // The first message of a connection has no letter.
      const head = begun ? 1 : 0;
      if (rest.length < head + 4) break;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) break;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      const wait = begun ? asked(String.fromCharCode(message[0] as number), message.subarray(5)) : undefined;
      begun = true;
      if (wait !== undefined) await wait;
      if (!state.isCut && far.writable) far.write(message);
    }
    passing = false;
  };
  const asked = (letter: string, body: Buffer): void | Promise<void> => {
    const words = body.toString("utf8").split("\0");
    if (letter === "P") prepared.set(words[0] ?? "", words[1] ?? "");
    return letter === "B" ? rules.asked?.(prepared.get(words[1] ?? "") ?? "", connection) : undefined;
  };
  far.on("data", (data) => {
    for (const one of waiting) {
      one.heard += data.toString("latin1");
      if (one.heard.includes(one.command)) one.resolve();
    }
    const said = rules.answered?.(data) ?? data;
    if (held === null) near.write(said);
    else held.push(said);
  });
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on("error", () => one.destroy());
    one.on("close", () => other.destroy());
  }
}
