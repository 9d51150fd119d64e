import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { Orb, until } from "../chaos/orb.ts";
import { Served } from "../chaos/served.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { hasScript, onTerminal } from "./screen.ts";

/** Records of a whole file. */
function rowsIn(path: string): number {
  if (path.endsWith("/")) {
    const names = readdirSync(path);
    for (const name of names) assert.match(readFileSync(join(path, name), "utf8"), /^---\nurl: "[^"]+"\n.*\n$/s, name);
    return names.length;
  }
  const text = readFileSync(path, "utf8");
  return path.endsWith(".csv") ? text.trimEnd().split("\r\n").length - 1 : (JSON.parse(text) as unknown[]).length;
}

const PAGE = html("<title>A page</title><p>Some words.</p>");

/** A site whose page comes when it is let go. */
async function gated() {
  const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
  const site = await MisbehavingSite.start({
    "/": async (visit, response, own) => {
      await isOpen;
      return PAGE(visit, response, own);
    },
  });
  return { site, open };
}

/** Stands before a server, and does something before it hands on a call. */
async function before(url: string, action: (path: string) => Promise<void>) {
  const target = new URL(url);
  const server = createServer((incoming, outgoing) => {
    void action(incoming.url ?? "").then(() => {
      const { method, headers, url: path } = incoming;
      const onward = request(
        { host: target.hostname, port: target.port, method, path, headers: { ...headers, host: target.host } },
        (answer) => answer.pipe(outgoing.writeHead(answer.statusCode ?? 502, answer.headers)),
      );
      incoming.pipe(onward);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

const urlOf = (served: Served) => /listening on (http:\/\/[^"]+)/.exec(served.process.stderr)?.[1] ?? "";

describe("Ctrl-C during orb crawl", { concurrency: 2 }, () => {
  test("just as it ends: what it has found is printed all the same [slow]", async () => {
    const { site, open } = await gated();
    await using _ = site;
    await using orb = new Orb({ APP_HTTP_TIMEOUT_SECONDS: "600" });
    const served = await Served.start(orb);
    await using door = await before(urlOf(served), async (path) => {
      if (!path.endsWith("/pause")) return;
      open();
      await served.ended(path.split("/").at(-2) ?? "");
    });
    const crawl = orb.start(["crawl", site.url("/"), "--strategy", "http", "--url", door.url]);
    await site.visited("/");
    await crawl.said("0 of 1 known page");
    crawl.kill("SIGINT");
    const { code, stdout, stderr } = await crawl.end();
    assert.equal(code, 0, stderr);
    assert.equal((JSON.parse(stdout) as unknown[]).length, 1);
    await served.terminated();
  });

  for (const [format, name] of [
    ["json", "pages.json"],
    ["csv", "pages.csv"],
    ["markdown", "pages/"],
  ] as const)
    test(`in the middle: ${name} has what is done, and --resume writes the whole of it [slow]`, async () => {
      const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
      await using site = await MisbehavingSite.start({
        "/": html('<a href="/a">a</a> <a href="/b">b</a> <a href="/slow">c</a>'),
        "/a": PAGE,
        "/b": PAGE,
        "/slow": async (visit, response, own) => {
          await isOpen;
          return PAGE(visit, response, own);
        },
      });
      await using orb = new Orb({ APP_HTTP_TIMEOUT_SECONDS: "600" });
      const file = join(orb.dir, name);
      const written = ["--out", file, "--format", format];
      const crawl = orb.start(["crawl", site.url("/"), "--strategy", "http", ...written]);
      await Promise.all(["/a", "/b", "/slow"].map((path) => site.visited(path)));
      await site.when(() => site.open === 1, "only the slow one is under way");
      crawl.kill("SIGINT");
      const { code, stderr } = await crawl.end();
      assert.equal(code, 3, stderr);
      assert.match(stderr, new RegExp(`stopped with 3 pages done, written to .*${name}; to continue`));
      assert.equal(rowsIn(file), 3);
      open();
      const id = /orb crawl --resume (\S{36})/.exec(stderr)?.[1] ?? "";
      const resumed = await orb.start(["crawl", "--resume", id, ...written]).end();
      assert.equal(resumed.code, 0, resumed.stderr);
      assert.equal(rowsIn(file), 4);
    });

  test("while it waits for its turn: it does not begin when its turn comes [slow]", async () => {
    const { site, open } = await gated();
    await using _ = site;
    await using orb = new Orb({ APP_MAX_CONCURRENT_TASKS: "1", APP_HTTP_TIMEOUT_SECONDS: "600" });
    const served = await Served.start(orb);
    const first = await served.api.post("/scraping/async-scrape", { url: site.url("/"), strategy: "http" });
    await site.visited("/");
    const crawl = orb.start(["crawl", site.url("/"), "--strategy", "http", "--url", urlOf(served)]);
    await crawl.said("Waiting for a crawl slot");
    crawl.kill("SIGINT");
    const { code, stderr } = await crawl.end();
    assert.equal(code, 3, stderr);
    const id = /orb crawl --resume (\S{36}) --url/.exec(stderr)?.[1] ?? "";
    assert.match(stderr, /stopped before it started/);
    assert.equal((await served.show(id)).status, "paused");
    await served.api.post(`/jobs/runs/${id}/cancel`);
    open();
    await served.ended(first.json<{ task_id: string }>().task_id);
    await until(async () => ((await served.show(id)) as RunView).status === "cancelled", "it is cancelled");
    await served.terminated();
  });
});

describe("a terminal that is closed", { skip: !hasScript && "there is no script(1)" }, () => {
  test("stops the crawl that was followed there as Ctrl-C does, and leaves nobody at work [slow]", async () => {
    const { site } = await gated();
    await using _ = site;
    await using orb = new Orb({ APP_HTTP_TIMEOUT_SECONDS: "600" });
    const screen = onTerminal(orb, ["crawl", site.url("/"), "--strategy", "http"]);
    await site.visited("/");
    screen.close();
    await screen.ended;
    const workers = () => orb.json<{ state: string; command: string }[]>("workers", "list", "--all");
    await until(async () => (await workers()).every(({ state }) => state === "stopped"), "its worker has stopped");
    assert.deepEqual(
      (await workers()).map(({ command }) => command),
      ["crawl"],
    );
    assert.deepEqual(
      (await orb.json<RunView[]>("runs", "list")).map(({ status }) => status),
      ["paused"],
    );
  });
});
