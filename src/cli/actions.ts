import { OrbError } from "../base/errors.ts";
import type { BrowserAction } from "../domain/page/page-options.ts";

const WORDS: Readonly<Record<string, (rest: string) => BrowserAction | null>> = {
  wait: (rest) =>
    /^\d+$/.test(rest) ? { type: "wait", milliseconds: Number(rest) } : { type: "wait", selector: rest },
  click: (selector) => ({ type: "click", selector }),
  "click-all": (selector) => ({ type: "click", selector, all: true }),
  write: (text) => ({ type: "write", text }),
  "write-secret": (text) => ({ type: "write", text, secret: true }),
  press: (key) => ({ type: "press", key }),
  scroll: (rest) => {
    const [toEnd, steps] = /^end(?::(\d+))?$/.exec(rest) ?? [];
    if (toEnd !== undefined)
      return { type: "scroll_to_end", ...(steps === undefined ? {} : { max_steps: Number(steps) }) };
    const [, direction, amount] = /^(up|down)(?::(\d+))?$/.exec(rest) ?? [];
    if (direction === undefined) return null;
    const type = { type: "scroll", direction: direction as "up" | "down" } as const;
    return amount === undefined ? type : { ...type, amount: Number(amount) };
  },
};

const EXPECTED =
  "expected click=CSS, click-all=CSS, wait=MILLISECONDS, wait=CSS, write=TEXT, write-secret=TEXT, press=KEY, scroll=down:PIXELS or scroll=end";

/** One `--action`. */
export function addAction(text: string, before: BrowserAction[] = []): BrowserAction[] {
  const at = text.indexOf("=");
  const rest = text.slice(at + 1);
  const word = WORDS[text.slice(0, Math.max(0, at))];
  const action = word === undefined || rest === "" ? null : word(rest);
  if (action !== null) return [...before, action];
  throw new OrbError("usage", `--action: ${EXPECTED}`, { fields: [{ path: "action", message: EXPECTED }] });
}
