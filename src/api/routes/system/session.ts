import { endedCookie, endLogin, principalBySecret, proofOf, sessionCookie } from "../../auth.ts";
import { asCaller } from "../../../domain/access/caller.ts";
import { isKeySecret } from "../../../domain/access/key-secret.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { ApiProblem } from "../../problems.ts";
import { problemAnswer, strict } from "../../schemas.ts";
import { Type } from "../../type.ts";

/** Login and logout for browsers: a cookie, so that the page need not keep the token. */
export function sessionRoutes(api: ApiInstance, deps: ApiDeps): void {
  const { token } = deps.settings;

  api.get(
    "/session",
    {
      config: { open: true },
      schema: {
        summary: "Whether a token is required, and whether the caller is logged in",
        operationId: "getLogin",
        tags: ["server"],
        security: [],
        response: { 200: strict({ token_needed: Type.Boolean(), logged_in: Type.Boolean() }) },
      },
    },
    async (request) => {
      const proof = await proofOf(request, deps);
      // Otherwise tokens could be guessed here as fast as the network allows.
      if (proof === null && request.headers.authorization !== undefined) await api.wrongLogins.slowDown(request.ip);
      return { token_needed: token !== null, logged_in: proof !== null };
    },
  );

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
        throw new ApiProblem("unauthorized", "the token is wrong");
      }
      api.rateLimits.take(found.principal);
      const { kind, id, name, limits } = found.principal;
      const caller = { actor: { kind, id, name }, limits, ip: request.ip, requestId: request.id };
      await asCaller(caller, () => deps.store.recordAudit("login.succeeded", { kind: "login", id }));
      const cookie = await sessionCookie(request, deps, found.key);
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
