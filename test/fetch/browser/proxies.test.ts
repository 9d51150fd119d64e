import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { isProxyFault } from "../../../src/domain/run/classify.ts";
import { parseUpstream, type Upstream } from "../../../src/domain/proxy/upstream.ts";
import { parseAddressPolicy } from "../../../src/net/address.ts";
import {
  browserGate,
  CANARY,
  plain,
  sendTo,
  SITE,
  startBrowser,
  type TestBrowser,
  webSite,
} from "../../support/browser-kit.ts";
import { selfSigned } from "../../support/certificate.ts";
import { failureOf } from "../../support/net.ts";
import { startProxies, type TestProxies, type TestProxy } from "../../support/proxies.ts";

const LONG = "This sentence is long enough to be taken for the content of a page.";
const auth = { username: "maré", password: "p@ss:wörd" };

describe("a page of the browser that goes through a proxy", browserGate, () => {
  let browser: TestBrowser;
  let proxies: TestProxies;
  before(async () => {
    browser = startBrowser({
      policy: parseAddressPolicy(["127.0.0.1/32", `${SITE}/32`]),
      lookup: async (name) => [{ address: name.startsWith("inside") ? CANARY : SITE, family: 4 }],
      tls: { rejectUnauthorized: false },
    });
    proxies = await startProxies([
      { kind: "connect", auth },
      { kind: "connect-tls", auth },
      { kind: "socks5", auth },
    ]);
  });
  after(async () => {
    await browser[Symbol.asyncDispose]();
    await proxies[Symbol.asyncDispose]();
  });

  it("brings all of its plain requests along, and those without a proxy use none of its connections", async () => {
    await using site = await webSite({
      "/": `<p id=p>${LONG}</p><script src=/s.js></script>`,
      "/s.js": plain("text/javascript", 'fetch("/data").then((r) => r.text()).then((t) => (p.title = t))'),
      "/data": plain("text/plain", "filled"),
      "/hop": (request, response) => sendTo(`http://shop.test:${site.port}/`)(request, response),
    });
    const want = { browser: { waitFor: "p[title=filled]" } };
    const address = `http://shop.test:${site.port}/hop`;
    await browser.fetch(address, want);
    for (const proxy of proxies.all) {
      const asked = site.log.length;
      const answer = await browser.fetch(address, { ...want, via: proxy.upstream });
      assert.match(answer.body as string, /title="filled"/);
      const paths = site.log.slice(asked).map(({ path }) => path);
      assert.deepEqual(
        proxy.requests.map((line) => line.split(" ")[1]),
        paths,
      );
      for (const path of ["/hop", "/", "/s.js", "/data"]) assert.ok(paths.includes(path), path);
      assert.ok(proxy.seen.every(({ host, port }) => host === SITE && port === site.port));
    }
    const counted = proxies.all.map(({ requests }) => requests.length);
    await browser.fetch(address, want);
    assert.deepEqual(
      proxies.all.map(({ requests }) => requests.length),
      counted,
    );
    for (const { headers } of site.log) {
      assert.equal(headers.host, `shop.test:${site.port}`);
      assert.equal(headers["proxy-authorization"], undefined);
    }
  });

  it("is encrypted to the site through it", async () => {
    const site = createServer(selfSigned(), (_request, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end(`<p>${LONG}</p>`),
    );
    await new Promise<void>((resolve) => site.listen(0, SITE, resolve));
    const { port } = site.address() as AddressInfo;
    for (const proxy of proxies.all) {
      const answer = await browser.fetch(`https://shop.test:${port}/`, { via: proxy.upstream });
      assert.match(answer.body as string, /long enough/);
      const passed = proxy.seen.filter((tunnel) => tunnel.port === port);
      assert.ok(passed.length > 0 && passed.every(({ host, bytes }) => host === SITE && bytes > 0));
    }
    site.closeAllConnections();
    await new Promise((resolve) => site.close(resolve));
  });

  it("shares a page of the browser only with those that go the same way", async () => {
    await using site = await webSite({
      "/": (request, response) =>
        plain("text/html", `<p>${LONG} ${request.headers.cookie ?? "none"}</p>`, { "set-cookie": "seen=1" })(
          request,
          response,
        ),
    });
    const visit = async (via?: Upstream) => {
      const answer = await browser.fetch(site.url("/"), { shareKey: "run", ...(via === undefined ? {} : { via }) });
      return (answer.body as string).includes("seen=1");
    };
    const [one, two] = proxies.all.map(({ upstream }) => upstream);
    assert.deepEqual(
      [await visit(one), await visit(one), await visit(two), await visit()],
      [false, true, false, false],
    );
  });

  it("fails for the same reasons as any fetch, and tells no password", async () => {
    await using site = await webSite({ "/": `<p>${LONG}</p>`, "/in": sendTo("http://inside.test/") });
    await using bad = await startProxies([
      { kind: "connect", behaviour: "dead" },
      { kind: "socks5", behaviour: "garbage" },
      { kind: "connect", behaviour: "refuses" },
      { kind: "connect-tls", auth: { username: "other", password: "x" } },
    ]);
    const [dead, garbage, refuses, locked] = bad.all as [TestProxy, TestProxy, TestProxy, TestProxy];
    const wrong = { ...locked.upstream, credentials: { username: "joe", password: "hunter2" } };
    const cases: [Upstream, string, boolean][] = [
      [dead.upstream, "proxy_unreachable", true],
      [garbage.upstream, "proxy_unreachable", true],
      [refuses.upstream, "proxy_refused", false],
      [wrong, "proxy_auth", true],
      [parseUpstream(`http://joe:hunter2@${CANARY}:1`) as Upstream, "proxy_forbidden", true],
    ];
    for (const [via, reason, sure] of cases) {
      for (const url of [site.url("/"), `https://shop.test:${site.port}/`]) {
        const failed = await failureOf(browser.fetch(url, { via }));
        assert.deepEqual([failed.reason, isProxyFault(failed)], [reason, sure], url);
        assert.doesNotMatch(failed.message, /hunter2|joe/);
      }
    }
    const { upstream: via } = proxies.all[0]!;
    for (const url of ["http://inside.test/", "https://inside.test/", site.url("/in")])
      assert.equal((await failureOf(browser.fetch(url, { via }))).reason, "private_address", url);
    assert.equal(site.log.filter(({ path }) => path === "/").length, 0);
  });
});
