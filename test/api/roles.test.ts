import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { createClient } from "../../src/api-client/client.ts";
import { addFirecrawl } from "../../src/firecrawl/routes.ts";
import { includesRole, type Role, ROLES } from "../../src/domain/access/roles.ts";
import { mcpRoutes } from "../../src/mcp/http.ts";
import { PAGE_PATHS } from "../../src/api/dashboard.ts";
import { TOOLS } from "../../src/mcp/tools/registry.ts";
import { root } from "../support/source.ts";
import { openTestApi, type TestApi, TOKEN } from "./kit.ts";

const admin = { authorization: `Bearer ${TOKEN}` };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const NOBODY = "00000000-0000-4000-8000-000000000000";

interface Made {
  id: string;
  key: string;
}

async function makeKey(served: TestApi, body: object): Promise<Made> {
  const answer = await served.send("POST", "/keys", { name: "a key", ...body }, admin);
  assert.equal(answer.status, 201, answer.text);
  return answer.json<Made>();
}

/** A call of the route that changes nothing: its objects do not exist. */
async function callRoute(served: TestApi, method: string, url: string, key: string) {
  const path = url.replace(/:[a-z_]+/g, NOBODY).replace("*", "x");
  // Streams do not end by themselves.
  const gone = new AbortController();
  const response = await fetch(`${served.url}${path}`, {
    method,
    headers: {
      ...bearer(key),
      accept: "application/json",
      ...(method === "POST" ? { "content-type": "application/json" } : {}),
    },
    ...(method === "POST" || method === "PUT" || method === "PATCH"
      ? { body: JSON.stringify({ unknown_field: 1 }) }
      : {}),
    signal: gone.signal,
  });
  const isJson = method !== "HEAD" && response.headers.get("content-type")?.includes("json") === true;
  const body = isJson ? ((await response.json()) as { code?: string }) : {};
  gone.abort();
  return { status: response.status, code: body.code ?? "" };
}

/** Routes whose calls have an effect or take long, whatever their body: who may make them does not. */
const EFFECTIVE = new Set(["POST /proxies/refresh", "POST /demo-site", "POST /alerts/test"]);

/** Routes that need no key, besides the files of the dashboard: none of them shows or changes anything of the work. */
const OPEN = [
  "DELETE /session",
  "GET /health",
  "GET /session",
  "GET /session/oidc",
  "GET /session/oidc/callback",
  "POST /session",
];

const noCalls = () => Promise.reject(new Error("no tool is called"));

/** Everything that a server has: the API itself, Firecrawl's addresses, and agents. */
const ALL = [
  addFirecrawl as never,
  mcpRoutes(() => ({ client: createClient({ url: "http://localhost", fetch: noCalls, retries: 0 }), end() {} })),
];

describe("every route", () => {
  test("answers each role, and expired, revoked and limited keys, as it declares [slow]", async (t) => {
    // The delays of wrong keys are not the subject.
    const clock: Clock = { ...systemClock, after: (ms, work, how) => systemClock.after(Math.min(ms, 5), work, how) };
    const served = await openTestApi(t, { settings: { token: TOKEN }, clock, routes: ALL });
    const keys: Record<Role, Made> = {
      viewer: await makeKey(served, { role: "viewer" }),
      operator: await makeKey(served, { role: "operator" }),
      admin: await makeKey(served, { role: "admin" }),
    };
    const limited = await makeKey(served, { role: "operator", tags: ["of no job"] });
    const revoked = await makeKey(served, { role: "admin" });
    assert.equal((await served.call({ method: "DELETE", path: `/keys/${revoked.id}`, headers: admin })).status, 200);
    const soon = new Date(Date.now() + 1000).toISOString();
    const expired = await makeKey(served, { role: "admin", expires_at: soon });
    while ((await served.get("/keys/me", bearer(expired.key))).status === 200)
      await new Promise((r) => setTimeout(r, 50));

    const routes = served.api.routes.filter(({ role }) => role !== null);
    assert.ok(routes.length > 300, `${routes.length} routes`);
    let calls = 0;
    for (const { method, url, role, limited: isLimitable } of routes) {
      const name = `${method} ${url}`;
      // Neither Firecrawl's errors nor answers without a body have our codes.
      const hasCode = !url.startsWith("/v") && method !== "HEAD";
      const call = (key: string) => {
        calls += 1;
        return callRoute(served, method, url, key);
      };
      for (const { key } of [revoked, expired])
        assert.equal((await call(key)).status, 401, `${name} with an ended key`);
      for (const has of ROLES) {
        const isAllowed = includesRole(has, role!);
        if (isAllowed && EFFECTIVE.has(name)) continue;
        const { status, code } = await call(keys[has].key);
        assert.notEqual(status, 401, `${name} as ${has}`);
        const isRefused = hasCode ? code === "role_missing" : status === 403;
        assert.equal(isRefused, !isAllowed, `${name} as ${has}: ${status} ${code}`);
      }
      if (isLimitable && EFFECTIVE.has(name)) continue;
      const { status, code } = await call(limited.key);
      if (!includesRole("operator", role!)) assert.equal(status, 403, `${name} with a limited key`);
      else if (!isLimitable) assert.ok(hasCode ? code === "key_limited" : status === 403, `${name}: ${status}`);
      else assert.ok(status !== 403 || code !== "key_limited", `${name} is available to limited keys: ${status}`);
    }
    assert.ok(calls >= (routes.length - EFFECTIVE.size) * 6, `${calls} calls of ${routes.length} routes`);
  });

  test("needs a key, but for those of this list", async (t) => {
    const served = await openTestApi(t, { settings: { token: TOKEN }, routes: ALL });
    const pages = new Set<string>([...PAGE_PATHS, "/*", "/assets/:name", "/favicon.svg", "/frame.html", "/frame.js"]);
    const open = served.api.routes
      .filter(({ role, url, method }) => role === null && method !== "HEAD" && !(method === "GET" && pages.has(url)))
      .map(({ method, url }) => `${method} ${url}`);
    assert.deepEqual(open.toSorted(), OPEN);
  });

  test("stands in the table of the docs with its role", async (t) => {
    const served = await openTestApi(t, { settings: { token: TOKEN }, routes: ALL });
    const page = readFileSync(join(root, "docs/roles.md"), "utf8");
    for (const { method, url, role, limited } of served.api.routes) {
      if (role === null || method === "HEAD" || url.startsWith("/docs")) continue;
      const row = `| \`${method} ${url.replace(/:(\w+)/g, "{$1}")}\` | ${role} | ${limited ? "yes" : "no"} |`;
      assert.ok(page.includes(row), row);
    }
    for (const { tool } of TOOLS) assert.ok(page.includes(`| \`${tool.name}\` | ${tool.role} |`), tool.name);
  });
});

test("a server with a route that declares no role does not start", async (t) => {
  const bare = (api: { get(path: string, options: object, handler: () => Promise<object>): void }) =>
    api.get("/bare", { schema: {} }, async () => ({}));
  await assert.rejects(openTestApi(t, { routes: [bare as never] }), /GET \/bare declares no role/);
});
