import { call, Problem } from "../../api/client.ts";
import { type LiveFrame, type LiveState, readFrame, type ServerMessage } from "./logic/live-messages.ts";

interface LiveListener {
  frame(frame: LiveFrame): void;
  state(state: LiveState): void;
  notice(message: string): void;
  /** It reconnects by itself; null: connected. */
  waiting(why: string | null): void;
  /** For good. */
  ended(message: string, reason: string): void;
}

const REVOKED = 4401;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5000;

/** The WebSocket of a live view. Reconnects until the server says that the view has ended. */
export class LiveConnection {
  readonly #id: string;
  readonly #on: LiveListener;
  #socket: WebSocket | null = null;
  #timer = 0;
  #waitMs = FIRST_WAIT_MS;
  #isOver = false;

  constructor(id: string, on: LiveListener) {
    this.#id = id;
    this.#on = on;
    this.#connect();
  }

  send(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  #connect(): void {
    const { protocol, host } = location;
    const socket = new WebSocket(
      `${protocol === "https:" ? "wss" : "ws"}://${host}/live-views/${encodeURIComponent(this.#id)}/socket`,
    );
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    socket.addEventListener("open", () => {
      this.#waitMs = FIRST_WAIT_MS;
      this.#on.waiting(null);
    });
    socket.addEventListener("message", ({ data }: MessageEvent<string | ArrayBuffer>) => this.#received(data));
    socket.addEventListener("close", ({ code }) => void this.#lost(code));
  }

  #received(data: string | ArrayBuffer): void {
    if (this.#isOver) return;
    if (typeof data !== "string") {
      const frame = readFrame(data);
      if (frame !== null) this.#on.frame(frame);
      return;
    }
    const message = JSON.parse(data) as ServerMessage;
    if (message.type === "state") this.#on.state(message);
    else if (message.type === "notice") this.#on.notice(message.message);
    else this.#end(message.message, message.reason);
  }

  #end(message: string, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#on.ended(message, reason);
  }

  /** A refused WebSocket does not say why: the API does. */
  async #lost(code: number): Promise<void> {
    if (this.#isOver) return;
    if (code === REVOKED) return this.#end("Your key was revoked or changed.", "revoked");
    this.#on.waiting("The connection is lost. Reconnecting …");
    try {
      await call("getLiveView", { params: { view_id: this.#id } });
    } catch (error) {
      if (error instanceof Problem && [403, 404].includes(error.status))
        return this.#end("The live view has ended.", "gone");
    }
    if (this.#isOver) return;
    this.#timer = window.setTimeout(() => this.#connect(), this.#waitMs);
    this.#waitMs = Math.min(LONGEST_WAIT_MS, this.#waitMs * 2);
  }
}
