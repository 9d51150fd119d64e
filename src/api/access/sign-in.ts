/** What a browser keeps while somebody signs in through the provider: sealed, so that nobody else can write it. */
import { isOrbError } from "../../base/errors.ts";
import type { IdentityProvider, SignInChecks } from "../../domain/access/identity-provider.ts";
import type { ApiDeps } from "../deps.ts";
import type { ApiRequest } from "../instance.ts";
import { cookieFor, cookieOf } from "./cookies.ts";

/** Over TLS no neighbour in the domain can set it: browsers keep `__Host-` for the host itself. */
const startedName = ({ publicUrl }: IdentityProvider) =>
  `${publicUrl.startsWith("https:") ? "__Host-" : ""}orb_sign_in`;
/** What they are sealed for. */
const STARTED = "orb_sign_in";
const FAILED = "orb_sign_in_error";
/** Passwords and second factors take time. */
const SIGN_IN_SECONDS = 900;
const FAILED_SECONDS = 300;
const LONGEST_SENTENCE = 400;

export const SIGN_IN_PATH = "/session/oidc";

export const signInUrl = ({ publicUrl }: IdentityProvider) => `${publicUrl}${SIGN_IN_PATH}`;

interface StartedSignIn {
  checks: SignInChecks;
  /** The path that the person wanted. */
  to: string;
}

type SealDeps = Pick<ApiDeps, "seal" | "clock">;

/** Lax: the provider, another site, sends the person back. */
export function startedCookie(
  request: ApiRequest,
  deps: SealDeps,
  provider: IdentityProvider,
  started: StartedSignIn,
): string {
  const value = close(deps, STARTED, started, SIGN_IN_SECONDS);
  const { publicUrl } = provider;
  return cookieFor(request, startedName(provider), value, { seconds: SIGN_IN_SECONDS, sameSite: "Lax", publicUrl });
}

export function notStarted(request: ApiRequest, provider: IdentityProvider): string {
  const { publicUrl } = provider;
  return cookieFor(request, startedName(provider), "", { seconds: 0, sameSite: "Lax", publicUrl });
}

/** Null: none was started in this browser, or too long ago. */
export function startedSignIn(request: ApiRequest, deps: SealDeps, provider: IdentityProvider): StartedSignIn | null {
  return open(deps, STARTED, cookieOf(request, startedName(provider))) as StartedSignIn | null;
}

export const failedCookie = (request: ApiRequest, deps: SealDeps, sentence: string) =>
  cookieFor(request, FAILED, close(deps, FAILED, sentence.slice(0, LONGEST_SENTENCE), FAILED_SECONDS), {
    seconds: FAILED_SECONDS,
  });

export const noSignInError = (request: ApiRequest) => cookieFor(request, FAILED, "", { seconds: 0 });

export function signInErrorOf(request: ApiRequest, deps: SealDeps): string | null {
  return open(deps, FAILED, cookieOf(request, FAILED)) as string | null;
}

/** A path of this server; anything else leads to its first page. */
export function ownPath(text: string | undefined): string {
  return text !== undefined && text.length <= 2000 && /^\/(?![/\\])[\x21-\x7e]*$/.test(text) ? text : "/";
}

interface Sealed {
  value: unknown;
  until: number;
}

function close({ seal, clock }: SealDeps, name: string, value: unknown, seconds: number): string {
  const sealed: Sealed = { value, until: clock.now() + seconds * 1000 };
  return Buffer.from(seal.close(sealed, `cookie ${name}`)).toString("base64url");
}

function open({ seal, clock }: SealDeps, name: string, text: string): unknown {
  if (!/^[\w-]{40,4000}$/.test(text)) return null;
  try {
    const { value, until } = seal.open(Buffer.from(text, "base64url"), `cookie ${name}`) as Sealed;
    return clock.now() < until ? value : null;
  } catch (error) {
    if (isOrbError(error, "secret_key_wrong")) return null;
    throw error;
  }
}
