/** What is done on a page before it is read. */
import type { BrowserAction } from "../domain/page/page-options.ts";
import { InputReader } from "../domain/text/input-reader.ts";

const MOST = 50;

const MISSING: ReadonlyMap<unknown, string> = new Map([
  ["executeJavascript", "is not supported: scripts of callers are not run; use click, write, press and scroll"],
  ["pdf", "is not supported: use a screenshot"],
]);

/** As `browser.actions` of a recipe has them. */
export function readActions(reader: InputReader): BrowserAction[] | undefined {
  const list = reader.list("actions");
  if (list === undefined) return undefined;
  if (list.length > MOST) reader.addError("actions", `has ${list.length} of them, at most ${MOST} are allowed`);
  return list.slice(0, MOST).map((one, index) => {
    const action = new InputReader(one, reader.at(`actions[${index}]`), reader.errors);
    const read = readAction(action);
    action.rejectUnknownKeys();
    return read;
  });
}

function readAction(action: InputReader): BrowserAction {
  const type = action.text("type") ?? "";
  const selector = action.text("selector");
  const chosen = selector === undefined ? {} : { selector };
  switch (type) {
    case "wait": {
      const milliseconds = action.number("milliseconds", { max: 60_000 });
      if ((milliseconds === undefined) === (selector === undefined))
        action.addError("", "a wait has either milliseconds or a selector");
      return selector === undefined ? { type, milliseconds: milliseconds ?? 0 } : { type, selector };
    }
    case "click": {
      const all = action.flag("all");
      action.require("selector");
      return { type, selector: selector ?? "", ...(all === undefined ? {} : { all }) };
    }
    case "write":
      action.require("text");
      return { type, text: action.text("text") ?? "" };
    case "press":
      action.require("key");
      return { type, key: action.text("key") ?? "" };
    case "scroll":
      return { type, direction: action.oneOf("direction", ["up", "down"]) ?? "down", ...chosen };
    case "screenshot":
      action.ignore("quality");
      action.reject("viewport", "cannot be set: remove it, or use mobile");
      return { type, full_page: action.flag("fullPage") ?? false };
    case "scrape":
      return { type };
    default:
      action.ignore("script", "format", "landscape", "scale");
      action.addError("type", MISSING.get(type) ?? `"${type}" is not an action`);
      return { type: "scrape" };
  }
}
