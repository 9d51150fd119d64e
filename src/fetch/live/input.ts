/** A viewer's mouse, touches and keys as commands of the DevTools protocol. */
import type { CDPSession } from "playwright-core";
import { type KeyInput, MODIFIERS, type PageInput } from "../../domain/live-view/messages.ts";

type Command = { method: string; params: object };

/** More than a person does while a page is busy; later inputs are dropped. */
const MOST_WAITING = 200;

/** Inputs in their order. A page that does not react delays them; dialogs are answered elsewhere. */
export class InputQueue {
  readonly #session: () => CDPSession;
  readonly #waiting: PageInput[] = [];
  #isSending = false;

  constructor(session: () => CDPSession) {
    this.#session = session;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(input: PageInput): void {
    const last = this.#waiting.at(-1);
    // Only the latest position counts, and distances add up.
    if (last !== undefined && isMove(input) && isMove(last)) this.#waiting.pop();
    if (last?.type === "wheel" && input.type === "wheel" && last.modifiers === input.modifiers) {
      this.#waiting.pop();
      input = { ...input, dx: last.dx + input.dx, dy: last.dy + input.dy };
    }
    if (this.#waiting.length >= MOST_WAITING) return;
    this.#waiting.push(input);
    if (!this.#isSending) void this.#send();
  }

  /** A new page does not get what was meant for the last one. */
  clear(): void {
    this.#waiting.length = 0;
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (let input = this.#waiting.shift(); input !== undefined; input = this.#waiting.shift()) {
      const { method, params } = commandOf(input);
      // The page may have closed.
      await this.#session()
        .send(method as "Input.dispatchMouseEvent", params as never)
        .catch(() => {});
    }
    this.#isSending = false;
  }
}

const isMove = (input: PageInput) => input.type === "mouse" && input.event === "move";

const MOUSE_EVENTS = { move: "mouseMoved", down: "mousePressed", up: "mouseReleased" } as const;
const TOUCH_EVENTS = { start: "touchStart", move: "touchMove", end: "touchEnd", cancel: "touchCancel" } as const;

export function commandOf(input: PageInput): Command {
  switch (input.type) {
    case "mouse": {
      const { x, y, button, buttons, clicks, modifiers } = input;
      const type = MOUSE_EVENTS[input.event];
      return {
        method: "Input.dispatchMouseEvent",
        params: { type, x, y, button, buttons, clickCount: clicks, modifiers },
      };
    }
    case "wheel": {
      const { x, y, dx, dy, modifiers } = input;
      return {
        method: "Input.dispatchMouseEvent",
        params: { type: "mouseWheel", x, y, deltaX: dx, deltaY: dy, modifiers },
      };
    }
    case "touch": {
      // The protocol wants no points at the end.
      const isOver = input.event === "end" || input.event === "cancel";
      const touchPoints = isOver ? [] : input.points.map(({ x, y, id }) => ({ x, y, id }));
      return { method: "Input.dispatchTouchEvent", params: { type: TOUCH_EVENTS[input.event], touchPoints } };
    }
    case "key":
      return { method: "Input.dispatchKeyEvent", params: keyEvent(input) };
    case "text":
      return { method: "Input.insertText", params: { text: input.text } };
  }
}

function keyEvent({ event, key, code, key_code: keyCode, location, modifiers, repeat }: KeyInput) {
  const text = event === "down" ? textOf(key, modifiers) : "";
  return {
    type: event === "up" ? "keyUp" : text === "" ? "rawKeyDown" : "keyDown",
    key,
    code,
    windowsVirtualKeyCode: keyCode,
    location,
    modifiers,
    autoRepeat: repeat,
    isKeypad: location === 3,
    ...(text === "" ? {} : { text, unmodifiedText: text }),
  };
}

/** What the key writes; with Ctrl, Alt or Meta it is a shortcut. */
function textOf(key: string, modifiers: number): string {
  if ((modifiers & (MODIFIERS.ctrl | MODIFIERS.meta | MODIFIERS.alt)) !== 0) return "";
  if (key === "Enter") return "\r";
  return [...key].length === 1 ? key : "";
}
