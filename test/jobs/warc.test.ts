import assert from "node:assert/strict";
import { existsSync, utimesSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { type Client, openClient } from "../../src/app/context.ts";
import { systemClock } from "../../src/base/clock.ts";
import { removeExpiredRuns } from "../../src/supervisor/duties/remove-expired-runs.ts";
import { sweepOrphanedFiles } from "../../src/supervisor/duties/sweep-orphaned-files.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { html, sendTo } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";
import { membersOf, type ReadRecord, readWarc } from "./warc-reader.ts";

const DAY = 24 * 3_600_000;
const FOREVER = new AbortController().signal;
const LINKS = ["/gzip", "/brotli", "/latin1", "/chunked", "/missing", "/hop", "/landed", "/away", "/null", "/cookies"];

const BODIES = {
  "/": Buffer.from(
    `<title>Start</title><p>Words: ä ß 靴.</p>${LINKS.map((link) => `<a href="${link}">x</a>`).join("")}`,
  ),
  "/gzip": Buffer.from("<title>Packed</title><p>This came compressed, ä.</p>".repeat(50)),
  "/brotli": Buffer.from("<title>Packed otherwise</title><p>So did this.</p>".repeat(50)),
  "/latin1": Buffer.from("<title>Caf\u00e9</title><p>na\u00efve caf\u00e9 \u00a3</p>", "latin1"),
  "/chunked": Buffer.from("<title>Pieces</title><p>one two three</p>"),
  "/missing": Buffer.from("<title>Not here</title><p>There is no such page.</p>"),
  "/landed": Buffer.from("<title>Landed</title><p>after a hop</p>"),
  "/null": Buffer.from([60, 112, 62, 0, 255, 254, 13, 10, 13, 10, 128, 60, 47, 112, 62]),
  "/cookies": Buffer.from("<title>Cookies</title><p>two of them</p>"),
  "/far": Buffer.from("<title>Far</title><p>on another site</p>"),
};

const send =
  (body: Buffer, headers: Record<string, string | string[]> = {}, status = 200): Route =>
  (_visit, response) =>
    void response.writeHead(status, { "content-type": "text/html; charset=utf-8", ...headers }).end(body);

const routes = (far: string): Record<string, Route> => ({
  "/": send(BODIES["/"]),
  "/gzip": send(gzipSync(BODIES["/gzip"]), { "content-encoding": "gzip" }),
  "/brotli": send(brotliCompressSync(BODIES["/brotli"]), { "Content-Encoding": "br", "X-Odd": "é" }),
  "/latin1": send(BODIES["/latin1"], { "content-type": "text/html; charset=iso-8859-1" }),
  "/chunked": (_visit, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    for (const byte of BODIES["/chunked"]) response.write(Buffer.from([byte]));
    response.end();
  },
  "/missing": send(BODIES["/missing"], {}, 404),
  "/hop": sendTo("/landed", 301),
  "/landed": send(BODIES["/landed"]),
  "/away": sendTo(far, 302),
  "/null": send(BODIES["/null"]),
  "/cookies": send(BODIES["/cookies"], { "set-cookie": ["a=1", "b=2; Path=/"] }),
});

describe("a crawl that keeps what the servers sent", () => {
  let server: TestServer;
  let client: Client;
  let site: MisbehavingSite;
  let other: MisbehavingSite;
  before(async () => {
    server = await TestServer.open();
    client = await openClient(server.config);
    other = await MisbehavingSite.start({ "/far": send(BODIES["/far"]) }, "127.0.0.2");
    site = await MisbehavingSite.start(routes(other.url("/far")));
  });
  after(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  });

  const crawl = async (body: object) => {
    const answer = await server.api.post("/scraping/async-scrape", { export_format: "warc", ...body });
    assert.equal(answer.status, 202, answer.text);
    const { task_id: id } = answer.json<{ task_id: string }>();
    await server.ended(id);
    return id;
  };
  const archive = async (id: string) => {
    const answer = await server.api.get(`/scraping/tasks/${id}/results?format=warc`);
    assert.deepEqual([answer.status, answer.headers["content-type"]], [200, "application/warc"], answer.text);
    assert.match(String(answer.headers["content-disposition"]), /\.warc\.gz"$/);
    return answer.bytes;
  };
  const responses = (records: ReadRecord[]) =>
    new Map(records.filter(({ type }) => type === "response").map((record) => [record.url ?? "", record]));

  test("gives an archive that other programs read: every byte as the site served it", async () => {
    const id = await crawl({ url: site.url("/"), same_site: false, retry_attempts: 0 });
    const records = await readWarc(await archive(id));
    assert.equal(records[0]?.type, "warcinfo");
    assert.match(records[0].payload.toString(), /^format: WARC File Format 1\.1\r\n/);
    assert.equal(records.filter(({ type }) => type === "warcinfo").length, 1);
    const got = responses(records);
    for (const [path, body] of Object.entries(BODIES)) {
      const url = path === "/far" ? other.url(path) : site.url(path);
      const response = got.get(url);
      assert.ok(response !== undefined, `${path} is there`);
      assert.ok(response.payload.equals(body), `${path} as it was served`);
      assert.equal(response.http.get("content-length"), String(body.length));
      assert.equal(response.http.has("content-encoding") || response.http.has("transfer-encoding"), false);
    }
    assert.equal(got.get(site.url("/missing"))?.statusLine, "HTTP/1.1 404 Not Found");
    assert.equal(got.get(site.url("/gzip"))?.http.get("x-orig-content-encoding"), "gzip");
    assert.equal(
      got.get(site.url("/gzip"))?.http.get("x-orig-content-length") ?? "chunked",
      got.get(site.url("/gzip"))?.http.get("x-orig-transfer-encoding") ?? String(gzipSync(BODIES["/gzip"]).length),
    );
    assert.equal(got.get(site.url("/brotli"))?.http.get("x-orig-content-encoding"), "br");
    assert.equal(got.get(site.url("/chunked"))?.http.get("x-orig-transfer-encoding"), "chunked");
    assert.match(got.get(site.url("/latin1"))?.http.get("content-type") ?? "", /iso-8859-1/);
    assert.match(got.get(site.url("/cookies"))?.http.get("set-cookie") ?? "", /a=1.*b=2; Path=\//s);
    // A hop within the site, and one to another site, are records of their own.
    for (const [path, status, to] of [
      ["/hop", "301", "/landed"],
      ["/away", "302", other.url("/far")],
    ] as const) {
      const hop = got.get(site.url(path));
      assert.equal(hop?.statusLine?.split(" ")[1], status);
      assert.deepEqual([hop?.http.get("location"), hop?.payload.length], [to, 0]);
    }
    const requests = records.filter(({ type }) => type === "request");
    assert.deepEqual(new Set(requests.map(({ url }) => url)), new Set(got.keys()));
    for (const request of requests) {
      const { pathname } = new URL(request.url ?? "");
      assert.equal(request.statusLine, `GET ${pathname} HTTP/1.1`);
      assert.equal(request.http.get("host"), new URL(request.url ?? "").host);
      assert.match(request.http.get("user-agent") ?? "", /^Orbweaver/);
    }
    // The same bytes by the other address, and records of pages as ever.
    const again = await server.api.get(`/jobs/runs/${id}/results?format=warc`);
    assert.deepEqual(membersOf(again.bytes).length, records.length);
    assert.equal((await server.results(id)).length > 5, true);
  });

  test("one that kept nothing says so, and what to do", async () => {
    const id = await crawl({ url: site.url("/landed"), export_format: "jsonl" });
    const page = await server.run({ target_url: site.url("/landed"), fields: ["title"] });
    for (const path of [`/scraping/tasks/${id}`, `/jobs/runs/${id}`, `/jobs/runs/${page.id}`]) {
      const answer = await server.api.get(`${path}/results?format=warc`);
      assert.equal(answer.status, 409, answer.text);
      const problem = answer.json<{ code: string; hint: string }>();
      assert.equal(problem.code, "not_archived");
      assert.match(answer.text, /export_format.*warc/);
    }
    const before = site.visits.length;
    assert.equal((await client.store.exchanges(id, { limit: 10 })).length, 0);
    assert.equal(site.visits.length, before);
  });

  test("can be read while it runs, and a page that is tried again is there once", async () => {
    let failures = 0;
    let open = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    await using slow = await MisbehavingSite.start({
      "/": html('<title>S</title><a href="/flaky">f</a><a href="/held">h</a>'),
      "/flaky": (visit, response, self) =>
        (failures += 1) === 1
          ? send(Buffer.from("no"), {}, 500)(visit, response, self)
          : html("<p>yes</p>")(visit, response, self),
      "/held": async (visit, response, self) => {
        await opened;
        await html("<p>late</p>")(visit, response, self);
      },
    });
    const answer = await server.api.post("/scraping/async-scrape", { url: slow.url("/"), export_format: "warc" });
    const { task_id: id } = answer.json<{ task_id: string }>();
    for (;;) {
      const status = await server.api.get(`/scraping/tasks/${id}/status`);
      if (status.json<{ completed_items: number }>().completed_items === 2) break;
    }
    assert.deepEqual([...responses(await readWarc(await archive(id))).keys()].toSorted(), [
      slow.url("/"),
      slow.url("/flaky"),
    ]);
    open();
    await server.ended(id);
    const records = await readWarc(await archive(id));
    const flaky = records.filter(({ type, url }) => type === "response" && url === slow.url("/flaky"));
    assert.deepEqual(
      flaky.map(({ statusLine }) => statusLine),
      ["HTTP/1.1 200 OK"],
    );
    assert.equal(responses(records).size, 3);
  });

  test("its files go with it, an hour after they were stored at the earliest", async () => {
    const id = await crawl({ url: site.url("/landed"), temporary: true });
    const [file] = await client.store.exchanges(id, { limit: 1 });
    assert.ok(file !== undefined);
    const there = () => existsSync(client.pathOf(file.hash));
    const sweep = () => sweepOrphanedFiles(client).run(FOREVER);
    const then = { ...systemClock, now: () => systemClock.now() + DAY + 1000 };
    await removeExpiredRuns({ ...client, clock: then }).run(FOREVER);
    assert.deepEqual(await client.store.isOrphaned(file.hash), true);
    await sweep();
    assert.equal(there(), true, "somebody may just have stored the same");
    utimesSync(client.pathOf(file.hash), 1, 1);
    await sweep();
    assert.deepEqual([there(), await client.store.isOrphaned(file.hash)], [false, false]);
  });
});
