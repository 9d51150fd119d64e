/** What a person did on a page, as browser actions that a job can repeat. */
import type { BrowserAction } from "../page/page-options.ts";

/** As reported by the script in the page, which never reports the text of a secret field. */
export type PageEvent =
  | { type: "click"; selector: string }
  | { type: "write"; selector: string; before: string; text: string }
  | { type: "secret"; selector: string }
  | { type: "choose"; selector: string }
  | { type: "press"; key: string }
  | { type: "scroll"; y: number }
  | { type: "page" };

export interface Recorded {
  actions: readonly BrowserAction[];
  /** What could not be recorded, and what to do about it. */
  notes: readonly string[];
}

export const MOST_ACTIONS = 50;
const MOST_SELECTOR = 1000;
const MOST_WRITTEN = 10_000;
/** Small movements come with focus and layout. */
const LEAST_SCROLL = 40;
const KEYS: ReadonlySet<string> = new Set([
  ...["Enter", "Escape", "Space", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"],
  ...["PageUp", "PageDown", "Home", "End"],
]);

export class ActionRecorder {
  readonly #actions: BrowserAction[] = [];
  readonly #notes: string[] = [];
  #scrollY = 0;

  get recorded(): Recorded {
    return { actions: [...this.#actions], notes: [...this.#notes] };
  }

  add(event: PageEvent): void {
    switch (event.type) {
      case "click":
        return this.#push({ type: "click", selector: event.selector });
      case "write":
        return this.#write(event);
      case "secret":
        this.#focus(event.selector);
        return this.#note(
          `after action ${this.#actions.length}, add the secret text of ${event.selector}, which is not recorded: {"type": "write", "text": "…", "secret": true}`,
        );
      case "choose":
        return this.#note(
          `after action ${this.#actions.length}, the choice in ${event.selector} is not recorded: add key presses (ArrowDown) that make it`,
        );
      case "press":
        return this.#push({ type: "press", key: event.key });
      case "scroll":
        return this.#scroll(event.y);
      case "page":
        this.#scrollY = 0;
    }
  }

  /** Text goes to the element that has the focus, which Tab may have given. */
  #focus(selector: string): void {
    const last = this.#actions.at(-1);
    if (last?.type !== "click" || last.selector !== selector) this.#push({ type: "click", selector });
  }

  #write({ selector, before, text }: Extract<PageEvent, { type: "write" }>): void {
    if (text === before) return;
    this.#focus(selector);
    const isLonger = text.startsWith(before);
    if (!isLonger) this.#push({ type: "press", key: "Control+A" });
    if (text === "") this.#push({ type: "press", key: "Backspace" });
    else this.#push({ type: "write", text: (isLonger ? text.slice(before.length) : text).slice(0, MOST_WRITTEN) });
  }

  #scroll(y: number): void {
    const far = Math.round(y - this.#scrollY);
    if (Math.abs(far) < LEAST_SCROLL) return;
    this.#scrollY = y;
    const last = this.#actions.at(-1);
    const lastFar = last?.type === "scroll" && last.selector === undefined ? signed(last) : null;
    if (lastFar !== null) this.#actions.pop();
    const all = (lastFar ?? 0) + far;
    if (all !== 0) this.#push({ type: "scroll", direction: all < 0 ? "up" : "down", amount: Math.abs(all) });
  }

  #push(action: BrowserAction): void {
    if (this.#actions.length < MOST_ACTIONS) this.#actions.push(action);
    else this.#note(`only the first ${MOST_ACTIONS} actions are recorded`);
  }

  #note(text: string): void {
    if (!this.#notes.includes(text) && this.#notes.length < MOST_ACTIONS) this.#notes.push(text);
  }
}

function signed({ direction, amount = 0 }: { direction: "up" | "down"; amount?: number }): number {
  return direction === "up" ? -amount : amount;
}

/** A report of the page's script; null: not one. The page itself cannot call it, but its renderer may be compromised. */
export function readPageEvent(text: string): PageEvent | null {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const string = (name: string, most: number) => {
    const found = value[name];
    return typeof found === "string" && found.length <= most ? found : null;
  };
  const selector = string("selector", MOST_SELECTOR);
  const { type, y } = value;
  if (type === "page") return { type };
  if (type === "press") {
    const key = string("key", 40);
    return key !== null && KEYS.has(key) ? { type, key } : null;
  }
  if (type === "scroll") return typeof y === "number" && Number.isFinite(y) ? { type, y: Math.max(0, y) } : null;
  if (selector === null || selector === "") return null;
  if (type === "click" || type === "secret" || type === "choose") return { type, selector };
  const before = string("before", MOST_WRITTEN);
  const written = string("text", MOST_WRITTEN);
  return type === "write" && before !== null && written !== null ? { type, selector, before, text: written } : null;
}
