import { CALLBACK_PATH, type IdentityProvider, SignInFailure } from "../../../domain/access/identity-provider.ts";
import { noRole } from "../../access/forwarded-person.ts";
import { personCookie, recordLogin } from "../../access/login-cookie.ts";
import { failedCookie, notStarted, ownPath, SIGN_IN_PATH, startedCookie, startedSignIn } from "../../access/sign-in.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance, ApiReply, ApiRequest } from "../../instance.ts";
import { ApiProblem } from "../../problems.ts";

const NOT_STARTED = "This sign-in was not started in this browser, or too long ago. Try again.";
const LONGEST_QUERY = 8000;
const LONGEST_LIST = 500;

/** Where a browser is led, and what it keeps. */
interface Lead {
  url: string;
  cookies: string[];
}

/** Sign-in through the provider: two pages that only lead on. */
export function singleSignOnRoutes(api: ApiInstance, deps: ApiDeps): void {
  const hidden = { config: { open: true }, schema: { hide: true } } as const;

  api.get(SIGN_IN_PATH, hidden, async (request, reply) => {
    const provider = providerOf(deps);
    const lead = await begin(request, provider).catch((error: unknown) => failed(request, provider, error));
    return send(reply, lead);
  });

  api.get(CALLBACK_PATH, hidden, async (request, reply) => {
    const provider = providerOf(deps);
    const lead = await complete(request, provider).catch(async (error: unknown) => {
      // Codes could be guessed as fast as the network allows, each with a call to the provider.
      if (error instanceof SignInFailure) await api.wrongLogins.slowDown(request.ip);
      return failed(request, provider, error);
    });
    return send(reply, lead);
  });

  async function begin(request: ApiRequest, provider: IdentityProvider): Promise<Lead> {
    const { to } = request.query as { to?: unknown };
    const { url, checks } = await provider.begin();
    const started = { checks, to: ownPath(typeof to === "string" ? to : undefined) };
    return { url, cookies: [startedCookie(request, deps, provider, started)] };
  }

  async function complete(request: ApiRequest, provider: IdentityProvider): Promise<Lead> {
    const started = startedSignIn(request, deps, provider);
    const [, query = ""] = request.url.split("?", 2);
    if (started === null || query.length > LONGEST_QUERY) throw new SignInFailure(NOT_STARTED, "no sign-in is open");
    const person = await provider.complete(query, started.checks);
    const session = personCookie(request, deps, person);
    if (session === null) {
      const groups = person.groups.length === 0 ? "the provider named none" : person.groups.join(", ");
      const sentence = `${capital(noRole(person.name))}. Ask an admin of this server.`;
      throw new SignInFailure(sentence, `groups: ${groups.slice(0, LONGEST_LIST)}`);
    }
    await recordLogin(request, deps, session.principal);
    return { url: `${provider.publicUrl}${started.to}`, cookies: [session.cookie, notStarted(request, provider)] };
  }

  /** The sign-in page tells the person. */
  function failed(request: ApiRequest, provider: IdentityProvider, error: unknown): Lead {
    if (!(error instanceof SignInFailure)) throw error;
    deps.log.warn("a sign-in through the provider failed", { error: error.message, details: error.details });
    return {
      url: `${provider.publicUrl}/login`,
      cookies: [failedCookie(request, deps, error.message), notStarted(request, provider)],
    };
  }
}

const send = (reply: ApiReply, { url, cookies }: Lead) =>
  reply.code(302).header("location", url).header("set-cookie", cookies).send(null);

function providerOf({ singleSignOn }: ApiDeps): IdentityProvider {
  const provider = singleSignOn?.provider ?? null;
  if (provider !== null) return provider;
  throw new ApiProblem("route_not_found", "no provider is configured: APP_OIDC_ISSUER is not set");
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
