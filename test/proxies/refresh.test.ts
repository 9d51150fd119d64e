import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ImportView } from "../../src/orchestrator/proxies/import.ts";
import type { RefreshView } from "../../src/orchestrator/proxies/refresh.ts";
import type { ProxyListView, ProxyView } from "../../src/orchestrator/proxies/view.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { Installation } from "../cli/installation.ts";
import { TestServer } from "../jobs/kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { page, robots as text, status } from "../support/misbehaviours.ts";
import { startProxies } from "../support/proxies.ts";
import { PASSWORD, startTwelve, USABLE } from "./twelve.ts";

/** Nothing is checked unless somebody asks. */
const BY_HAND = { APP_PROXY_REFRESH_MINUTES: "0", APP_PROXY_CHECK_TIMEOUT_SECONDS: "15" };

async function importAll(server: TestServer, proxies: readonly string[]): Promise<ImportView> {
  const answer = await server.api.post("/proxies", { proxies });
  assert.equal(answer.status, 200, answer.text);
  return answer.json<ImportView>();
}

/** Checks all proxies to the end. */
async function refresh(server: TestServer): Promise<RefreshView> {
  const answer = await server.api.post("/proxies/refresh");
  assert.equal(answer.status, 202, answer.text);
  const { job_id: id } = answer.json<RefreshView>();
  assert.equal(answer.headers["location"], `/proxies/refresh/${id}`);
  await server.ended(id);
  return (await server.api.get(`/proxies/refresh/${id}`)).json<RefreshView>();
}

const list = async (server: TestServer, query = "") => (await server.api.get(`/proxies${query}`)).json<ProxyListView>();

describe("proxies that somebody brings", { concurrency: 2 }, () => {
  test("a check of twelve finds exactly the usable ones, and no answer, log or file tells a password [slow]", async () => {
    await using twelve = await startTwelve();
    await using site = await MisbehavingSite.start({ "/check": page("Here") });
    await using server = await TestServer.open({ ...BY_HAND, APP_PROXY_CHECK_URL: site.url("/check") });
    assert.deepEqual(await importAll(server, twelve.urls), { added: 12, existing: 0, invalid: [], invalid_count: 0 });
    assert.deepEqual(await importAll(server, twelve.urls), { added: 0, existing: 12, invalid: [], invalid_count: 0 });
    const before = await list(server);
    assert.deepEqual([before.total, before.usable, before.unchecked], [12, 0, 12]);

    const done = await refresh(server);
    const { status, total, total_chunks, completed_chunks, result_count, checks, message } = done;
    assert.deepEqual(
      { status, total, total_chunks, completed_chunks, result_count, checks, message },
      {
        status: "complete",
        total: 12,
        total_chunks: 1,
        completed_chunks: 1,
        result_count: 6,
        checks: "fetch",
        message: "6 of 12 proxies are usable",
      },
    );
    const { proxies, ...sums } = await list(server);
    assert.deepEqual(sums, { total: 12, usable: 6, resting: 6, disabled: 0, unchecked: 0 });
    const usable = proxies.filter(({ state }) => state === "usable").map(({ port }) => twelve.nameAt(port));
    assert.deepEqual(usable.toSorted(), USABLE.toSorted());
    for (const proxy of proxies) {
      const good = proxy.state === "usable";
      assert.deepEqual(
        [proxy.last_error === null, proxy.resting_until === null, proxy.successes],
        [good, good, Number(good)],
      );
      assert.ok(proxy.checked_at !== null && proxy.used_at === null);
      assert.equal(proxy.latency_ms !== null, good);
    }
    // The check came through each of them, and never past them.
    assert.equal(site.visits.length, 6);
    assert.deepEqual(twelve.passed(/\/check/).toSorted(), [...USABLE, "blocking"].toSorted());

    const run = (await server.api.get("/runs?kind=proxy_refresh")).json<RunView[]>();
    assert.deepEqual(
      run.map(({ id, kind, status: ended }) => [id, kind, ended]),
      [[done.job_id, "proxy_refresh", "completed"]],
    );
    const withPassword = proxies.filter(({ has_credentials: has }) => has).map(({ proxy }) => proxy);
    assert.equal(withPassword.length, 2);
    for (const shown of withPassword) assert.match(shown, /^(http|socks5):\/\/\*\*\*@127\.0\.0\.1:\d+$/);
    const shown = [...server.api.answered, ...server.log].join("\n");
    for (const secret of [PASSWORD, "ann:", Buffer.from(`ann:${PASSWORD}`).toString("base64")])
      assert.ok(!shown.includes(secret), "what lets somebody in is told to nobody");
    await server.stop();
    for (const { path, bytes } of server.stored()) assert.ok(!bytes.includes(PASSWORD), path);
  });

  test("without an address to fetch, a check says that only reaching them was tried", async () => {
    await using twelve = await startTwelve();
    await using server = await TestServer.open(BY_HAND);
    await importAll(server, twelve.urls);
    const { checks, result_count: found, message } = await refresh(server);
    assert.equal(checks, "reachable");
    assert.match(message, /are reachable; nothing was fetched through them, because APP_PROXY_CHECK_URL/);
    // Whoever accepts a connection, or greets as SOCKS5, can be reached; more cannot be seen without a destination.
    assert.equal(found, 10);
    const resting = await list(server, "?state=resting");
    assert.deepEqual(resting.proxies.map(({ port }) => twelve.nameAt(port)).toSorted(), ["dead", "dead socks"]);
  });

  test("a check waits for a slow one as long as is configured, however short the time of a page is [slow]", async () => {
    await using running = await startProxies([{ kind: "connect", behaviour: "slow", slowMs: 2_000 }]);
    await using site = await MisbehavingSite.start({ "/check": page("Here") });
    const env = { APP_HTTP_TIMEOUT_SECONDS: "1", APP_PROXY_CHECK_TIMEOUT_SECONDS: "30" };
    await using server = await TestServer.open({ ...BY_HAND, ...env, APP_PROXY_CHECK_URL: site.url("/check") });
    await importAll(server, [running.all[0]!.url]);
    assert.equal((await refresh(server)).result_count, 1);
  });

  test("when the address of the check is down, no proxy that served is sent away", async () => {
    await using running = await startProxies([{ kind: "connect" }, { kind: "socks5" }]);
    await using site = await MisbehavingSite.start({ "/check": page("Here") });
    await using server = await TestServer.open({ ...BY_HAND, APP_PROXY_CHECK_URL: site.url("/check") });
    await importAll(
      server,
      running.all.map(({ url }) => url),
    );
    assert.equal((await refresh(server)).result_count, 2);
    site.on("/check", status(500));
    assert.equal((await refresh(server)).result_count, 0);
    const { usable, proxies } = await list(server);
    assert.equal(usable, 2, JSON.stringify(proxies));
    assert.match(proxies[0]?.last_error ?? "", /the check returned HTTP 500/);
  });

  test("a list is imported line by line: bad ones are named, private ones refused, and all bad is an error", async () => {
    await using server = await TestServer.open({ ...BY_HAND, APP_ALLOW_PRIVATE_NETWORKS: "127.0.0.1/32" });
    const lines = [
      "proxy.example:8080",
      "ftp://x:1",
      "socks5://u:p@proxy.example",
      "10.0.0.1:3128",
      "a.example:80:u:p:q",
    ];
    const { added, invalid } = await importAll(server, lines);
    assert.equal(added, 3);
    assert.deepEqual(
      invalid.map(({ index }) => index),
      [1, 3],
    );
    assert.match(invalid[1]?.message ?? "", /not on the public internet/);
    const { proxies } = await list(server);
    assert.deepEqual(
      proxies.map(({ proxy }) => proxy),
      ["http://***@a.example:80", "socks5://***@proxy.example:1080", "http://proxy.example:8080"],
    );
    const refused = await server.api.post("/proxies", { proxies: ["nonsense", "ftp://x:1"] });
    assert.equal(refused.status, 422);
    assert.match(refused.text, /"path":"proxies\.0"/);
    const [first] = proxies as [ProxyView];
    const off = await server.api.post(`/proxies/${first.id}/disable`);
    assert.equal(off.json<ProxyView>().state, "disabled");
    assert.equal((await list(server)).disabled, 1);
    assert.equal((await server.api.post(`/proxies/${first.id}/enable`)).json<ProxyView>().state, "unchecked");
    assert.equal((await server.api.call("DELETE", `/proxies/${first.id}`)).status, 204);
    assert.equal((await server.api.get(`/proxies/${first.id}`)).status, 404);
  });

  test("a list behind an address is fetched under the guard", async () => {
    await using site = await MisbehavingSite.start({
      "/list.txt": text("# ours\n\nproxy.example:8080\r\nsocks5://b.example:1080\nnonsense\n"),
      "/none": text("# nothing\n"),
    });
    await using server = await TestServer.open(BY_HAND);
    const answer = await server.api.post("/proxies", { url: site.url("/list.txt") });
    const { added, invalid } = answer.json<ImportView>();
    assert.deepEqual([added, invalid.map(({ index }) => index)], [2, [2]]);
    assert.equal((await server.api.post("/proxies", { url: site.url("/none") })).status, 422);
    assert.equal((await server.api.post("/proxies", { url: site.url("/gone") })).status, 422);
    const guarded = await server.api.post("/proxies", { url: "http://10.0.0.1/list" });
    assert.deepEqual([guarded.status, guarded.json<{ code: string }>().code], [422, "forbidden_target"]);
    const refused = await server.api.post("/proxies/refresh");
    assert.equal(refused.status, 202, "there are some by now");
    await server.api.post(`/jobs/runs/${refused.json<RefreshView>().job_id}/cancel`);
  });
});

describe("orb proxies", { concurrency: 2 }, () => {
  test("imports from standard input, checks while somebody watches, and lists without passwords [slow]", async () => {
    await using twelve = await startTwelve();
    await using site = await MisbehavingSite.start({ "/check": page("Here") });
    await using installation = new Installation({ ...BY_HAND, APP_PROXY_CHECK_URL: site.url("/check") });
    const none = await installation.run(["proxies", "refresh"]);
    assert.deepEqual([none.code, /there are no proxies/.test(none.stderr)], [1, true], none.stderr);
    const imported = await installation.run(["proxies", "import", "-"], {
      input: `# ours\n${twelve.urls.join("\n")}\nbad\n`,
    });
    assert.equal(imported.code, 3, imported.stderr);
    assert.match(imported.stdout, /^12 proxies added$/m);
    assert.match(imported.stderr, /^line 14: expected scheme/m);
    const begun = await installation.run(["proxies", "refresh"]);
    assert.match(begun.stderr, /no worker is running/);
    const watched = await installation.run(["proxies", "refresh", "--watch"]);
    assert.deepEqual([watched.code, watched.stdout], [0, "6 of 12 proxies are usable\n"], watched.stderr);
    const listed = await installation.run(["proxies", "list", "--state", "usable"]);
    assert.equal(listed.stdout.split("\n").filter((line) => / usable /.test(line)).length, 6, listed.stdout);
    assert.match(listed.stdout, /^6 of 12 proxies usable, 6 cooling down$/m);
    const { proxies } = JSON.parse(
      (await installation.run(["proxies", "list", "--limit", "3", "--json"])).stdout,
    ) as ProxyListView;
    const [{ id }] = proxies as [ProxyView];
    assert.equal(proxies.length, 3);
    const off = await installation.run(["proxies", "disable", id]);
    assert.match(off.stdout, /^state +disabled$/m);
    const shown = await installation.run(["proxies", "show", id]);
    const removed = await installation.run(["proxies", "remove", id]);
    assert.equal(removed.stdout, `removed ${id}\n`);
    const all = [imported, watched, listed, off, shown, removed].map(({ stdout, stderr }) => stdout + stderr).join("");
    assert.ok(!all.includes(PASSWORD));
  });
});
