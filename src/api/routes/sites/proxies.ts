import { PROXY_STATES } from "../../../domain/proxy/proxy-score.ts";
import { UPSTREAM_SCHEMES } from "../../../domain/proxy/upstream.ts";
import { importProxies, importProxyList, MOST_AT_ONCE } from "../../../orchestrator/proxies/import.ts";
import { refreshProxies, showRefresh } from "../../../orchestrator/proxies/refresh.ts";
import { disableProxy, listProxies, removeProxy, showProxy } from "../../../orchestrator/proxies/view.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { cursorFilter, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { Count, IdParam, nullable, oneOf, problemAnswer, strict, Time, Uuid } from "../../schemas.ts";
import { Type } from "../../type.ts";

const text = nullable(Type.String());

const Proxy = strict({
  id: Uuid,
  proxy: Type.String({ description: "*** replaces the user name and password" }),
  scheme: oneOf(UPSTREAM_SCHEMES),
  host: Type.String(),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  has_credentials: Type.Boolean(),
  state: oneOf(PROXY_STATES),
  score: Type.Number({ minimum: 0, maximum: 1, description: "success score; recent requests count most" }),
  latency_ms: nullable({ ...Count, description: "typical response time through it" }),
  successes: Count,
  failures: Count,
  blocks: { ...Count, description: "responses in which a site blocked this proxy" },
  resting_until: nullable(Time),
  last_error: text,
  checked_at: nullable(Time),
  used_at: nullable(Time),
  created_at: Time,
});

const Proxies = strict({
  total: Count,
  usable: Count,
  resting: Count,
  disabled: Count,
  unchecked: Count,
  proxies: Type.Array(Proxy),
});

const ProxyLine = Type.String({ maxLength: 4096, description: "scheme://user:password@host:port, host:port, …" });
const NewProxies = Type.Union([
  strict({ proxies: Type.Array(ProxyLine, { minItems: 1, maxItems: MOST_AT_ONCE }) }),
  strict({ url: Type.String({ minLength: 1, maxLength: 8192, description: "a list, one proxy per line" }) }),
]);

const Imported = strict({
  added: Count,
  existing: Count,
  invalid: Type.Array(strict({ index: Count, message: Type.String() }), { description: "the first 1,000 errors" }),
  invalid_count: Count,
});

const Refresh = strict({
  job_id: Uuid,
  status: oneOf(["dispatched", "processing", "complete", "failed"]),
  total: Count,
  total_chunks: Count,
  completed_chunks: Count,
  result_count: { ...Count, description: "proxies found to be usable" },
  checks: oneOf(["fetch", "reachable"], { description: "reachable: nothing was fetched through them" }),
  started_at: nullable(Time),
  completed_at: nullable(Time),
  message: Type.String(),
});

const Params = strict({ proxy_id: IdParam });
const unknown = problemAnswer("there is no such proxy");
/** Enough for the maximum number of proxies, however long their names and passwords are. */
const LARGEST_IMPORT_BYTES = 8 * 1024 * 1024;

/** The proxy pool: import, list, check. */
export function proxyRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/proxies",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The proxies, newest first, and how many are usable",
        operationId: "listProxies",
        tags: ["proxies"],
        querystring: pageQuery({ state: Type.Optional(oneOf(PROXY_STATES)) }),
        response: { 200: { ...Proxies, headers: LINK_HEADER } },
      },
    },
    async (request, reply) => {
      const { limit, state } = request.query;
      const found = await listProxies(deps, {
        ...(state === undefined ? {} : { state }),
        ...cursorFilter(request.query),
        limit: limit + 1,
      });
      const proxies = sendPage(request, reply, { rows: found.proxies, limit, positionOf: ({ id }) => id });
      return { ...found, proxies };
    },
  );

  api.post(
    "/proxies",
    {
      config: { role: "admin" },
      bodyLimit: LARGEST_IMPORT_BYTES,
      schema: {
        summary: "Import proxies, or a list of proxies at a URL; existing ones are not changed",
        description: "Valid proxies are imported even if others are invalid; if none is valid, the call is rejected.",
        operationId: "importProxies",
        tags: ["proxies"],
        body: NewProxies,
        response: { 200: Imported },
      },
    },
    ({ body }) => ("url" in body ? importProxyList(deps, body.url) : importProxies(deps, body.proxies)),
  );

  api.post(
    "/proxies/refresh",
    {
      config: { role: "admin" },
      schema: {
        summary: "Check all proxies. If a check is already running, its run is returned",
        operationId: "refreshProxies",
        tags: ["proxies"],
        response: { 202: Refresh, 409: problemAnswer("there are no proxies") },
      },
    },
    async (_request, reply) => {
      const { view } = await refreshProxies(deps);
      return reply.code(202).header("location", `/proxies/refresh/${view.job_id}`).send(view);
    },
  );

  api.get(
    "/proxies/refresh/:job_id",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The progress of a proxy check",
        operationId: "getProxyRefresh",
        tags: ["proxies"],
        params: strict({ job_id: IdParam }),
        response: { 200: Refresh, 404: problemAnswer("there is no such check") },
      },
    },
    (request) => showRefresh(deps, request.params.job_id),
  );

  api.get(
    "/proxies/:proxy_id",
    {
      config: { role: "viewer" },
      schema: {
        summary: "One proxy",
        operationId: "getProxy",
        tags: ["proxies"],
        params: Params,
        response: { 200: Proxy, 404: unknown },
      },
    },
    (request) => showProxy(deps, request.params.proxy_id),
  );

  api.delete(
    "/proxies/:proxy_id",
    {
      config: { role: "admin" },
      schema: {
        summary: "Delete a proxy",
        operationId: "deleteProxy",
        tags: ["proxies"],
        params: Params,
        response: { 204: Type.Null(), 404: unknown },
      },
    },
    async (request, reply) => {
      await removeProxy(deps, request.params.proxy_id);
      return reply.code(204).send(null);
    },
  );

  for (const verb of ["disable", "enable"] as const) {
    api.post(
      `/proxies/:proxy_id/${verb}`,
      {
        config: { role: "admin" },
        schema: {
          summary: verb === "disable" ? "Disable a proxy until it is enabled again" : "Enable a disabled proxy",
          operationId: `${verb}Proxy`,
          tags: ["proxies"],
          params: Params,
          response: { 200: Proxy, 404: unknown },
        },
      },
      (request) => disableProxy(deps, request.params.proxy_id, verb === "disable"),
    );
  }
}
