/**
 * Whether a redirect has led to a sign-in instead of the page. Precision before recall: shops have a password field in the
 * header of every page, and a page about signing in is no sign-in.
 */
import { outlineOf } from "./page-outline.ts";

/** Rule name in warnings about the whole page. */
export const SIGN_IN_RULE = "sign-in";

const VERB = String.raw`(?:log[-_.]?(?:in|on)|sign[-_.]?in|anmelden|anmeldung|einloggen|connexion|se-connecter|iniciar-sesion|inloggen|logga-in|logowanie|zaloguj|accedi)`;
/** Alone, or with one word before it: `login`, `wp-login`, `user_login`, and not `how-to-sign-in`. */
const WHOLE = new RegExp(`^(?:[a-z0-9]+[-_.])?${VERB}$`, "i");
const EXACT = new RegExp(`^${VERB}$`, "i");
/** As in `ServiceLogin`. */
const CAMEL = /(?:^|[a-z])(?:Log[Ii]n|Log[Oo]n|Sign[Ii]n)$/;
/** Lead to sign-ins often, and to other pages as well. */
const POSSIBLE = /^(?:auth|oauth2?|sso|saml2?|openid|cas|accounts?|identity|sessions?|authenticate|authorize)$/i;
const TITLE =
  /\b(?:sign|log)[ -]?(?:in|on)\b|\banmeld(?:en|ung)\b|\beinloggen\b|\bconnexion\b|\biniciar sesi[oó]n\b|\binloggen\b|\baccedi\b/i;
const PASSWORD_FIELD = /<input\b[^>]{0,500}\btype\s*=\s*["']?password\b/i;
/** A page with more text than this is one, whatever forms it has. */
const LITTLE_TEXT = 1_500;

/** `/login`, `/users/sign_in`, `/wp-login.php`, `/sessions/new`, `/login/oauth/authorize`. */
export function isSignInPath(pathname: string): boolean {
  const segments = segmentsOf(pathname);
  const [first = ""] = segments;
  const last = segments.at(-1) ?? "";
  if (WHOLE.test(last) || CAMEL.test(last) || EXACT.test(first)) return true;
  return last === "new" && /^sessions?$/i.test(segments.at(-2) ?? "");
}

function segmentsOf(pathname: string): string[] {
  return pathname
    .split("/")
    .filter((part) => part !== "")
    .map((part) => part.replace(/;.*$/, "").replace(/\.[a-z0-9]{1,5}$/i, ""));
}

export function hasPasswordField(html: string): boolean {
  return PASSWORD_FIELD.test(html);
}

interface Landing {
  /** The page that was asked for, before any redirect. */
  askedUrl: string;
  finalUrl: string;
  html: string;
}

/** The warning; null: the page is no sign-in, or a sign-in was requested. */
export function signInReached({ askedUrl, finalUrl, html }: Landing): string | null {
  const asked = URL.parse(askedUrl);
  const final = URL.parse(finalUrl);
  if (asked === null || final === null || isSamePage(asked, final) || isSignInPath(asked.pathname)) return null;
  const asksForPassword = hasPasswordField(html);
  if (!isSignInPath(final.pathname) && !looksLikeSignIn(asked, final, html, asksForPassword)) return null;
  return sentTo(asked, final, asksForPassword);
}

/** The same for a redirect that is not followed. */
export function signInAhead(askedUrl: string, nextUrl: string): string | null {
  const asked = URL.parse(askedUrl);
  const next = URL.parse(nextUrl);
  if (asked === null || next === null || isSamePage(asked, next)) return null;
  return isSignInPath(next.pathname) && !isSignInPath(asked.pathname) ? sentTo(asked, next, false) : null;
}

function sentTo(asked: URL, final: URL, asksForPassword: boolean): string {
  const where = asked.host === final.host ? final.pathname : `${final.host}${final.pathname}`;
  const why = asksForPassword ? "which asks for a password" : "which looks like a sign-in";
  return `the site redirected to ${where.slice(0, 200)}, ${why}`;
}

/** Other schemes, `www.`, another case, and a slash at the end make no other page. */
function isSamePage(asked: URL, final: URL): boolean {
  const pathOf = ({ pathname }: URL) => pathname.toLowerCase().replace(/\/+$/, "");
  const hostOf = ({ hostname }: URL) => hostname.replace(/^www\./, "");
  return hostOf(asked) === hostOf(final) && pathOf(asked) === pathOf(final);
}

function looksLikeSignIn(asked: URL, final: URL, html: string, asksForPassword: boolean): boolean {
  const outline = outlineOf(html);
  const isTitled = TITLE.test(outline.title);
  const leadsBack = returnsTo(asked, final);
  if (!asksForPassword) return isTitled && leadsBack;
  return (
    isTitled ||
    leadsBack ||
    segmentsOf(final.pathname).some((part) => POSSIBLE.test(part)) ||
    (!outline.long && outline.textLength < LITTLE_TEXT)
  );
}

/** `?next=/account/orders`: the sign-in leads back to the page. */
function returnsTo({ pathname }: URL, { searchParams }: URL): boolean {
  return pathname.length > 1 && [...searchParams.values()].some((value) => value.includes(pathname));
}
