import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { createSeal } from "../../src/base/seal.ts";
import { parseAddressPolicy } from "../../src/net/address.ts";
import { createHttpClient } from "../../src/net/http-client.ts";
import { checkProxies } from "../../src/proxies/check.ts";
import type { ProxyRecord } from "../../src/store/ports/proxy-port.ts";

/** Accepts connections as a SOCKS5 proxy does, and says nothing ever. */
async function startSilent() {
  const events = new EventEmitter();
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket.on("error", () => {}).resume());
    socket.once("close", () => {
      sockets.delete(socket);
      events.emit("change");
    });
    events.emit("change");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const proxy = (n: number): ProxyRecord => ({
    id: String(n),
    scheme: "socks5",
    hostname: "127.0.0.1",
    port: (server.address() as AddressInfo).port,
    sealed: null,
    state: "usable",
    score: 0.5,
    latencyMs: null,
    restUntil: 0,
    restStep: 0,
    lastError: null,
    successes: 0,
    failures: 0,
    blocks: 0,
    checkedAt: null,
    usedAt: null,
    createdAt: 0,
  });
  return {
    proxies: Array.from({ length: 25 }, (_, n) => proxy(n)),
    connections: () => connections,
    async open(count: number) {
      while (sockets.size !== count) await once(events, "change");
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function deps(checkUrl: string | null, timeoutMs: number) {
  const limits = { connectMs: timeoutMs };
  const policy = parseAddressPolicy(true);
  const http = createHttpClient({ policy, clock: systemClock, userAgent: "Orbweaver", limits });
  return { http, clock: systemClock, seal: createSeal("0123456789abcdef0123456789abcdef"), checkUrl, timeoutMs };
}

describe("a check of proxies", () => {
  for (const checkUrl of [null, "http://127.0.0.1:9/"])
    test(`that is cancelled ends at once, with the connections it had and no others (${checkUrl ?? "reach"})`, async () => {
      await using silent = await startSilent();
      const check = deps(checkUrl, 60_000);
      const stop = new AbortController();
      const checking = checkProxies(check, silent.proxies, stop.signal);
      await silent.open(8);
      stop.abort(new Error("enough"));
      await assert.rejects(checking, /enough/);
      await check.http.close();
      await silent.open(0);
      assert.equal(silent.connections(), 8);
    });

  test("knows that it is the proxies that say nothing, although nobody got to the address", async () => {
    await using silent = await startSilent();
    const check = deps("http://127.0.0.1:9/", 300);
    const seen = await checkProxies(check, silent.proxies.slice(0, 8), new AbortController().signal);
    await check.http.close();
    assert.deepEqual(new Set(seen.map(({ outcome }) => outcome.kind)), new Set(["fault"]), JSON.stringify(seen));
  });
});
