import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WebSocket } from "ws";
import { servicesGate } from "../support/services-kit.ts";
import { report } from "../chaos/orb.ts";
import { Cluster, Web } from "./kit.ts";

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** Resolves when nothing more comes; rejects if the answer is no stream. */
async function drained(response: Response): Promise<void> {
  assert.equal(response.status, 200);
  try {
    for await (const _ of response.body!);
  } catch {
    // Cut off in the middle.
  }
}

describe("a key that is revoked on one server of a cluster", servicesGate, () => {
  test("is refused by the others, and its streams, WebSockets and calls of tools there end", async (t) => {
    await using web = await Web.start({ sites: 1, pages: 5 });
    await using cluster = await Cluster.start({ workers: 1, env: { APP_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8" } });
    // Revoked here, used there.
    const [here, there] = [cluster.api, await cluster.serve()];
    t.after(() => there.api.close());
    const made = async <T>(path: string, body: unknown) => (await here.api.post(path, body)).json<T>();
    const { id, key } = await made<{ id: string; key: string }>("/keys", { name: "agent", role: "operator" });
    web.hold();
    const run = await cluster.crawl(web);
    await web.target.when(() => web.target.hits.length > 0, "the crawl goes on");

    const open = (path: string, more: RequestInit = {}) =>
      fetch(`${there.api.url}${path}`, { ...more, headers: { ...bearer(key), ...(more.headers as object) } });
    const streams = ["/events/stream", "/live/stream", `/jobs/runs/${run}/events/stream`].map((path) => open(path));
    const socket = new WebSocket(`${there.api.url.replace("http", "ws")}/v2/crawl/${run}`, key);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    const waits = open("/mcp", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "crawl_status", arguments: { run_id: run, wait_seconds: 50 } },
      }),
    }).then(drained, () => {});
    const ended = [...(await Promise.all(streams)).map(drained), closed, waits];
    const mine = await fetch(`${there.api.url}/events/stream`);
    assert.equal((await open("/keys/me")).status, 200);

    const begun = performance.now();
    const revoked = await here.api.call("DELETE", `/keys/${id}`);
    assert.equal(revoked.status, 200, revoked.text);
    let refused = 0;
    for (;;) {
      const { status } = await open("/keys/me");
      if (status === 401) break;
      assert.equal(status, 200);
    }
    refused = performance.now() - begun;
    await Promise.all(ended);
    report("revoked on another server", {
      "refused after": `${Math.round(refused)} ms`,
      "all streams ended after": `${Math.round(performance.now() - begun)} ms`,
    });
    const { done } = await mine.body!.getReader().read();
    assert.equal(done, false, "the stream of another caller goes on");
    await mine.body!.cancel().catch(() => {});
    assert.equal((await here.api.get(`/jobs/runs/${run}`)).json<{ status: string }>().status, "running");
    web.letGo();
  });
});
