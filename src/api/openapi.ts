/** OpenAPI description, generated from the schemas that validate requests, so that the two cannot diverge. */
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { RouteOptions } from "fastify";
import type { TSchema } from "typebox";
import { isLimitable } from "./access/declared-roles.ts";
import { tooLarge } from "./body.ts";
import type { ApiDeps, ApiLimits } from "./deps.ts";
import { type ApiInstance, UNSAFE_METHODS } from "./instance.ts";
import { HTTP_PROBLEMS } from "./problems.ts";
import { problemAnswer } from "./schemas.ts";
import { Type } from "./type.ts";

export const TAGS = {
  jobs: "saved pages, crawls and workflows that can be run repeatedly",
  runs: "single executions, with state, tasks and controls",
  events: "the event logs of runs, as lists and as streams",
  results: "extracted records and stored files",
  crawls: "start URLs and the links that lead from them",
  extract: "extraction rules, tested on a page",
  search: "web search through the search server of the operator",
  live: "overview of everything, also as a stream",
  queue: "items to download or to pass to your own code; each is completed once",
  workflows:
    "graphs of steps that depend on each other; each step completes once, and a failed workflow can be recovered",
  sessions: "encrypted cookies, headers and passwords, each for one origin",
  proxies: "the proxy pool and the state of each proxy",
  sites: "state and limits of each site",
  workers: "the processes that execute tasks",
  schedules: "jobs that start automatically",
  notifications: "channels that are notified of failures and changes, and what they were sent",
  access: "API keys with roles and limits, and the log of who changed what",
  server: "the server itself: health, metrics, login, this description",
} as const;

type Responses = Record<string, unknown>;

/** Responses that every route shares: routes declare only their own. */
function frameAnswers(route: RouteOptions, { bodyBytes }: ApiLimits): Responses {
  const methods = [route.method].flat();
  const unsafe = methods.some((method) => UNSAFE_METHODS.has(method));
  const schema = route.schema ?? {};
  const checked = schema.params !== undefined || schema.querystring !== undefined || unsafe;
  const open = route.config?.open === true;
  return {
    400: problemAnswer("the request cannot be read: url_malformed, body_malformed, request_malformed"),
    ...(open
      ? {}
      : {
          401: problemAnswer("the token is missing or wrong"),
          403: problemAnswer("the role or the limits of the key do not allow it, or another web site calls"),
          429: problemAnswer("the key has made too many requests, or too many wrong tokens were sent"),
        }),
    408: problemAnswer("the request took too long to arrive"),
    ...(unsafe ? { 413: problemAnswer(tooLarge(route.bodyLimit ?? bodyBytes)) } : {}),
    414: problemAnswer("the URL is too long"),
    ...(unsafe ? { 415: problemAnswer("the body is not declared as application/json") } : {}),
    421: problemAnswer("the server does not accept this Host header"),
    ...(checked ? { 422: problemAnswer("a value is invalid; errors has the field") } : {}),
    500: problemAnswer(HTTP_PROBLEMS.internal.title),
    503: problemAnswer("try again later: the database is busy, or the server is stopping"),
    ...(unsafe ? { 507: problemAnswer("the disk is full") } : {}),
  };
}

/** Must be called before any route is added. */
export async function describeApi(api: ApiInstance, { settings }: ApiDeps, limits: ApiLimits): Promise<void> {
  api.addHook("onRoute", (route) => {
    if (route.schema?.hide === true) return;
    if (route.config?.role !== undefined)
      Object.assign(route.schema ?? {}, {
        "x-orb-role": route.config.role,
        "x-orb-limited": isLimitable(route.url, route.config.limited),
      });
    const declared = (route.schema?.response ?? {}) as Responses;
    route.schema = { ...route.schema, response: { ...frameAnswers(route, limits), ...declared } };
  });
  await api.register(swagger, {
    refResolver: { buildLocalReference: ({ $id }, _base, _fragment, index) => String($id ?? `schema${index}`) },
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Orbweaver",
        version: settings.version,
        description: "Errors are RFC 9457 problems with a stable code. Lists are JSON arrays with a Link header.",
      },
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          token: { type: "http", scheme: "bearer", description: "an API key, or the value of APP_API_TOKEN" },
          session: { type: "apiKey", in: "cookie", name: "orb_session", description: "from POST /session" },
        },
      },
      ...(settings.token === null ? {} : { security: [{ token: [] }, { session: [] }] }),
    },
  });
  // The interactive reference; its files are part of the package, nothing is loaded from elsewhere.
  await api.register(async (pages) => {
    pages.addHook("onRoute", (route) => {
      route.config = { ...route.config, page: true, role: "viewer", limited: true };
    });
    await pages.register(swaggerUi, {
      routePrefix: "/docs",
      uiConfig: { deepLinking: true, docExpansion: "list", validatorUrl: null },
      theme: { title: "Orbweaver API" },
    });
  });
  serveDescription(api);
}

function serveDescription(api: ApiInstance): void {
  api.get(
    "/openapi.json",
    {
      config: { role: "viewer", limited: true },
      schema: {
        summary: "This description, as OpenAPI 3.1",
        operationId: "getOpenapi",
        tags: ["server"],
        response: { 200: Type.Unsafe<object>({ type: "object" } as TSchema) },
      },
    },
    async () => api.swagger(),
  );
}
