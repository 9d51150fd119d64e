/**
 * Secret texts that a browser types, such as a password: `secret: true` on a `write`. They are stored sealed together with
 * the origin they were given for, opened where the page is fetched, and shown as `***`.
 */
import { isOrbError } from "../../base/errors.ts";
import type { Seal } from "../../base/seal.ts";
import { FetchFailure } from "../run/failure.ts";
import type { BrowserAction, BrowserOptions } from "./page-options.ts";
import { HIDDEN, isSealed, SEALED_MARK } from "../text/sealed-text.ts";

const SEALED_FOR_ACTION = "text of a browser action";

interface Opened {
  origin: string;
  text: string;
}

type SecretWrite = Extract<BrowserAction, { type: "write" }> & { secret: true };

function isSecret(action: BrowserAction | undefined): action is SecretWrite {
  return action?.type === "write" && action.secret === true;
}

interface SealingOrder {
  seal: Seal;
  /** Origin of the page. */
  origin: string;
  /** The stored actions: `***` keeps the text at the same index. */
  before: readonly BrowserAction[];
  /** Reports an error of one action. */
  report: (index: number, message: string) => void;
}

/** The actions with sealed secrets, for storage. */
export function sealActions(actions: readonly BrowserAction[], order: SealingOrder): BrowserAction[] {
  const stored = new Set(order.before.filter(isSecret).map(({ text }) => text));
  return actions.map((action, index) => {
    if (action.type !== "write") return action;
    const isKept = action.text === HIDDEN || isSealed(action.text);
    if (!isSecret(action)) {
      if (isSealed(action.text)) order.report(index, GIVE_ANEW);
      return action;
    }
    if (!isKept) return { ...action, text: sealed(order.seal, { origin: order.origin, text: action.text }) };
    const there = order.before[index];
    const text = isSealed(action.text) ? action.text : isSecret(there) ? there.text : onlyOne(stored);
    const wrong = text === null || !stored.has(text) ? GIVE_ANEW : refusalOf(order, text);
    if (wrong !== null) order.report(index, wrong);
    return { ...action, text: text ?? "" };
  });
}

const GIVE_ANEW = `${HIDDEN} is a placeholder for a secret text that is not stored here: send the text itself`;

/** Actions may have been moved: a single secret is unambiguous. */
function onlyOne(texts: ReadonlySet<string>): string | null {
  const [only] = texts;
  return only === undefined || texts.size > 1 ? null : only;
}

function sealed(seal: Seal, secret: Opened): string {
  return `${SEALED_MARK}${Buffer.from(seal.close(secret, SEALED_FOR_ACTION)).toString("base64")}`;
}

function opened(seal: Seal, text: string): Opened {
  return seal.open(Buffer.from(text.slice(SEALED_MARK.length), "base64"), SEALED_FOR_ACTION) as Opened;
}

/** A text sealed with another key stays as it is, so that other parts of the job can still be changed. */
function refusalOf({ seal, origin }: SealingOrder, text: string): string | null {
  try {
    const secret = opened(seal, text);
    return secret.origin === origin ? null : `was stored for ${secret.origin}: send the text itself for ${origin}`;
  } catch (error) {
    if (isOrbError(error, "secret_key_wrong")) return null;
    throw error;
  }
}

/** Opens the secrets of browser actions; a secret is typed on its own origin only. */
export function openActions(seal: Seal, browser: BrowserOptions | null, askedUrl: string): BrowserOptions | null {
  if (browser?.actions?.some(isSecret) !== true) return browser;
  const origin = URL.parse(askedUrl)?.origin;
  const actions = browser.actions.map((action, index) => {
    if (!isSecret(action) || !isSealed(action.text)) return action;
    const secret = openedForPage(seal, action.text);
    if (secret.origin === origin) return { ...action, text: secret.text };
    const message = `its secret text was stored for ${secret.origin} and is not typed at ${origin}`;
    throw new FetchFailure("action_failed", `browser.actions[${index}] (write): ${message}`);
  });
  return { ...browser, actions };
}

function openedForPage(seal: Seal, text: string): Opened {
  try {
    return opened(seal, text);
  } catch (error) {
    if (!isOrbError(error, "secret_key_wrong")) throw error;
    throw new FetchFailure("session_unusable", `${error.message}. ${error.hint ?? ""}`.trim(), { cause: error });
  }
}
