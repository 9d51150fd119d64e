import { ROLES } from "../../../domain/access/roles.ts";
import { ACTOR_KINDS } from "../../../domain/access/caller.ts";
import { changeKey, createKey, listKeys, revokeKey, showKey } from "../../../orchestrator/access/keys.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { cursorFilter, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { IdParam, nullable, oneOf, problemAnswer, strict, Time, Uuid } from "../../schemas.ts";
import { Type } from "../../type.ts";

export const ActorSchema = strict(
  {
    kind: oneOf(ACTOR_KINDS),
    id: nullable(
      Type.String({
        description: "of the key, or of the job of the schedule or repair; of a person, issuer and subject",
      }),
    ),
    name: Type.String(),
  },
  { description: "who did it" },
);

const list = (description: string) =>
  nullable(Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { minItems: 1, maxItems: 200, description }));
const RequestsPerMinute = nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }));

const fields = {
  jobs: list("limits it to these jobs, by id; null: all"),
  sites: list("limits it to these sites; null: all"),
  tags: list("limits it to jobs with one of these tags; null: all"),
  requests_per_minute: RequestsPerMinute,
};
const Name = Type.String({ minLength: 1, maxLength: 200 });
const RoleSchema = oneOf(ROLES, {
  description: "viewer reads, operator also starts and changes, admin does everything",
});

const Key = {
  id: Uuid,
  name: Type.String(),
  prefix: Type.String({ description: "the beginning of the key" }),
  role: RoleSchema,
  ...fields,
  status: oneOf(["active", "expired", "revoked"]),
  created_at: Time,
  created_by: nullable(ActorSchema),
  expires_at: nullable(Time),
  last_used_at: nullable({ ...Time, description: "to the minute" }),
  revoked_at: nullable(Time),
};

const Body = strict({
  name: Name,
  role: RoleSchema,
  jobs: Type.Optional(fields.jobs),
  sites: Type.Optional(fields.sites),
  tags: Type.Optional(fields.tags),
  requests_per_minute: Type.Optional(RequestsPerMinute),
  expires_at: Type.Optional(nullable(Time)),
});

const Params = strict({ key_id: IdParam });
const unknown = problemAnswer("there is no such key");

/** API keys: named, with a role and limits. A key is shown once, when it is created. */
export function keyRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.post(
    "/keys",
    {
      config: { role: "admin" },
      schema: {
        summary: "Create an API key; the response is the only one that contains it",
        operationId: "createKey",
        tags: ["access"],
        body: Body,
        response: { 201: strict({ ...Key, key: Type.String({ description: "the key itself" }) }) },
      },
    },
    async (request, reply) => {
      const created = await createKey(deps, request.body);
      return reply.code(201).header("location", `/keys/${created.id}`).send(created);
    },
  );

  api.get(
    "/keys",
    {
      config: { role: "admin" },
      schema: {
        summary: "API keys, newest first",
        operationId: "listKeys",
        tags: ["access"],
        querystring: pageQuery({
          revoked: Type.Optional(Type.Boolean({ description: "only revoked ones, or only others" })),
        }),
        response: { 200: { ...Type.Array(strict(Key)), headers: LINK_HEADER } },
      },
    },
    async (request, reply) => {
      const { limit, revoked } = request.query;
      const filter = revoked === undefined ? {} : { revoked };
      const rows = await listKeys(deps, { ...filter, ...cursorFilter(request.query), limit: limit + 1 });
      return sendPage(request, reply, { rows, limit, positionOf: ({ id }) => id });
    },
  );

  api.get(
    "/keys/me",
    {
      config: { role: "viewer", limited: true },
      schema: {
        summary: "Who calls: the key or person, and their rights",
        operationId: "getOwnKey",
        tags: ["access"],
        response: {
          200: strict({
            kind: oneOf(["key", "person", "token", "local"], {
              description:
                "person: signed in by a provider or a proxy; token: APP_API_TOKEN; local: no token is set, so everybody on this machine is an admin",
            }),
            id: nullable(Type.String({ description: "of the key, or issuer and subject of the person" })),
            name: Type.String(),
            role: RoleSchema,
            ...fields,
            expires_at: nullable({ ...Time, description: "of the key, or of the session of the person" }),
          }),
        },
      },
    },
    async ({ principal, session }) => {
      const { kind = "local", id = null, name = "local", role = "viewer", limits = null } = principal ?? {};
      const key = id === null || kind !== "key" ? null : await deps.store.key(id);
      // That of a proxy is not ours to tell.
      const endsAt = (session === null || session.loginId === null ? null : session.endsAt) ?? key?.expiresAt ?? null;
      const listOf = (values: readonly string[] | null | undefined) => (values ? [...values] : null);
      return {
        kind,
        id,
        name,
        role,
        jobs: listOf(limits?.jobs),
        sites: listOf(limits?.sites),
        tags: listOf(limits?.tags),
        requests_per_minute: principal?.requestsPerMinute ?? null,
        expires_at: endsAt === null ? null : new Date(endsAt).toISOString(),
      };
    },
  );

  api.get(
    "/keys/:key_id",
    {
      config: { role: "admin" },
      schema: {
        summary: "One API key",
        operationId: "getKey",
        tags: ["access"],
        params: Params,
        response: { 200: strict(Key), 404: unknown },
      },
    },
    (request) => showKey(deps, request.params.key_id),
  );

  api.patch(
    "/keys/:key_id",
    {
      config: { role: "admin" },
      schema: {
        summary: "Change the name, role, limits or expiry of an API key; holds within a second",
        operationId: "changeKey",
        tags: ["access"],
        params: Params,
        body: Type.Partial(Body, { additionalProperties: false }),
        response: { 200: strict(Key), 404: unknown, 409: problemAnswer("the key is revoked") },
      },
    },
    (request) => changeKey(deps, request.params.key_id, request.body).finally(() => api.keys.forget()),
  );

  api.delete(
    "/keys/:key_id",
    {
      config: { role: "admin" },
      schema: {
        summary: "Revoke an API key for ever, on every machine within a second; open streams end. It stays in the list",
        operationId: "revokeKey",
        tags: ["access"],
        params: Params,
        response: { 200: strict(Key), 404: unknown },
      },
    },
    (request) => revokeKey(deps, request.params.key_id).finally(() => api.keys.forget()),
  );
}
