import { beginLogin, endedCookie, endLogin } from "../../access/login-cookie.ts";
import { noSignInError, signInErrorOf, signInUrl } from "../../access/sign-in.ts";
import { principalBySecret, type Proof, proofOf } from "../../auth.ts";
import { isKeySecret } from "../../../domain/access/key-secret.ts";
import { ROLES } from "../../../domain/access/roles.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance, ApiRequest } from "../../instance.ts";
import { ApiProblem } from "../../problems.ts";
import { nullable, oneOf, problemAnswer, strict } from "../../schemas.ts";
import { Type } from "../../type.ts";

const Login = strict({
  token_needed: Type.Boolean(),
  logged_in: Type.Boolean(),
  caller: nullable(
    strict({ kind: oneOf(["key", "person", "token", "local"]), name: Type.String(), role: oneOf(ROLES) }),
  ),
  can_log_out: Type.Boolean({ description: "whether a cookie logs the caller in" }),
  provider: nullable(
    strict({ name: Type.String(), url: Type.String({ description: "opened in a browser, it starts the sign-in" }) }),
  ),
  sign_in_error: nullable(
    Type.String({ description: "why the last sign-in of this browser through the provider failed; told once" }),
  ),
});

/** Login and logout for browsers: a cookie, so that the page need not keep the token. */
export function sessionRoutes(api: ApiInstance, deps: ApiDeps): void {
  const { token } = deps.settings;

  api.get(
    "/session",
    {
      config: { open: true },
      schema: {
        summary: "Whether a token is required, whether the caller is logged in and as whom, and how to sign in",
        operationId: "getLogin",
        tags: ["server"],
        security: [],
        response: { 200: Login },
      },
    },
    async (request, reply) => {
      const { proof, error } = await whoCalls(request);
      // Otherwise tokens could be guessed here as fast as the network allows. Who has no role has waited already.
      const isRefused = proof === null && error === null && request.headers.authorization !== undefined;
      if (isRefused) await api.wrongLogins.slowDown(request.ip);
      const failed = signInErrorOf(request, deps);
      if (failed !== null) reply.header("set-cookie", noSignInError(request));
      const { kind, name, role } = proof?.principal ?? {};
      const provider = deps.singleSignOn?.provider ?? null;
      return {
        token_needed: token !== null,
        logged_in: proof !== null,
        caller: kind === undefined || name === undefined || role === undefined ? null : { kind, name, role },
        can_log_out: proof?.by === "cookie",
        provider: provider === null ? null : { name: provider.name, url: signInUrl(provider) },
        sign_in_error: failed ?? error,
      };
    },
  );

  /** Somebody whom a proxy names, and who has no role, learns why. */
  async function whoCalls(request: ApiRequest): Promise<{ proof: Proof | null; error: string | null }> {
    try {
      return { proof: await proofOf(request, deps), error: null };
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.code !== "role_missing") throw error;
      return { proof: null, error: `${error.message}. Ask an admin of this server.` };
    }
  }

  api.post(
    "/session",
    {
      config: { open: true },
      schema: {
        summary: "Log in with a key or the token; sets a cookie",
        operationId: "logIn",
        tags: ["server"],
        security: [],
        body: strict({ token: Type.String({ minLength: 1, maxLength: 1024 }) }),
        response: {
          204: Type.Null({ description: "logged in" }),
          401: problemAnswer("the token is wrong"),
          429: problemAnswer("too many wrong tokens"),
        },
      },
    },
    async (request, reply) => {
      // Without a configured token there is nothing to authenticate.
      if (token === null && !isKeySecret(request.body.token)) return reply.code(204).send(null);
      const found = await principalBySecret(request, deps, request.body.token);
      if (found === null) {
        await api.wrongLogins.slowDown(request.ip);
        throw new ApiProblem("unauthorized", (await api.keys.whyRefused(request.body.token)) ?? "the token is wrong");
      }
      api.rateLimits.take(found.principal);
      const cookie = await beginLogin(request, deps, found);
      return reply.code(204).header("set-cookie", cookie).send(null);
    },
  );

  api.delete(
    "/session",
    {
      config: { open: true },
      schema: {
        summary: "Log out: the cookie becomes invalid",
        operationId: "logOut",
        tags: ["server"],
        security: [],
        response: { 204: Type.Null({ description: "logged out" }) },
      },
    },
    async (request, reply) => {
      await endLogin(request, deps);
      return reply.code(204).header("set-cookie", endedCookie(request)).send(null);
    },
  );
}
