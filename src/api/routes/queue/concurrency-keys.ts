import { configuredLimit } from "../../../domain/lane/lane.ts";
import { QUEUE_ITEM_LIMITS } from "../../../domain/lane/queue-item.ts";
import { resolverLimit, setResolverLimit } from "../../../orchestrator/queue/resolvers.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { nullable, strict } from "../../schemas.ts";
import { Type } from "../../type.ts";

/** Deprecated alias of `concurrency_key`: still accepted and returned. */
export const CONCURRENCY_KEY_ALIAS = { deprecated: true, description: "alias of concurrency_key" };

const Limit = nullable(
  Type.Integer({ minimum: 1, maximum: 1_000_000, description: "maximum items in flight; null: the configured value" }),
);

const ConcurrencyKey = strict({
  concurrency_key: Type.String(),
  resolver: Type.String(CONCURRENCY_KEY_ALIAS),
  limit: nullable(Type.Integer({ minimum: 1, description: "the effective limit; null: none" })),
  configured: nullable(Type.Integer({ minimum: 1, description: "APP_MAX_PER_CONCURRENCY_KEY" })),
});

const Params = strict({
  name: Type.String({
    minLength: 1,
    maxLength: QUEUE_ITEM_LIMITS.nameLength,
    pattern: "^[A-Za-z0-9_.:-]+$",
    description: "the concurrency key of the items",
  }),
});

const PATHS = [
  { path: "/queue/concurrency-keys/:name", noun: "ConcurrencyKey", about: {} },
  {
    path: "/queue/resolvers/:name",
    noun: "Resolver",
    about: { deprecated: true, description: "Alias of `/queue/concurrency-keys/{name}`." },
  },
] as const;

/** Limits shared by items of several sites, such as an API quota. */
export function concurrencyKeyRoutes(api: ApiInstance, deps: ApiDeps): void {
  const { maxPerResolver } = deps.settings;
  const view = async (name: string) => {
    const configured = configuredLimit(maxPerResolver, name);
    const limit = (await resolverLimit(deps, name)) ?? configured;
    return { concurrency_key: name, resolver: name, limit, configured };
  };

  for (const { path, noun, about } of PATHS) {
    api.get(
      path,
      {
        config: { role: "viewer" },
        schema: {
          summary: "The concurrency limit of a concurrency key",
          ...about,
          operationId: `get${noun}`,
          tags: ["queue"],
          params: Params,
          response: { 200: ConcurrencyKey },
        },
      },
      (request) => view(request.params.name),
    );

    api.put(
      path,
      {
        config: { role: "admin" },
        schema: {
          summary: "Change the concurrency limit of a concurrency key; also applies to running work",
          ...about,
          operationId: `set${noun}`,
          tags: ["queue"],
          params: Params,
          body: strict({ limit: Limit }),
          response: { 200: ConcurrencyKey },
        },
      },
      async (request) => {
        await setResolverLimit(deps, request.params.name, request.body.limit);
        return view(request.params.name);
      },
    );
  }
}
