/**
 * Limits unauthenticated connections, in all and per address, and closes the oldest first. Without that, a thousand
 * connections that send a byte every two seconds lock everybody else out.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Timer } from "../base/clock.ts";
import { answerBrokenRequest } from "./answers.ts";
import type { ApiLimits } from "./deps.ts";
import type { ApiInstance } from "./instance.ts";
import { networkOf } from "./wrong-logins.ts";

interface Connection {
  socket: Socket;
  network: string;
  /** An authenticated call came over it. */
  isProven: boolean;
  /** The current call. */
  request: { raw: IncomingMessage; since: number; bytesBefore: number; isAnswered: boolean } | null;
}

type Limits = Pick<
  ApiLimits,
  "connections" | "unprovenConnections" | "unprovenPerAddress" | "bodyBytesPerSecond" | "slowBodyMs" | "checkMs"
>;

export class Connections {
  readonly #limits: Limits;
  readonly #clock: Clock;
  /** In the order they were opened. */
  readonly #open = new Map<Socket, Connection>();
  #timer: Timer | null = null;

  constructor(limits: Limits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get count(): number {
    return this.#open.size;
  }

  watch(api: ApiInstance): void {
    this.#guard(api.server);
    api.addHook("onRequest", async ({ raw }) => {
      const connection = this.#open.get(raw.socket);
      if (connection === undefined) return;
      const since = this.#clock.monotonic();
      connection.request = { raw, since, bytesBefore: raw.socket.bytesRead, isAnswered: false };
    });
    api.addHook("onResponse", async ({ raw }) => {
      const connection = this.#open.get(raw.socket);
      // A call rejected before its body arrived still has to finish.
      if (connection?.request?.raw === raw) connection.request.isAnswered = true;
    });
    api.addHook("onClose", async () => this.#timer?.cancel());
  }

  /** The caller authenticated: limits for unauthenticated connections no longer apply. */
  prove({ socket }: IncomingMessage): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined) connection.isProven = true;
  }

  #guard(server: Server): void {
    // At its own limit the server would refuse the newest connection; here the oldest idle one is closed instead.
    server.maxConnections = this.#limits.connections + RESERVE;
    server.on("connection", (socket: Socket) => this.#opened(socket));
  }

  #opened(socket: Socket): void {
    const network = networkOf(socket.remoteAddress ?? "");
    this.#open.set(socket, { socket, network, isProven: false, request: null });
    socket.once("close", () => this.#open.delete(socket));
    this.#timer ??= this.#nextCheck();
    if (this.#open.size > this.#limits.unprovenPerAddress) this.#evictUnproven(network);
    if (this.#open.size > this.#limits.connections) this.#drop(this.#cheapest() ?? this.#open.get(socket)!);
  }

  /**
   * Closes unauthenticated connections above the limits per address and in all. Connections without a parsed request do
   * not count as unauthenticated yet.
   */
  #evictUnproven(network: string): void {
    const { unprovenConnections, unprovenPerAddress } = this.#limits;
    const latest = this.#clock.monotonic() - GRACE_MS;
    const unproven = [...this.#open.values()].filter(
      (connection) => !connection.isProven && (connection.request?.since ?? Infinity) <= latest,
    );
    const ofAddress = unproven.filter((connection) => connection.network === network);
    const tooMany = Math.max(unproven.length - unprovenConnections, ofAddress.length - unprovenPerAddress);
    const list = ofAddress.length > unprovenPerAddress ? ofAddress : unproven;
    for (const connection of list.slice(0, Math.max(0, tooMany))) this.#drop(connection);
  }

  /** The cheapest one to close: the oldest that is idle, unauthenticated, unread, or still sending its body. */
  #cheapest(): Connection | undefined {
    const all = [...this.#open.values()];
    return (
      all.find(({ request }) => request?.isAnswered === true) ??
      all.find(({ isProven, request }) => !isProven && request !== null) ??
      all.find(({ request }) => request === null) ??
      all.find(({ request }) => request !== null && !request.raw.complete)
    );
  }

  #drop({ socket }: Connection): void {
    this.#open.delete(socket);
    socket.destroy();
  }

  #nextCheck(): Timer {
    return this.#clock.after(this.#limits.checkMs, () => {
      this.#refuseSlowBodies();
      for (const network of new Set([...this.#open.values()].map((connection) => connection.network)))
        this.#evictUnproven(network);
      this.#timer = this.#open.size === 0 ? null : this.#nextCheck();
    });
  }

  /** A body slower than any real network is held back on purpose. */
  #refuseSlowBodies(): void {
    const now = this.#clock.monotonic();
    const { slowBodyMs, bodyBytesPerSecond } = this.#limits;
    for (const { socket, request } of this.#open.values()) {
      if (request === null || request.raw.complete) continue;
      const tookMs = now - request.since;
      const bytes = socket.bytesRead - request.bytesBefore;
      if (tookMs < slowBodyMs || bytes >= (tookMs / 1000) * bodyBytesPerSecond) continue;
      if (request.isAnswered) socket.destroy();
      else answerBrokenRequest(tooSlow(), socket);
    }
  }
}

function tooSlow(): NodeJS.ErrnoException {
  return Object.assign(new Error("the body arrives too slowly"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
}

/** Authentication is decided within this time. */
const GRACE_MS = 500;

/** Sockets that are open but not registered here yet. */
const RESERVE = 64;
