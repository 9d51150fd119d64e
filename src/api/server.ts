/** The HTTP API: registers hooks and routes, listens, and shuts down gracefully. */
import type { AddressInfo } from "node:net";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify, { type FastifyServerOptions, type InjectOptions, type LightMyRequestResponse } from "fastify";
import { messageOf, OrbError, systemCode } from "../base/errors.ts";
import { TurnQueue } from "../base/process/event-loop.ts";
import { urlOf } from "../base/server-url.ts";
import { withCallersTraceparent } from "../base/tracing.ts";
import { isLoopback } from "../config/loopback.ts";
import { answerBrokenRequest, answerProblems, sendProblem } from "./answers.ts";
import { addAccess, followCaller } from "./access/caller-context.ts";
import { collectRoles, type DeclaredRoute } from "./access/declared-roles.ts";
import type { Delegation } from "./access/delegations.ts";
import { requireProof } from "./auth.ts";
import { readBodies } from "./body.ts";
import { Connections } from "./connections.ts";
import { addPageConstraint, serveDashboard } from "./dashboard.ts";
import { type ApiDeps, limitsOf } from "./deps.ts";
import type { ApiInstance, ApiReply, ApiRequest } from "./instance.ts";
import { ApiProblem } from "./problems.ts";
import { withRoutesAt } from "./routes/on-demand.ts";
import { addRoutes, type Routes } from "./routes/registry.ts";
import { ProblemSchema } from "./schemas.ts";
import { guardRequests, setSecurityHeaders } from "./security.ts";
import { acceptShortIds } from "./short-ids.ts";
import { OpenStreams } from "./sse.ts";
import { acceptUpgrades } from "./upgrades.ts";
import { createValidatorCompiler } from "./validation.ts";
import { WrongLogins } from "./wrong-logins.ts";

export interface Api extends AsyncDisposable {
  /** Starts listening and returns the address. */
  listen(): Promise<{ url: string; port: number }>;
  /** A call from inside the process: through everything but the network, with the token if there is one. */
  inject(call: InjectOptions): Promise<LightMyRequestResponse>;
  /** Such calls with the rights of a caller. */
  for(delegation: Delegation): Pick<Api, "inject"> & { end(): void };
  /** Every route with the role that it needs. */
  readonly routes: readonly DeclaredRoute[];
  /** Stops accepting, ends event streams, lets running requests finish within the grace period. */
  close(): Promise<void>;
}

/**
 * `more` are additional routes of the composition root. Without `observed` there is no OpenAPI description and no
 * metrics: a command that makes one call does not need to load them. `wants`: only the routes at some paths.
 */
export async function createApi(
  deps: ApiDeps,
  more: readonly Routes[] = [],
  { observed = true, wants }: { observed?: boolean; wants?: (url: string) => boolean } = {},
): Promise<Api> {
  const { settings } = deps;
  requireTokenOrLoopback(settings.host, settings.token);
  requireTokenForPeople(deps);
  const limits = limitsOf(deps);
  const app = Fastify({
    logger: false,
    trustProxy: false,
    bodyLimit: limits.bodyBytes,
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.checkMs,
    },
    requestTimeout: limits.requestMs,
    connectionTimeout: limits.silentMs,
    keepAliveTimeout: limits.keepAliveMs,
    forceCloseConnections: "idle",
    // Plugins read files: on a slow disk the start takes longer, it does not fail.
    pluginTimeout: 0,
    // Our own hook answers with a problem.
    return503OnClosing: false,
    genReqId: () => deps.random.uuid(),
    schemaController: { compilersFactory: COMPILERS },
    // Users and proxies append a slash to paths of collections.
    routerOptions: { maxParamLength: limits.urlLength, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => {
      setSecurityHeaders(reply as unknown as ApiReply);
      sendProblem(error, request as unknown as ApiRequest, reply as unknown as ApiReply, deps);
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket),
  }).withTypeProvider<TypeBoxTypeProvider>() as ApiInstance;
  const connections = new Connections(limits, deps.clock);
  connections.watch(app);

  const streams = new OpenStreams();
  const metrics = observed ? new (await import("./metrics.ts")).ApiMetrics(() => streams.count) : null;
  const state = { port: settings.port, closing: false };
  app.decorate("openStreams", streams);
  app.decorate("wrongLogins", new WrongLogins(deps.clock));
  addAccess(app, deps);
  acceptUpgrades(app, deps);
  collectRoles(app);
  app.setValidatorCompiler(createValidatorCompiler());
  app.setSerializerCompiler(toJson);
  addPageConstraint(app);
  readBodies(app, limits);
  answerProblems(app, deps);
  metrics?.watch(app);
  guardRequests(app, deps, limits, () => state.port);
  app.addHook("onRequest", async (_request, reply) => {
    if (!state.closing) return;
    reply.header("connection", "close");
    throw new ApiProblem("stopping", "the server is stopping and accepts no more calls", {
      headers: { "retry-after": "5" },
    });
  });
  // A connection is idle after its response: during shutdown none may wait for another call.
  app.addHook("onResponse", async () => {
    if (state.closing) setImmediate(() => app.server.closeIdleConnections());
  });
  requireProof(app, deps);
  takeTurns(app, connections);
  followCaller(app, deps);
  refuseUnwantedBodies(app);
  acceptShortIds(app, deps);
  joinCallersTrace(app);
  app.addSchema(ProblemSchema);
  if (observed) await (await import("./openapi.ts")).describeApi(app, deps, limits);
  addRoutes(wants === undefined ? app : withRoutesAt(app, wants), deps, metrics);
  if (wants === undefined) serveDashboard(app);
  for (const add of more) add(app, deps);
  await app.ready();

  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= (async () => {
      state.closing = true;
      streams.close();
      const force = deps.clock.after(settings.graceMs, () => app.server.closeAllConnections(), { keepAlive: true });
      try {
        await app.close();
      } finally {
        force.cancel();
      }
    })();
    return closed;
  };
  const inject = (call: InjectOptions) =>
    app.inject({
      ...call,
      headers: {
        host: `localhost:${state.port}`,
        ...(settings.token === null ? {} : { authorization: `Bearer ${settings.token}` }),
        ...call.headers,
      },
    });
  return {
    async listen() {
      try {
        // For `localhost` the framework would open a second server on the other address, without the limits.
        const host = settings.host === "localhost" ? "127.0.0.1" : settings.host;
        // Bursts are accepted and the oldest connections closed; with the default backlog the kernel would reject them.
        await app.listen({ host, port: settings.port, backlog: BACKLOG });
      } catch (error) {
        throw listenError(error, settings.host, settings.port);
      }
      state.port = (app.server.address() as AddressInfo).port;
      return { url: urlOf(settings.host, state.port), port: state.port };
    },
    inject,
    for(delegation) {
      const { headers, end } = app.delegations.begin(delegation);
      return { inject: (call) => inject({ ...call, headers: { ...call.headers, ...headers } }), end };
    },
    routes: app.declaredRoutes,
    close,
    [Symbol.asyncDispose]: close,
  };
}

const BACKLOG = 4096;

/** Use cases return the response body as it is; tests check it against the declared schema. */
const toJson = () => (value: unknown) => JSON.stringify(value);

/** Without these, the framework would load 20 files of its own compilers, which are replaced anyway. */
const COMPILERS = {
  buildValidator: createValidatorCompiler,
  buildSerializer: () => toJson,
} as unknown as NonNullable<NonNullable<FastifyServerOptions["schemaController"]>["compilersFactory"]>;

/** The configuration is validated when it is loaded; embedders get the same check here. */
function requireTokenOrLoopback(host: string, token: string | null): void {
  if (token !== null || isLoopback(host)) return;
  throw new OrbError(
    "config_invalid",
    `APP_API_TOKEN: a token is required, because ${host} is reachable from other machines`,
    {
      hint: "Set APP_API_TOKEN to the output of `openssl rand -hex 32`, or listen on 127.0.0.1.",
      fields: [{ path: "APP_API_TOKEN", message: `expected a token, because APP_HOST=${host}` }],
    },
  );
}

/** Without a token everybody is an admin: then nobody would have to sign in. */
function requireTokenForPeople({ settings, singleSignOn }: ApiDeps): void {
  if (settings.token !== null || singleSignOn === null) return;
  const message = "expected a token, because people sign in through a provider or a proxy";
  throw new OrbError("config_invalid", `APP_API_TOKEN: ${message}`, {
    hint: "Set APP_API_TOKEN to the output of `openssl rand -hex 32`.",
    fields: [{ path: "APP_API_TOKEN", message }],
  });
}

/** Queues concurrent calls; open routes such as the health check do not wait. */
function takeTurns(app: ApiInstance, connections: Connections): void {
  const queue = new TurnQueue();
  // Before the body is read: reading and validating a thousand of them takes seconds.
  app.addHook("onRequest", async (request) => {
    if (request.routeOptions.config.open === true) return;
    connections.prove(request.raw);
    await queue.take();
  });
}

/** Runs that a call with a W3C `traceparent` starts belong to its trace. */
function joinCallersTrace(app: ApiInstance): void {
  app.addHook("preHandler", (request, _reply, next) => {
    const { traceparent } = request.headers;
    if (typeof traceparent === "string") withCallersTraceparent(traceparent, next);
    else next();
  });
}

/** Rejects a body on routes without one: the caller expected it to have an effect. */
function refuseUnwantedBodies(app: ApiInstance): void {
  app.addHook("preValidation", async (request) => {
    const { body } = request;
    if (body === undefined || body === null || request.routeOptions.schema?.body !== undefined || request.is404) return;
    const keys = typeof body === "object" ? Object.keys(body) : [""];
    if (keys.length === 0) return;
    const fields = keys.slice(0, 20).map((path) => ({ path, message: "this call accepts no body" }));
    throw new OrbError("input_invalid", "this call accepts no body", { fields });
  });
}

function listenError(error: unknown, host: string, port: number): unknown {
  const why = {
    EADDRINUSE: [`port ${port} on ${host} is in use by another program`, "APP_PORT"],
    EACCES: [`port ${port} needs more privileges`, "APP_PORT"],
    EADDRNOTAVAIL: [`${host} is not an address of this machine`, "APP_HOST"],
    ENOTFOUND: [`${host} is not the name of this machine`, "APP_HOST"],
  }[systemCode(error) ?? ""];
  if (why === undefined) return error;
  const [message = messageOf(error), path = ""] = why;
  const hint =
    path === "APP_PORT"
      ? "Choose another with --port or APP_PORT; --port 0 (npm start -- --port 0) uses any free port."
      : "Choose another with --host or APP_HOST.";
  return new OrbError("config_invalid", message, { cause: error, hint, fields: [{ path, message }] });
}
