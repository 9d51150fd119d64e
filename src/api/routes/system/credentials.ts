import {
  checkSession,
  createSession,
  deleteSession,
  listSessions,
  SECRETS,
  type SessionInput,
  showSession,
} from "../../../orchestrator/sessions.ts";
import type { ApiDeps } from "../../deps.ts";
import { IdempotencyHeaders, idempotencyMarkOf } from "../../idempotency.ts";
import type { ApiInstance } from "../../instance.ts";
import { cursorFilter, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { nullable, oneOf, problemAnswer, strict, Time, Uuid } from "../../schemas.ts";
import { Headers } from "../pages/header-schemas.ts";
import { CookieForms, CookieList } from "../jobs/job-schemas.ts";
import { Type } from "../../type.ts";

export const Session = strict({
  id: Uuid,
  name: nullable(Type.String()),
  origin: Type.String(),
  holds: Type.Array(oneOf(SECRETS)),
  check_url: nullable(Type.String()),
  health: nullable(
    strict({
      status: oneOf(["healthy", "rejected", "unreachable"]),
      message: Type.String(),
      checked_at: Time,
    }),
  ),
  created_at: Time,
  last_used_at: nullable({ ...Time, description: "when it was last used for a request, to the minute" }),
  jobs: Type.Array(strict({ id: Uuid, name: nullable(Type.String()), target_url: nullable(Type.String()) }), {
    description: "saved jobs that use it",
  }),
});

const Body = strict({
  origin: Type.String({ minLength: 1, maxLength: 300, description: "such as https://example.com" }),
  name: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "unique; can be used instead of the id",
      }),
    ),
  ),
  cookies: Type.Optional(
    nullable(
      Type.Union([
        ...CookieForms,
        Type.String({
          minLength: 1,
          maxLength: 1_000_000,
          description: "as JSON, as a Netscape cookies.txt, or as a Cookie header; cookies of other sites are ignored",
        }),
      ]),
    ),
  ),
  headers: Type.Optional(Headers),
  basic: Type.Optional(
    nullable(strict({ username: Type.String({ maxLength: 1024 }), password: Type.String({ maxLength: 1024 }) })),
  ),
  storage_state: Type.Optional(
    nullable(
      strict(
        {
          cookies: Type.Optional(CookieList),
          origins: Type.Optional(
            Type.Array(
              strict({
                origin: Type.String({ maxLength: 300 }),
                localStorage: Type.Optional(
                  Type.Array(strict({ name: Type.String(), value: Type.String() }), { maxItems: 1000 }),
                ),
              }),
              { maxItems: 100 },
            ),
          ),
        },
        { description: "Playwright storage state; data of other origins is ignored" },
      ),
    ),
  ),
  check_url: Type.Optional(nullable(Type.String({ maxLength: 8192, description: "a page that requires the sign-in" }))),
});

const SessionParam = Type.String({ minLength: 1, maxLength: 200, description: "id or name" });
const Params = strict({ session_id: SessionParam });
const unknown = problemAnswer("there is no such session");

/** Sessions; their secrets are write-only. */
export function credentialRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.post(
    "/sessions",
    {
      config: { role: "admin" },
      schema: {
        summary: "Store a session, encrypted and bound to its origin",
        operationId: "createSession",
        tags: ["sessions"],
        headers: IdempotencyHeaders,
        body: Body,
        response: { 201: Session },
      },
    },
    async (request, reply) => {
      const session = await createSession(deps, request.body as SessionInput, idempotencyMarkOf(deps, request));
      return reply.code(201).header("location", `/sessions/${session.id}`).send(session);
    },
  );

  api.get(
    "/sessions",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Sessions, newest first, without their secrets",
        operationId: "listSessions",
        tags: ["sessions"],
        querystring: pageQuery({ origin: Type.Optional(Type.String({ maxLength: 300 })) }),
        response: { 200: { ...Type.Array(Session), headers: LINK_HEADER } },
      },
    },
    async (request, reply) => {
      const { limit, origin } = request.query;
      const rows = await listSessions(deps, {
        ...(origin === undefined ? {} : { origin }),
        ...cursorFilter(request.query),
        limit: limit + 1,
      });
      return sendPage(request, reply, { rows, limit, positionOf: ({ id }) => id });
    },
  );

  api.get(
    "/sessions/:session_id",
    {
      config: { role: "viewer" },
      schema: {
        summary: "One session, without its secrets",
        operationId: "getSession",
        tags: ["sessions"],
        params: Params,
        response: { 200: Session, 404: unknown },
      },
    },
    (request) => showSession(deps, request.params.session_id),
  );

  api.delete(
    "/sessions/:session_id",
    {
      config: { role: "admin" },
      schema: {
        summary: "Delete a session",
        operationId: "deleteSession",
        tags: ["sessions"],
        params: Params,
        response: { 204: Type.Null(), 404: unknown },
      },
    },
    async (request, reply) => {
      await deleteSession(deps, request.params.session_id);
      return reply.code(204).send(null);
    },
  );

  api.post(
    "/sessions/:session_id/check",
    {
      config: { role: "admin", audit: "session.checked" },
      schema: {
        summary: "Check whether the site still accepts the session",
        operationId: "checkSession",
        tags: ["sessions"],
        params: Params,
        response: {
          200: Session,
          404: unknown,
          409: problemAnswer(
            "the session cannot be decrypted with the current key, or its site is paused or rate limited",
          ),
        },
      },
    },
    (request) => checkSession(deps, request.params.session_id),
  );
}
