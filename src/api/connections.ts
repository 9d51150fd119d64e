/**
 * Connections before anybody has shown anything: so many in all and of one address, and the oldest goes first. Without that, a
 * thousand connections that send a byte every two seconds keep everybody else out.
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
  /** A call that was let in has come on it. */
  isProven: boolean;
  /** The call that is under way. */
  request: { raw: IncomingMessage; since: number; bytesBefore: number; isAnswered: boolean } | null;
}

type Limits = Pick<
  ApiLimits,
  "connections" | "unprovenConnections" | "unprovenPerAddress" | "bodyBytesPerSecond" | "slowBodyMs" | "checkMs"
>;

export class Connections {
  readonly #limits: Limits;
  readonly #clock: Clock;
  /** In the order in which they were opened. */
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
      // What was refused before its body has come still has to come to an end.
      if (connection?.request?.raw === raw) connection.request.isAnswered = true;
    });
    api.addHook("onClose", async () => this.#timer?.cancel());
  }

  /** The caller has shown the token: the limits for strangers no longer apply to this connection. */
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
    if (this.#open.size > this.#limits.unprovenPerAddress) this.#makeRoom(network);
    if (this.#open.size > this.#limits.connections) this.#drop(this.#least() ?? this.#open.get(socket)!);
  }

  /** Those who have called and shown nothing: so many of one address, and in all. What was not read yet may be anybody's. */
  #makeRoom(network: string): void {
    const { unprovenConnections, unprovenPerAddress } = this.#limits;
    const latest = this.#clock.monotonic() - GRACE_MS;
    const unproven = [...this.#open.values()].filter(
      (one) => !one.isProven && (one.request?.since ?? Infinity) <= latest,
    );
    const ofAddress = unproven.filter((one) => one.network === network);
    const tooMany = Math.max(unproven.length - unprovenConnections, ofAddress.length - unprovenPerAddress);
    const list = ofAddress.length > unprovenPerAddress ? ofAddress : unproven;
    for (const one of list.slice(0, Math.max(0, tooMany))) this.#drop(one);
  }

  /** Whom it costs least: the oldest that only waits, that has shown nothing, that was not read yet, or whose body has not come. */
  #least(): Connection | undefined {
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
      for (const network of new Set([...this.#open.values()].map((one) => one.network))) this.#makeRoom(network);
      this.#timer = this.#open.size === 0 ? null : this.#nextCheck();
    });
  }

  /** A body that comes slower than any network is held back on purpose. */
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
  return Object.assign(new Error("the body comes too slowly"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
}

/** Whether a call may be made is known within this. */
const GRACE_MS = 500;

/** Sockets that are open and not seen here yet. */
const RESERVE = 64;
