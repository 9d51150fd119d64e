import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { isProxyFault } from "../../src/domain/run/classify.ts";
import { parseUpstream, type Upstream } from "../../src/domain/proxy/upstream.ts";
import { parseAddressPolicy } from "../../src/net/address.ts";
import { BufferSink, discardBody } from "../../src/net/buffer-sink.ts";
import type { HttpRequest } from "../../src/net/http.ts";
import { createResolver } from "../../src/net/resolver.ts";
import { UpstreamAgents } from "../../src/net/upstream/upstream-agents.ts";
import { selfSigned } from "../support/certificate.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { answer, head, redirect, startSite } from "../support/hostile-site.ts";
import { failureOf, reasonOf, testClient, type TestClient } from "../support/net.ts";
import { type ProxySpec, startProxies, type TestProxy } from "../support/proxies.ts";

const SITE = "127.0.0.2";
const INSIDE = "127.0.0.3";
const auth = { username: "maré", password: "p@ss:wörd" };
const KINDS = ["connect", "connect-tls", "socks5"] as const;

async function text(client: TestClient, request: HttpRequest): Promise<string> {
  const sink = new BufferSink();
  await client.fetch(request, sink);
  return sink.text();
}

/** One proxy, and a client that may use it and the site, and nothing else. */
async function start(spec: ProxySpec, names: Record<string, string> = {}) {
  const proxies = await startProxies([spec]);
  const client = testClient({
    policy: parseAddressPolicy(["127.0.0.1/32", `${SITE}/32`]),
    lookup: async (name) => [{ address: names[name] ?? SITE, family: 4 }],
    limits: { connectMs: 20_000 },
    tls: { rejectUnauthorized: false },
  });
  const [proxy] = proxies.all as [TestProxy];
  return {
    client,
    proxy,
    via: proxy.upstream,
    async [Symbol.asyncDispose]() {
      await client.close();
      await proxies[Symbol.asyncDispose]();
    },
  };
}

for (const kind of KINDS) {
  describe(`a fetch through a proxy (${kind})`, () => {
    it("passes through it with the address of the site, never its name, and the site sees its name", async () => {
      await using site = await startSite({ "/a": answer(200, "hello") }, SITE);
      await using setting = await start({ kind, auth });
      const { client, proxy, via } = setting;
      for (let index = 0; index < 3; index += 1)
        assert.equal(await text(client, { url: `http://shop.test:${site.port}/a`, via }), "hello");
      assert.deepEqual(
        proxy.seen.map(({ host, port, requests }) => ({ host, port, requests })),
        [{ host: SITE, port: site.port, requests: new Array(3).fill("GET /a HTTP/1.1") }],
      );
      assert.equal(site.log[0]!.headers["host"], `shop.test:${site.port}`);
      assert.equal(site.log[0]!.headers["proxy-authorization"], undefined);
      assert.equal(site.connections, 1);
      // Without `via` nothing goes near it.
      assert.equal(await text(client, { url: site.url("/a") }), "hello");
      assert.equal(proxy.requests.length, 3);
      assert.equal(proxy.connections, 1);
    });

    it("is encrypted to the site, which is asked for by its name", async () => {
      await using setting = await start({ kind, auth });
      const names: (string | false | null)[] = [];
      const site = createServer(selfSigned(), (request, response) => {
        names.push((request.socket as unknown as { servername: string | false | null }).servername);
        response.end("secret");
      });
      await new Promise<void>((resolve) => site.listen(0, SITE, resolve));
      const { port } = site.address() as AddressInfo;
      const { client, proxy, via } = setting;
      assert.equal(await text(client, { url: `https://shop.test:${port}/`, via }), "secret");
      assert.deepEqual(names, ["shop.test"]);
      assert.deepEqual([proxy.seen[0]!.host, proxy.requests], [SITE, []]);
      await client.close();
      await new Promise((resolve) => site.close(resolve));
    });

    it("stays on the proxy after a redirect to another host", async () => {
      await using other = await startSite({ "/b": answer(200, "there") }, SITE);
      await using site = await startSite({ "/a": redirect(`http://other.test:${other.port}/b`) }, SITE);
      await using setting = await start({ kind });
      const { client, proxy, via } = setting;
      assert.equal(await text(client, { url: `http://shop.test:${site.port}/a`, via }), "there");
      assert.deepEqual(proxy.requests, ["GET /a HTTP/1.1", "GET /b HTTP/1.1"]);
    });

    it("is refused when the site is forbidden: by address, by name, by redirect; the proxy hears nothing of it", async () => {
      await using inside = await startSite({ "/": answer(200, "secret") }, INSIDE);
      await using site = await startSite({ "/name": redirect(`http://inside.test:${inside.port}/`) }, SITE);
      site.on("/address", redirect(inside.url("/")));
      await using setting = await start({ kind }, { "inside.test": INSIDE });
      const { client, proxy, via } = setting;
      for (const url of [
        inside.url("/"),
        `http://inside.test:${inside.port}/`,
        `https://inside.test:${inside.port}/`,
        site.url("/name"),
        site.url("/address"),
      ]) {
        assert.equal(await reasonOf(client.fetch({ url, via }, discardBody)), "forbidden_target/private_address", url);
      }
      assert.equal(inside.connections, 0);
      assert.deepEqual([...new Set(proxy.seen.map(({ host }) => host))], [SITE]);
    });

    it("says when the password is wrong or missing, without showing it", async () => {
      await using site = await startSite({}, SITE);
      await using setting = await start({ kind, auth });
      const { client, via } = setting;
      const wrong: Upstream["credentials"][] = [null, { username: auth.username, password: "hunter2" }];
      if (kind === "socks5") wrong.push({ username: "x".repeat(256), password: "hunter2" });
      for (const credentials of wrong) {
        const failed = await failureOf(client.fetch({ url: site.url("/"), via: { ...via, credentials } }, discardBody));
        assert.deepEqual([failed.code, failed.reason, isProxyFault(failed)], ["network", "proxy_auth", true]);
        assert.doesNotMatch(failed.message, /hunter2|mar/);
        assert.match(failed.message, new RegExp(`:${via.port}`));
      }
      assert.equal(site.connections, 0);
    });

    it("says whose fault it is that there is no tunnel", async () => {
      await using site = await startSite({}, SITE);
      const url = site.url("/");
      await using dead = await start({ kind, behaviour: "dead" });
      await using garbage = await start({ kind, behaviour: "garbage" });
      for (const { client, via } of [dead, garbage]) {
        const failed = await failureOf(client.fetch({ url, via }, discardBody));
        assert.deepEqual([failed.code, failed.reason, isProxyFault(failed)], ["network", "proxy_unreachable", true]);
      }
      await using refuses = await start({ kind, behaviour: "refuses" });
      await using good = await start({ kind });
      const refused = await failureOf(refuses.client.fetch({ url, via: refuses.via }, discardBody));
      // Nobody listens there: a good proxy can only say that it gets no connection.
      const closed = await failureOf(good.client.fetch({ url: `http://${SITE}:1/`, via: good.via }, discardBody));
      for (const failed of [refused, closed])
        assert.deepEqual([failed.code, failed.reason, isProxyFault(failed)], ["network", "proxy_refused", false]);
    });

    it("goes on when the proxy has closed a connection that was kept, and fails when it is gone", async () => {
      await using site = await startSite({ "/": answer(200, "hello") }, SITE);
      await using setting = await start({ kind });
      const { client, proxy, via } = setting;
      assert.equal(await text(client, { url: site.url("/"), via }), "hello");
      await proxy.kill();
      const failed = await failureOf(client.fetch({ url: site.url("/"), via }, discardBody));
      assert.equal(failed.reason, "proxy_unreachable");
      await proxy.revive();
      assert.equal(await text(client, { url: site.url("/"), via }), "hello");
    });
  });
}

describe("a proxy under the guard", () => {
  it("is a target too: by address, and by each address that its name has", async () => {
    await using site = await startSite({}, SITE);
    await using proxies = await startProxies([{ kind: "connect", host: INSIDE }]);
    const [proxy] = proxies.all as [TestProxy];
    await using client = testClient({
      policy: parseAddressPolicy([`${SITE}/32`]),
      lookup: async (name) =>
        name === "mixed.test"
          ? [SITE, INSIDE].map((address) => ({ address, family: 4 }))
          : [{ address: INSIDE, family: 4 }],
    });
    for (const host of [INSIDE, "proxy.test", "mixed.test", "[::1]", "0x7f.3"]) {
      for (const scheme of ["http", "https", "socks5"]) {
        const via = parseUpstream(`${scheme}://u:pw@${host}:${proxy.port}`) as Upstream;
        const failed = await failureOf(client.fetch({ url: site.url("/"), via }, discardBody));
        assert.deepEqual([failed.code, failed.reason], ["forbidden_target", "proxy_forbidden"], host);
        assert.doesNotMatch(failed.message, /127\.|::|pw/);
        assert.ok(isProxyFault(failed));
      }
    }
    assert.equal(proxy.connections, 0);
    assert.equal(site.connections, 0);
  });
});

describe("many proxies", () => {
  it("have agents for the last few hundred of them, and what is under way through a forgotten one ends well [slow]", async () => {
    await using other = await startSite({ "/b": answer(200, "there") }, SITE);
    const held = Promise.withResolvers<void>();
    await using site = await startSite({ "/": answer(200, "hello") }, SITE);
    site.on("/held", (socket, request) => void held.promise.then(() => redirect(other.url("/b"))(socket, request)));
    await using setting = await start({ kind: "connect" });
    const { client, proxy, via } = setting;
    const user = (username: string): Upstream => ({ ...via, credentials: { username, password: "" } });
    const waiting = text(client, { url: site.url("/held"), via: user("first") });
    await site.hit("/held");
    for (let index = 0; index < 300; index += 1)
      assert.equal(await text(client, { url: site.url("/"), via: user(`u${index}`) }), "hello");
    held.resolve();
    assert.equal(await waiting, "there");
    assert.equal(proxy.seen.length, 302);
  });

  it("are forgotten when nobody has used them for a while", async () => {
    const clock = new FakeClock();
    const policy = parseAddressPolicy(true);
    const resolve = createResolver({ policy, clock });
    const agents = new UpstreamAgents({ policy, clock, resolve, connectMs: 1_000, agent: {} });
    const via = (port: number) => parseUpstream(`http://127.0.0.1:${port}`) as Upstream;
    for (let port = 1; port <= 300; port += 1) agents.through(via(port), false);
    assert.equal(agents.size, 256);
    const kept = agents.through(via(300), false);
    await clock.advance(50_000);
    assert.equal(agents.through(via(300), false), kept);
    await clock.advance(60_000);
    assert.equal(agents.size, 1);
    await clock.advance(120_000);
    assert.deepEqual([agents.size, clock.waiting], [0, 0]);
    await agents.destroy();
  });

  it("that are being opened end with the client", async () => {
    await using proxies = await startProxies([{ kind: "socks5", behaviour: "slow", slowMs: 600_000 }]);
    const [proxy] = proxies.all as [TestProxy];
    const client = testClient();
    const asked = failureOf(client.fetch({ url: "http://127.0.0.1:1/", via: proxy.upstream }, discardBody));
    await proxy.used();
    await client.close();
    assert.equal((await asked).reason, "run_cancelled");
    await proxy.idle();
  });
});

describe("a proxy that dies", () => {
  it("cuts what passes through it; that alone does not show whose fault it was", async () => {
    const sent = Promise.withResolvers<void>();
    await using site = await startSite(
      {
        "/": (socket) => {
          socket.write(`${head(200, { "content-length": 100 })}abc`);
          sent.resolve();
        },
      },
      SITE,
    );
    await using setting = await start({ kind: "connect" });
    const { client, proxy, via } = setting;
    const got = Promise.withResolvers<void>();
    const asked = failureOf(
      client.fetch({ url: site.url("/"), via }, { start: () => {}, write: () => void got.resolve() }),
    );
    await Promise.all([sent.promise, got.promise]);
    await proxy.kill();
    const failed = await asked;
    assert.ok(["connection_reset", "truncated_body"].includes(failed.reason), failed.reason);
    assert.equal(isProxyFault(failed), false);
  });
});
