import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { createClient } from "../../src/api-client/client.ts";
import { fetchFrom } from "../../src/app/local-api.ts";
import { includesRole, type Role, ROLES } from "../../src/domain/access/roles.ts";
import { LOCAL_PRINCIPAL } from "../../src/domain/access/principal.ts";
import { mcpRoutes } from "../../src/mcp/http.ts";
import { TOOLS } from "../../src/mcp/tools/registry.ts";
import { openTestApi, type TestApi, type TestApiOptions, TOKEN } from "../api/kit.ts";

async function openAgents(t: Parameters<typeof openTestApi>[0], options: TestApiOptions = {}) {
  const served: TestApi = await openTestApi(t, {
    settings: { token: TOKEN },
    ...options,
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

test("crawl_status without run_id lists the runs within the limits of the key, as GET /runs does", async (t) => {
  const { served, admin, makeKey, agent } = await openAgents(t);
  for (const site of ["a", "b"])
    await served.send("POST", "/scraping/async-scrape", { url: `https://${site}.example/` }, admin);
  const client = await agent((await makeKey({ role: "viewer", sites: ["b.example"] })).key);
  const { isError, structuredContent } = await client.callTool({ name: "crawl_status", arguments: {} });
  assert.notEqual(isError, true);
  const { runs } = structuredContent as { runs: { url: string }[] };
  assert.deepEqual(
    runs.map(({ url }) => url),
    ["https://b.example/"],
  );
});

/** What a tool is called with for its schema to accept it: everything in it belongs to others. */
function argumentsOf(name: string, ids: { run: string; flow: string; job: string }): Record<string, unknown> {
  const url = "https://a.example/";
  const all: Record<string, Record<string, unknown>> = {
    scrape: { url },
    crawl_start: { url },
    crawl_status: { run_id: ids.run },
    crawl_results: { run_id: ids.run },
    extract_preview: { url, fields: { title: "h1" } },
    extract_learn: { urls: [url], examples: { title: ["A"] } },
    run_cancel: { run_id: ids.run },
    workflow_start: { template: "price-monitor" },
    workflow_status: { workflow_id: ids.flow },
    sites: {},
    search: { query: "news" },
    changes: { job_id: ids.job },
  };
  return all[name] ?? assert.fail(`no arguments for ${name}`);
}

test("every tool refuses an expired, a revoked and a limited key: nothing of others is shown, started or stopped", async (t) => {
  // The delays of wrong keys are not the subject.
  const clock: Clock = { ...systemClock, after: (ms, work, how) => systemClock.after(Math.min(ms, 5), work, how) };
  const { served, admin, makeKey, agent } = await openAgents(t, { clock });
  const run = await served.send("POST", "/scraping/async-scrape", { url: "https://a.example/" }, admin);
  const definition = { name: "Secret flow", steps: [{ name: "wait", task_type: "wait", params: { seconds: 1 } }] };
  const flow = await served.send("POST", "/workflows", { definition }, admin);
  const page = { name: "Secret job", target_url: "https://a.example/", fields: { title: "h1" } };
  const job = await served.send("POST", "/jobs", page, admin);
  const ids = {
    job: job.json<{ id: string }>().id,
    run: run.json<{ task_id: string }>().task_id,
    flow: flow.json<{ id: string }>().id,
  };
  const limited = await makeKey({ role: "operator", sites: ["b.example"] });
  const client = await agent(limited.key);
  for (const { tool } of TOOLS) {
    const { isError, content } = await client.callTool({
      name: tool.name,
      arguments: argumentsOf(tool.name, ids),
    });
    const text = JSON.stringify(content);
    assert.equal(isError, true, `${tool.name}: ${text}`);
    assert.doesNotMatch(text, /Secret flow|Secret job|"status"/, tool.name);
    // Refused for its limits, not for its arguments.
    assert.match(text, /limited|no run|no workflow|no crawl|no job|not found|does not exist/i, `${tool.name}: ${text}`);
  }
  const { status } = (await served.get(`/scraping/tasks/${ids.run}/status`, admin)).json<{ status: string }>();
  assert.notEqual(status, "cancelled");
  const runs = (await served.get("/runs", admin)).json<unknown[]>();
  assert.equal(runs.length, 2, "nothing was started");

  const soon = new Date(Date.now() + 300).toISOString();
  const ended = [await makeKey({ role: "admin", expires_at: soon }), await makeKey({ role: "admin" })];
  await served.call({ method: "DELETE", path: `/keys/${ended[1]!.id}`, headers: admin });
  for (const { key } of ended) {
    const own = { authorization: `Bearer ${key}`, accept: "application/json, text/event-stream" };
    while ((await served.get("/keys/me", own)).status === 200) await new Promise((r) => setTimeout(r, 20));
    for (const { tool } of TOOLS) {
      const call = { name: tool.name, arguments: argumentsOf(tool.name, ids) };
      const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: call };
      assert.equal((await served.send("POST", "/mcp", body, own)).status, 401, tool.name);
    }
  }
});
