import type { Dispatcher } from "undici";
import type { IncomingHttpHeaders } from "undici/types/header.js";
import { FetchFailure } from "../domain/run/failure.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";
import { contentCodings, createDecoder, type Decoder } from "./decode.ts";
import type { BodySink, HttpLimits, ResponseHead } from "./http.ts";
import { tunnelLate } from "./upstream/upstream-failure.ts";
import { connectFailure, exchangeFailure } from "./wire-failure.ts";

/** The fetch that a hop is part of. */
export interface HopOwner {
  readonly limits: HttpLimits;
  readonly sink: BodySink;
  readonly via: Upstream | undefined;
  readonly context: { readonly limits: HttpLimits; opening(): boolean };
  /** Called with the response head; decides what happens to the body. May throw the failure of the fetch. */
  onHead(hop: Hop, status: number, headers: IncomingHttpHeaders): "deliver" | "drain";
  /** The same head in wire form; called before `onHead`. */
  onRawHead?(status: number, statusText: string, headers: readonly (Buffer | string)[]): void;
  onEnd(hop: Hop): void;
  /** `raw` is undici's error, `error` its classification. */
  onError(hop: Hop, error: Error, raw: Error): void;
  fail(error: unknown): void;
}

type Phase = "connecting" | "waiting" | "body" | "draining" | "over";

/** An unwanted body is drained up to this size to keep the connection usable; past it, closing is cheaper. */
const DRAIN_BYTES = 64 * 1024;
/** Extra time for the tunnel's own error, which names the cause. */
const TUNNEL_GRACE_MS = 300;
const ABANDONED = new Error("the request was cancelled");

/**
 * One request and its response, as undici's handler: `dispatch` with a handler fetches 1.7 times the pages of
 * `undici.request`, which builds a stream for each body.
 */
export class Hop implements Dispatcher.DispatchHandler {
  head: ResponseHead | null = null;
  /** The target of a redirect that will be followed. */
  target: URL | null = null;
  notFollowed: string | null = null;
  bytes = 0;
  wireBytes = 0;
  /** The connection had served another request before. */
  reused = false;
  readonly #owner: HopOwner;
  #controller: Dispatcher.DispatchController | null = null;
  #decoder: Decoder | null = null;
  #phase: Phase = "connecting";
  /** Bytes arrived since the last check. Reading the clock for each chunk would cost more than the check. */
  #moved = true;
  #since = 0;
  /** The sink applies back-pressure: silence is not the site's. */
  #waitingForSink = false;

  constructor(owner: HopOwner) {
    this.#owner = owner;
  }

  check(now: number, stalledMs: number): void {
    if (this.#moved || this.#waitingForSink) {
      this.#moved = false;
      this.#since = now;
      return;
    }
    this.#since += stalledMs;
    const { connectMs, headersMs, idleMs } = this.#owner.limits;
    const silent = now - this.#since;
    if (this.#phase === "connecting" && silent > connectMs) this.#notConnected(silent);
    else if (this.#phase === "waiting" && silent > headersMs)
      this.#timeout("timeout_headers", `no answer after ${headersMs} ms`);
    else if (this.#phase === "body" && silent > idleMs)
      this.#timeout("timeout_idle", `the body stopped for ${idleMs} ms`);
    else if (this.#phase === "draining" && silent > idleMs) this.#drained(true);
  }

  /** Drops the request: closes its connection, or writes nothing to one that is still opening. */
  abandon(): void {
    if (this.#phase === "over") return;
    this.#phase = "over";
    this.#decoder?.destroy();
    this.#controller?.abort(ABANDONED);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // undici cannot cancel a request that waits for a connection: this is the first chance to abort.
    if (this.#phase === "over") return controller.abort(ABANDONED);
    this.#controller = controller;
    this.reused = !this.#owner.context.opening();
    this.#phase = "waiting";
    this.#moved = true;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    statusText = "",
  ): void {
    // 1xx responses are no progress: an endless series ends with `timeout_headers`.
    if (this.#phase === "over" || status < 200) return;
    this.#moved = true;
    try {
      this.#checkHeaderSize(controller);
      this.#owner.onRawHead?.(status, statusText, (controller.rawHeaders ?? []) as (Buffer | string)[]);
      if (this.#owner.onHead(this, status, headers) === "drain") this.#phase = "draining";
      else {
        this.#phase = "body";
        this.#prepareBody(headers["content-encoding"]);
      }
    } catch (error) {
      this.#owner.fail(error);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#phase === "over") return;
    this.#moved = true;
    this.wireBytes += chunk.length;
    if (this.#phase === "draining") {
      if (this.wireBytes > DRAIN_BYTES) this.#drained(true);
      return;
    }
    try {
      const written = this.#decoder === null ? this.#deliver(chunk) : this.#decoder.write(chunk);
      if (written === undefined) return;
      controller.pause();
      this.#waitingForSink = true;
      written.then(
        () => {
          this.#waitingForSink = false;
          this.#moved = true;
          controller.resume();
        },
        (error: unknown) => this.#owner.fail(error),
      );
    } catch (error) {
      this.#owner.fail(error);
    }
  }

  onResponseEnd(): void {
    if (this.#phase === "over") return;
    if (this.#phase === "draining") return this.#drained(false);
    try {
      const ended = this.#decoder?.end();
      if (ended === undefined) return this.#done();
      // Only decoding and writing remain: the site can no longer time out.
      this.#waitingForSink = true;
      ended.then(
        () => this.#done(),
        (error: unknown) => this.#owner.fail(error),
      );
    } catch (error) {
      this.#owner.fail(error);
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#phase === "over") return;
    // The head was complete, and the rest is not needed.
    if (this.#phase === "draining") return this.#drained(false);
    const connecting = this.#phase === "connecting";
    this.#phase = "over";
    this.#decoder?.destroy();
    this.#owner.onError(this, connecting ? beforeRequest(error) : exchangeFailure(error, this.head !== null), error);
  }

  #prepareBody(encoding: string | string[] | undefined): void {
    const { maxBodyBytes } = this.#owner.limits;
    const head = this.head!;
    const codings = contentCodings(Array.isArray(encoding) ? encoding.join(",") : encoding);
    if (head.contentLength !== null && head.contentLength > maxBodyBytes) throw this.#tooLarge();
    if (codings === null) return;
    this.#decoder = createDecoder(
      codings,
      maxBodyBytes,
      (chunk) => this.#deliver(chunk),
      (error) => this.#owner.fail(error),
    );
  }

  #deliver(chunk: Buffer): void | Promise<void> {
    this.bytes += chunk.length;
    if (this.bytes > this.#owner.limits.maxBodyBytes) throw this.#tooLarge();
    return this.#owner.sink.write(chunk);
  }

  #tooLarge(): FetchFailure {
    return new FetchFailure("body_too_large", `the body is larger than ${this.#owner.limits.maxBodyBytes} bytes`);
  }

  /** undici enforces the client's limit; this one applies when a request sets a lower one. */
  #checkHeaderSize(controller: Dispatcher.DispatchController): void {
    const { maxHeaderBytes } = this.#owner.limits;
    if (maxHeaderBytes >= this.#owner.context.limits.maxHeaderBytes) return;
    const raw = (controller.rawHeaders ?? []) as (Buffer | string)[];
    const size = raw.reduce((sum, part) => sum + part.length, 0);
    if (size > maxHeaderBytes) throw new FetchFailure("headers_too_large", "the response headers are too large");
  }

  #notConnected(silent: number): void {
    const { limits, via } = this.#owner;
    if (via === undefined) this.#timeout("timeout_connect", `no connection after ${limits.connectMs} ms`);
    else if (silent > limits.connectMs + TUNNEL_GRACE_MS) this.#owner.fail(tunnelLate(via, limits.connectMs));
  }

  #timeout(reason: "timeout_connect" | "timeout_headers" | "timeout_idle", message: string): void {
    this.#owner.fail(new FetchFailure(reason, message));
  }

  #drained(close: boolean): void {
    this.#phase = "over";
    if (close) this.#controller?.abort(ABANDONED);
    this.#owner.onEnd(this);
  }

  #done(): void {
    if (this.#phase === "over") return;
    this.#phase = "over";
    this.#owner.onEnd(this);
  }
}

function beforeRequest(error: Error): Error {
  const { code } = error as NodeJS.ErrnoException;
  return code?.startsWith("UND_ERR") === true ? exchangeFailure(error, false) : connectFailure(error, "the host");
}
