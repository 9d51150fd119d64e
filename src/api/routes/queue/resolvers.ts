import { configuredLimit } from "../../../domain/lane/lane.ts";
import { QUEUE_ITEM_LIMITS } from "../../../domain/lane/queue-item.ts";
import { resolverLimit, setResolverLimit } from "../../../orchestrator/queue/resolvers.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { nullable, strict } from "../../schemas.ts";
import { Type } from "../../type.ts";

const Limit = nullable(
  Type.Integer({ minimum: 1, maximum: 1_000_000, description: "items at work at once; null: no limit of its own" }),
);

const Resolver = strict({
  resolver: Type.String(),
  limit: nullable(Type.Integer({ minimum: 1, description: "what is in force; null: none" })),
  configured: nullable(Type.Integer({ minimum: 1, description: "APP_MAX_PER_RESOLVER" })),
});

const Params = strict({
  name: Type.String({
    minLength: 1,
    maxLength: QUEUE_ITEM_LIMITS.nameLength,
    pattern: "^[A-Za-z0-9_.:-]+$",
    description: "the resolver that items name",
  }),
});

/** Limits that items of several sites share, such as the quota of an API. */
export function resolverRoutes(api: ApiInstance, deps: ApiDeps): void {
  const { maxPerResolver } = deps.settings;
  const view = async (resolver: string) => {
    const configured = configuredLimit(maxPerResolver, resolver);
    return { resolver, limit: (await resolverLimit(deps, resolver)) ?? configured, configured };
  };

  api.get(
    "/queue/resolvers/:name",
    {
      schema: {
        summary: "How many items of a resolver may be at work at once",
        operationId: "getResolver",
        tags: ["queue"],
        params: Params,
        response: { 200: Resolver },
      },
    },
    (request) => view(request.params.name),
  );

  api.put(
    "/queue/resolvers/:name",
    {
      schema: {
        summary: "Change it, on running work too; null goes back to the configured limit",
        operationId: "setResolver",
        tags: ["queue"],
        params: Params,
        body: strict({ limit: Limit }),
        response: { 200: Resolver },
      },
    },
    async (request) => {
      await setResolverLimit(deps, request.params.name, request.body.limit);
      return view(request.params.name);
    },
  );
}
