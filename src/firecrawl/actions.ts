/** What is done on a page before it is read. */
import type { BrowserAction } from "../domain/page/page-options.ts";
import { OptionReader } from "./option-reader.ts";

const MOST = 50;

const MISSING: Readonly<Record<string, string>> = {
  executeJavascript: "runs no scripts of callers: use click, write, press and scroll",
  pdf: "is not to be had here: ask for a screenshot",
};

/** As `browser.actions` of a recipe has them. */
export function readActions(reader: OptionReader): BrowserAction[] | undefined {
  const list = reader.list("actions");
  if (list === undefined) return undefined;
  if (list.length > MOST) reader.wrong("actions", `has ${list.length} of them, at most ${MOST} are allowed`);
  return list.slice(0, MOST).map((one, index) => {
    const action = new OptionReader(one, reader.at(`actions[${index}]`), reader.problems);
    const read = readAction(action);
    action.nothingElse();
    return read;
  });
}

function readAction(action: OptionReader): BrowserAction {
  const type = action.text("type") ?? "";
  const selector = action.text("selector");
  const chosen = selector === undefined ? {} : { selector };
  switch (type) {
    case "wait": {
      const milliseconds = action.number("milliseconds", { max: 60_000 });
      if ((milliseconds === undefined) === (selector === undefined))
        action.wrong("", "a wait has either milliseconds or a selector");
      return selector === undefined ? { type, milliseconds: milliseconds ?? 0 } : { type, selector };
    }
    case "click": {
      const all = action.flag("all");
      return { type, selector: selector ?? required(action, "selector"), ...(all === undefined ? {} : { all }) };
    }
    case "write":
      return { type, text: action.text("text") ?? required(action, "text") };
    case "press":
      return { type, key: action.text("key") ?? required(action, "key") };
    case "scroll":
      return { type, direction: action.oneOf("direction", ["up", "down"]) ?? "down", ...chosen };
    case "screenshot":
      action.harmless("quality");
      action.refuse("viewport", "cannot be chosen here: leave it out, or ask for mobile");
      return { type, full_page: action.flag("fullPage") ?? false };
    case "scrape":
      return { type };
    default:
      action.harmless("script", "format", "landscape", "scale");
      action.wrong("type", MISSING[type] ?? `"${type}" is not an action`);
      return { type: "scrape" };
  }
}

function required(action: OptionReader, name: string): string {
  action.wrong(name, "is required");
  return "";
}
