import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createClient } from "../../src/api-client/client.ts";
import { fetchFrom } from "../../src/app/local-api.ts";
import { includesRole, type Role, ROLES } from "../../src/domain/access/roles.ts";
import { LOCAL_PRINCIPAL } from "../../src/domain/access/principal.ts";
import { mcpRoutes } from "../../src/mcp/http.ts";
import { TOOLS } from "../../src/mcp/tools/registry.ts";
import { openTestApi, type TestApi, TOKEN } from "../api/kit.ts";

async function openAgents(t: Parameters<typeof openTestApi>[0]) {
  const served: TestApi = await openTestApi(t, {
    settings: { token: TOKEN },
    routes: [
      mcpRoutes(({ principal, callerIp: ip }) => {
        const { inject, end } = served.api.for({ principal: principal ?? LOCAL_PRINCIPAL, ip });
        return { client: createClient({ url: "http://localhost", fetch: fetchFrom({ inject }), retries: 0 }), end };
      }),
    ],
  });
  const admin = { authorization: `Bearer ${TOKEN}` };
  const makeKey = async (body: object) => {
    const answer = await served.send("POST", "/keys", { name: "agent", ...body }, admin);
    return answer.json<{ id: string; key: string }>();
  };
  const agent = async (key: string) => {
    const client = new Client({ name: "test", version: "1" });
    const url = new URL(`${served.url}/mcp`);
    await client.connect(
      new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${key}` } } }),
    );
    t.after(() => client.close());
    return client;
  };
  return { served, admin, makeKey, agent };
}

test("an agent is offered the tools of its role, and calls the others in vain", async (t) => {
  const { makeKey, agent } = await openAgents(t);
  for (const role of ROLES) {
    const client = await agent((await makeKey({ role })).key);
    const offered = (await client.listTools()).tools.map(({ name }) => name);
    const expected = TOOLS.filter(({ tool }) => includesRole(role satisfies Role, tool.role));
    assert.deepEqual(offered.toSorted(), expected.map(({ tool }) => tool.name).toSorted(), role);
    for (const { tool } of TOOLS) {
      if (offered.includes(tool.name)) continue;
      const failed = await client.callTool({ name: tool.name, arguments: {} }).then(
        ({ isError }) => isError === true,
        () => true,
      );
      assert.ok(failed, `${tool.name} as ${role}`);
    }
  }
});

test("tools see what the key sees: limits hold, and an ended key does not connect", async (t) => {
  const { served, admin, makeKey, agent } = await openAgents(t);
  const job = { name: "a", target_url: "https://a.example/", fields: { title: "h1" } };
  const { id } = (await served.send("POST", "/runs", job, admin)).json<{ id: string }>();
  const limited = await makeKey({ role: "operator", sites: ["b.example"] });
  const client = await agent(limited.key);
  const denied = await client.callTool({ name: "run_cancel", arguments: { run_id: id } });
  assert.equal(denied.isError, true);
  const { status } = (await served.get(`/jobs/runs/${id}`, admin)).json<{ status: string }>();
  assert.notEqual(status, "cancelled");
  const whole = await agent((await makeKey({ role: "operator" })).key);
  const cancelled = await whole.callTool({ name: "run_cancel", arguments: { run_id: id } });
  assert.notEqual(cancelled.isError, true, JSON.stringify(cancelled.content));
  await served.call({ method: "DELETE", path: `/keys/${limited.id}`, headers: admin });
  await assert.rejects(agent(limited.key));
});
