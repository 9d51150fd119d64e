import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createArtifactStore } from "../../src/artifacts/store.ts";
import { systemClock } from "../../src/base/clock.ts";
import { download } from "../../src/fetch/http/download.ts";
import { createHttpPageStrategy } from "../../src/fetch/http/page.ts";
import type { PageRequest } from "../../src/fetch/page.ts";
import { createReplayStrategy } from "../../src/fetch/replay/strategy.ts";
import { answer, redirect, startSite } from "../support/hostile-site.ts";
import { testClient } from "../support/net.ts";
import { startProxies, type TestProxy } from "../support/proxies.ts";
import { tempDir } from "../support/temp-dir.ts";

describe("every way of getting something without a browser", () => {
  it("goes through the proxy with all that it asks: redirects, pages of an API, files", async () => {
    await using site = await startSite({
      "/hop": redirect("/page"),
      "/page": answer(200, "<p>page</p>"),
      "/api": (socket, request) => {
        const last = request.path.endsWith("page=2");
        answer(200, last ? "[]" : '[{"id":1}]', { "content-type": "application/json" })(socket, request);
      },
      "/file": answer(200, "file"),
    });
    await using proxies = await startProxies([{ kind: "socks5", auth: { username: "a", password: "b" } }]);
    await using client = testClient();
    using dir = tempDir();
    const [proxy] = proxies.all as [TestProxy];
    const via = proxy.upstream;
    const request = (path: string, more: Partial<PageRequest> = {}): PageRequest => ({
      url: site.url(path),
      credentials: null,
      timeoutMs: 20_000,
      maxBodyBytes: 1_000_000,
      via,
      ...more,
    });
    const page = await createHttpPageStrategy({ client, clock: systemClock, limits: {} }).fetch(request("/hop"));
    assert.equal(page.finalUrl, site.url("/page"));
    const replay = { request: { url: site.url("/api") }, pagination: { kind: "page", param: "page" } };
    const list = await createReplayStrategy({ client, clock: systemClock, limits: {}, pause: async () => {} }).fetch(
      request("/api", { replay }),
    );
    assert.equal(list.body, '[{"id":1}]');
    const artifacts = createArtifactStore({ dir: dir.path, clock: systemClock });
    const file = await download({ client, artifacts }, { url: site.url("/file"), via });
    assert.equal(file.size, 4);
    assert.deepEqual(
      proxy.requests.map((line) => line.split(" ")[1]),
      ["/hop", "/page", "/api?page=1", "/api?page=2", "/file"],
    );
    assert.equal(site.log.length, 5);
  });
});
