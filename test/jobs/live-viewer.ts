/** A viewer of a live view without a screen, and a wall that a person clears with three clicks. */
import assert from "node:assert/strict";
import { WebSocket } from "ws";
import type { ServerMessage } from "../../src/orchestrator/live-views/live-view.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { type Route, type TestSite, html, webSite } from "../support/browser-kit.ts";

type State = Extract<ServerMessage, { type: "state" }>;

interface Connecting {
  headers?: Record<string, string>;
  /** Confirm frames; default: true. */
  draws?: boolean;
}

export class LiveViewer implements AsyncDisposable {
  readonly ws: WebSocket;
  readonly messages: ServerMessage[] = [];
  /** Numbers of the frames. */
  readonly frames: number[] = [];
  /** What the newest frame is of. */
  size = { width: 0, height: 0 };
  closed: number | null = null;
  #waiting: { isIt: () => boolean; resolve: () => void }[] = [];

  private constructor(ws: WebSocket, draws: boolean) {
    this.ws = ws;
    ws.on("error", () => {});
    ws.on("message", (data: Buffer, isBinary: boolean) => {
      if (isBinary) {
        const seq = data.readUInt32BE(0);
        this.frames.push(seq);
        this.size = { width: data.readUInt16BE(4), height: data.readUInt16BE(6) };
        assert.deepEqual([...data.subarray(8, 10)], [0xff, 0xd8], "a JPEG");
        if (draws) this.send({ type: "ack", seq });
      } else this.messages.push(JSON.parse(String(data)) as ServerMessage);
      this.#look();
    });
    ws.on("close", (code: number) => {
      this.closed = code;
      this.#look();
    });
  }

  static async connect(url: string, id: string, { headers = {}, draws = true }: Connecting = {}): Promise<LiveViewer> {
    const ws = new WebSocket(`${url.replace("http", "ws")}/live-views/${id}/socket`, { headers });
    const viewer = new LiveViewer(ws, draws);
    await new Promise<void>((resolve, reject) => {
      ws.once("open", resolve);
      ws.once("unexpected-response", (_request, response) => {
        response.resume();
        reject(new Error(`refused with ${response.statusCode}`));
      });
      ws.once("error", reject);
    });
    return viewer;
  }

  get state(): State | null {
    return this.messages.findLast((message) => message.type === "state") ?? null;
  }

  /** Whether the page of this title is shown. */
  shows(title: string): boolean {
    return this.state?.tabs.some((tab) => tab.isShown && tab.title === title) === true;
  }

  get notices(): string[] {
    return this.messages.flatMap((message) => (message.type === "notice" ? [message.message] : []));
  }

  get end(): string | null {
    return this.messages.find((message) => message.type === "closed")?.reason ?? null;
  }

  send(message: object): void {
    if (this.ws.readyState === WebSocket.OPEN) this.ws.send(JSON.stringify(message));
  }

  click(x: number, y: number): void {
    const mouse = { type: "mouse", x, y, button: "left", clicks: 1, modifiers: 0 };
    this.send({ ...mouse, event: "move", button: "none", buttons: 0, clicks: 0 });
    this.send({ ...mouse, event: "down", buttons: 1 });
    this.send({ ...mouse, event: "up", buttons: 0 });
  }

  press(key: string, keyCode: number, modifiers = 0): void {
    const message = {
      type: "key",
      key,
      code: key.length === 1 ? "" : key,
      key_code: keyCode,
      location: 0,
      modifiers,
      repeat: false,
    };
    this.send({ ...message, event: "down" });
    this.send({ ...message, event: "up" });
  }

  type(text: string): void {
    for (const key of text) this.press(key, key.toUpperCase().charCodeAt(0));
  }

  /** Resolves when this holds; it is looked at with each message. */
  async until(isIt: () => boolean, what: string): Promise<void> {
    if (isIt()) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      new Promise<void>((resolve) => this.#waiting.push({ isIt, resolve })),
      new Promise<never>((_resolve, reject) => {
        const told = () => `${what} did not happen: ${JSON.stringify([this.state, this.notices, this.closed])}`;
        timer = setTimeout(() => reject(new Error(told())), PATIENCE_MS);
      }),
    ]).finally(() => clearTimeout(timer));
  }

  untilClosed(): Promise<void> {
    return this.until(() => this.closed !== null, "the end of the connection");
  }

  #look(): void {
    this.#waiting = this.#waiting.filter(({ isIt, resolve }) => {
      if (!isIt()) return true;
      resolve();
      return false;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.ws.terminate();
    await this.untilClosed();
  }
}

export const PASS = "solved=by-a-person-7Kq";
export const SQUARES = [1, 2, 3].map((n) => ({ name: String(n), x: 200 * n, y: 300 }));

const WALL = `<!doctype html><title>Verify you are human</title>
  <style>body { margin: 0 } button { position: absolute; width: 80px; height: 80px }</style>
  <p>To continue, please verify that you are not a robot: choose the three squares.</p>
  ${SQUARES.map(({ name, x, y }) => `<button style="left:${x - 40}px;top:${y - 40}px">${name}</button>`).join("")}
  <script>
    const chosen = new Set();
    for (const button of document.querySelectorAll("button"))
      button.addEventListener("click", async () => {
        chosen.add(button.textContent);
        button.disabled = true;
        await fetch("/clicked/" + button.textContent);
        if (chosen.size === 3) { await fetch("/solved", { method: "POST" }); location.reload(); }
      });
  </script>`;

/** The page is behind a challenge that three clicks solve; more pages beside it. */
export function walledSite(more: Record<string, Route | string> = {}): Promise<TestSite> {
  const ok = html("ok");
  return webSite({
    "/": (request, response) => {
      const isIn = request.headers.cookie?.includes(PASS) === true;
      return (isIn ? html(BEHIND) : html(WALL, 403))(request, response);
    },
    ...Object.fromEntries(SQUARES.map(({ name }) => [`/clicked/${name}`, ok])),
    "/solved": (_request, response) =>
      void response.writeHead(204, { "set-cookie": `${PASS}; Path=/; HttpOnly` }).end(),
    ...more,
  });
}

const BEHIND = `<!doctype html><title>Behind the wall</title><p>What members of this site read, in words that are long
  enough to be taken for an article.</p><img src="/seen" alt="">`;
