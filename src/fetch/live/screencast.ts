import type { CDPSession } from "playwright-core";
import type { Clock, Timer } from "../../base/clock.ts";

export interface CastFrame {
  jpeg: Buffer;
  /** Of the viewport, in CSS pixels. */
  width: number;
  height: number;
}

/** Between two frames: at most ten per second. */
const PACE_MS = 100;
/** Chromium drops frames while two are not confirmed; what it dropped may have been the last change. */
const MOST_UNCONFIRMED = 2;
const MISSED_MS = 300;
const QUALITY = 60;
const LARGEST = 1280;

/** Pictures of a page while it changes. */
export class Screencast {
  readonly #session: CDPSession;
  readonly #clock: Clock;
  readonly #onFrame: (frame: CastFrame) => void;
  readonly #timers = new Set<Timer>();
  #isOn = false;
  #unconfirmed = 0;
  #count = 0;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(session: CDPSession, clock: Clock, onFrame: (frame: CastFrame) => void) {
    this.#session = session;
    this.#clock = clock;
    this.#onFrame = onFrame;
    session.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
      this.#received(sessionId);
      if (!this.#isOn) return;
      const { deviceWidth: width, deviceHeight: height } = metadata;
      this.#onFrame({ jpeg: Buffer.from(data, "base64"), width, height });
    });
  }

  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#begin();
  }

  stop(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#send("Page.stopScreencast");
  }

  #begin(): void {
    this.#unconfirmed = 0;
    this.#send("Page.startScreencast", {
      format: "jpeg",
      quality: QUALITY,
      maxWidth: LARGEST,
      maxHeight: LARGEST,
      everyNthFrame: 1,
    });
  }

  #received(sessionId: number): void {
    this.#unconfirmed += 1;
    this.#count += 1;
    const now = this.#clock.monotonic();
    const waitMs = Math.max(0, this.#lastAt + PACE_MS - now);
    this.#lastAt = now + waitMs;
    const mayMiss = this.#unconfirmed >= MOST_UNCONFIRMED;
    const seen = this.#count;
    this.#later(waitMs, () => {
      this.#unconfirmed = Math.max(0, this.#unconfirmed - 1);
      this.#send("Page.screencastFrameAck", { sessionId });
      if (mayMiss) this.#later(MISSED_MS, () => seen === this.#count && this.#again());
    });
  }

  /** A new cast begins with a picture of the page as it is. */
  #again(): void {
    this.#send("Page.stopScreencast");
    this.#begin();
  }

  #later(ms: number, work: () => unknown): void {
    if (!this.#isOn) return;
    const timer = this.#clock.after(ms, () => {
      this.#timers.delete(timer);
      if (this.#isOn) work();
    });
    this.#timers.add(timer);
  }

  #send(method: "Page.startScreencast" | "Page.stopScreencast" | "Page.screencastFrameAck", params?: object): void {
    // The page may close at any moment.
    void this.#session.send(method, params as never).catch(() => {});
  }
}
