/** What viewers of a live page send, checked: it comes from the network. */

/** Bits as in the DevTools protocol. */
export const MODIFIERS = { alt: 1, ctrl: 2, meta: 4, shift: 8 } as const;

const MOUSE_BUTTONS = ["none", "left", "middle", "right"] as const;
type MouseButton = (typeof MOUSE_BUTTONS)[number];

/** In CSS pixels of the page's viewport. */
interface Point {
  x: number;
  y: number;
}

interface MouseInput extends Point {
  type: "mouse";
  event: "move" | "down" | "up";
  button: MouseButton;
  /** Pressed buttons as bits: 1 left, 2 right, 4 middle. */
  buttons: number;
  clicks: number;
  modifiers: number;
}

interface WheelInput extends Point {
  type: "wheel";
  dx: number;
  dy: number;
  modifiers: number;
}

interface TouchInput {
  type: "touch";
  event: "start" | "move" | "end" | "cancel";
  points: readonly (Point & { id: number })[];
}

export interface KeyInput {
  type: "key";
  event: "down" | "up";
  key: string;
  code: string;
  /** `keyCode` of the browser's event. */
  key_code: number;
  /** 0 standard, 1 left, 2 right, 3 numpad. */
  location: number;
  modifiers: number;
  repeat: boolean;
}

/** Pasted text, or text of an input method. */
interface TextInput {
  type: "text";
  text: string;
}

export type PageInput = MouseInput | WheelInput | TouchInput | KeyInput | TextInput;

export type Steering =
  | { type: "navigate"; url: string }
  | { type: "history"; go: "back" | "forward" | "reload" | "stop" }
  | { type: "tab"; id: number; close: boolean };

export type ViewerMessage =
  | PageInput
  | Steering
  /** The frame was drawn: the next one may be sent. */
  | { type: "ack"; seq: number }
  | { type: "control"; take: boolean }
  | { type: "dialog"; id: number; accept: boolean; text: string };

export const MOST_TEXT = 100_000;
/** JSON may need six characters for one. */
export const MOST_MESSAGE_BYTES = 6 * MOST_TEXT + 1024;
const MOST_TOUCHES = 10;
/** Beyond any viewport: the browser takes 32-bit numbers. */
const FARTHEST = 100_000;
const MOST_URL = 8192;

/** Null: not a message. */
export function readViewerMessage(text: string): ViewerMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { type } = value as { type?: unknown };
  const read = typeof type === "string" && Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  if (read === undefined) return null;
  try {
    return read(new Fields(value as Record<string, unknown>));
  } catch {
    return null;
  }
}

class Fields {
  readonly #values: Record<string, unknown>;

  constructor(values: Record<string, unknown>) {
    this.#values = values;
  }

  number(name: string, least: number, most: number, otherwise?: number): number {
    const value = this.#values[name] ?? otherwise;
    if (typeof value !== "number" || !Number.isFinite(value)) throw new TypeError(name);
    return Math.min(most, Math.max(least, value));
  }

  whole(name: string, least: number, most: number, otherwise?: number): number {
    return Math.round(this.number(name, least, most, otherwise));
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  text(name: string, most: number): string {
    const value = this.#values[name];
    if (typeof value !== "string" || value.length > most) throw new TypeError(name);
    return value;
  }

  one<T extends string>(name: string, words: readonly T[]): T {
    const value = this.#values[name];
    const word = words.find((one) => one === value);
    if (word === undefined) throw new TypeError(name);
    return word;
  }

  list(name: string, most: number): Fields[] {
    const value = this.#values[name];
    if (!Array.isArray(value) || value.length > most) throw new TypeError(name);
    return value.map((one) => {
      if (typeof one !== "object" || one === null) throw new TypeError(name);
      return new Fields(one as Record<string, unknown>);
    });
  }

  point(): Point {
    return { x: this.number("x", 0, FARTHEST), y: this.number("y", 0, FARTHEST) };
  }

  modifiers(): number {
    return this.whole("modifiers", 0, 15, 0);
  }
}

const READERS: Readonly<Record<string, (fields: Fields) => ViewerMessage>> = {
  ack: (fields) => ({ type: "ack", seq: fields.whole("seq", 0, Number.MAX_SAFE_INTEGER) }),
  control: (fields) => ({ type: "control", take: fields.flag("take") }),
  mouse: (fields) => ({
    type: "mouse",
    event: fields.one("event", ["move", "down", "up"]),
    ...fields.point(),
    button: fields.one("button", MOUSE_BUTTONS),
    buttons: fields.whole("buttons", 0, 7, 0),
    clicks: fields.whole("clicks", 0, 3, 0),
    modifiers: fields.modifiers(),
  }),
  wheel: (fields) => ({
    type: "wheel",
    ...fields.point(),
    dx: fields.number("dx", -FARTHEST, FARTHEST),
    dy: fields.number("dy", -FARTHEST, FARTHEST),
    modifiers: fields.modifiers(),
  }),
  touch: (fields) => ({
    type: "touch",
    event: fields.one("event", ["start", "move", "end", "cancel"]),
    points: fields.list("points", MOST_TOUCHES).map((point) => ({ ...point.point(), id: point.whole("id", 0, 1e9) })),
  }),
  key: (fields) => ({
    type: "key",
    event: fields.one("event", ["down", "up"]),
    key: fields.text("key", 40),
    code: fields.text("code", 40),
    key_code: fields.whole("key_code", 0, 255, 0),
    location: fields.whole("location", 0, 3, 0),
    modifiers: fields.modifiers(),
    repeat: fields.flag("repeat"),
  }),
  text: (fields) => ({ type: "text", text: fields.text("text", MOST_TEXT) }),
  navigate: (fields) => ({ type: "navigate", url: fields.text("url", MOST_URL) }),
  history: (fields) => ({ type: "history", go: fields.one("go", ["back", "forward", "reload", "stop"]) }),
  tab: (fields) => ({ type: "tab", id: fields.whole("id", 0, 1e9), close: fields.flag("close") }),
  dialog: (fields) => ({
    type: "dialog",
    id: fields.whole("id", 0, 1e9),
    accept: fields.flag("accept"),
    text: fields.text("text", MOST_TEXT),
  }),
};
