import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { parquetReadObjects } from "hyparquet";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { PreviewView } from "../../src/orchestrator/preview.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { hang, html, json, page, pagedApi, product, status, tooMany } from "../support/misbehaviours.ts";
import { readZip } from "../support/zip.ts";
import { TestServer } from "./kit.ts";
import { FULL } from "../support/gate.ts";

/** A multiple of six, and fewer than a list gives at once. */
const RUNS = FULL ? 900 : 60;
const THINGS = Array.from({ length: 7 }, (_, index) => ({ name: `Thing ${index + 1}`, price: index + 0.5 }));
const LIST = `<!doctype html><title>Things</title><ul>${THINGS.map(
  ({ name, price }) => `<li class="thing"><b>${name}</b> <i>${price}</i></li>`,
).join("")}</ul>`;
const RULES = {
  items: { css: "li.thing" },
  fields: { name: { css: "b", required: true }, price: { css: "i", type: "number" } },
};

describe("what a run brings home", { concurrency: 4 }, () => {
  let server: TestServer;
  let site: MisbehavingSite;
  before(async () => {
    server = await TestServer.open();
    site = await MisbehavingSite.start({
      "/list": html(LIST),
      "/api": pagedApi(THINGS, 3),
      "/json": json(THINGS),
      "/product": product("Silk", "3.20"),
    });
  });
  after(async () => {
    await site[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  test("records of a list, in the order of the page, in every format", async () => {
    const run = await server.run({ target_url: site.url("/list"), name: "All things", ...RULES });
    assert.equal(run.status, "completed", String(run.error_message));
    assert.deepEqual(
      (await server.results(run.id)).map(({ data }) => data),
      THINGS,
    );
    const file = async (format: string) => {
      const answer = await server.api.get(`/jobs/runs/${run.id}/results?format=${format}`);
      assert.equal(answer.status, 200, answer.text);
      assert.match(String(answer.headers["content-disposition"]), /^attachment; filename="[^"]+"$/);
      assert.equal(answer.headers["x-content-type-options"], "nosniff");
      return answer;
    };
    const address = `${server.api.url}/jobs/runs/${run.id}/results?format=`;
    // Whether there is a file is said without making it.
    for (const format of ["csv", "json", "jsonl"]) {
      const { status, headers } = await fetch(address + format, { method: "HEAD" });
      assert.equal(status, 200);
      assert.ok(headers.get("content-disposition")?.endsWith(`.${format}"`));
    }
    assert.equal((await fetch(`${address}warc`, { method: "HEAD" })).status, 409);
    const list = (await file("json")).json<{ data: unknown }[]>();
    assert.deepEqual(
      list.map(({ data }) => data),
      THINGS,
    );
    const lines = (await file("jsonl")).text.trim().split("\n");
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { data: unknown }).data),
      THINGS,
    );
    const csv = (await file("csv")).text.trim().split(/\r?\n/);
    assert.equal(csv.length, THINGS.length + 1);
    assert.match(csv[0] ?? "", /name,price/);
    assert.match(csv[1] ?? "", /Thing 1,0\.5/);
    const markdown = (await file("markdown")).text;
    for (const { name } of THINGS) assert.ok(markdown.includes(name));
    const packed = readZip(Buffer.from((await file("markdown-zip")).bytes));
    assert.deepEqual([...packed.values()].map(String), [markdown], "the records of one page are one file");
    assert.match([...packed.keys()].join(), /^things-[0-9a-f]{8}\.md$|^list-[0-9a-f]{8}\.md$/);
    assert.equal((await file("csv-excel")).bytes.subarray(0, 4).toString("latin1"), "\xef\xbb\xbfu");
    const { bytes } = await file("parquet");
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
    const rows = await parquetReadObjects({ file: buffer });
    assert.deepEqual(
      rows.map(({ name, price }) => ({ name, price })),
      THINGS,
    );
    assert.equal((await server.api.get(`/jobs/runs/${run.id}/results?format=xml`)).status, 422);
  });

  test("an API that gives its list in pieces is replayed to its end", async () => {
    const run = await server.run({
      target_url: site.url("/list"),
      strategy: "api_replay",
      replay: {
        request: { method: "GET", url: site.url("/api?page=1") },
        items: "$.items[*]",
        pagination: { kind: "link", next: "$.next", max_pages: 10 },
      },
    });
    assert.equal(run.status, "completed", String(run.error_message));
    assert.deepEqual(
      (await server.results(run.id)).map(({ data }) => data),
      THINGS,
    );
    assert.equal(site.count("/api"), 3);
    assert.equal(run.resolved_strategy, "api_replay");
  });

  test("JSON is its own record, and a list of it a list of records", async () => {
    const run = await server.run({ target_url: site.url("/json") });
    assert.deepEqual(
      (await server.results(run.id)).map(({ data }) => data),
      THINGS,
    );
  });

  test("results come in pages that miss nothing and tell nothing twice", async () => {
    const run = await server.run({ target_url: site.url("/list"), ...RULES });
    const names: unknown[] = [];
    let path: string | undefined = `/jobs/runs/${run.id}/results?limit=3`;
    for (let pages = 0; path !== undefined; pages += 1) {
      const answer = await server.api.get(path);
      const rows = answer.json<{ data: { name: string } }[]>();
      assert.ok(rows.length <= 3 && pages < 4);
      names.push(...rows.map(({ data }) => data.name));
      path = nextOf(answer.headers["link"]);
    }
    assert.deepEqual(
      names,
      THINGS.map(({ name }) => name),
    );
  });
});

describe("trying rules out", { concurrency: 4 }, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open();
  });
  after(() => server[Symbol.asyncDispose]());
  const preview = async (body: unknown) => {
    const answer = await server.api.post("/extract/preview", body);
    assert.equal(answer.status, 200, answer.text);
    return answer.json<PreviewView>();
  };

  test("on a live page: one request, records, and nothing kept [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/list": html(LIST) });
    const seen = await preview({ url: site.url("/list"), ...RULES });
    assert.deepEqual(seen.records, THINGS);
    assert.deepEqual([seen.http_status, seen.strategy, seen.title, seen.failure_code], [200, "http", "Things", null]);
    assert.equal(site.visits.length, 1);
    assert.deepEqual((await server.api.get(`/runs?site=${site.name}`)).json(), []);
  });

  test("on given HTML: nothing is asked for", async () => {
    const seen = await preview({ html: LIST, url: "https://shop.example/list", ...RULES });
    assert.deepEqual([seen.records, seen.http_status, seen.strategy], [THINGS, null, null]);
    const bare = await preview({ html: "<p>nothing</p>", fields: { name: { css: "b", required: true } } });
    assert.equal(bare.failure_code, "extraction");
    assert.deepEqual(
      bare.errors.map(({ field }) => field),
      ["name"],
    );
  });

  test("a page that fails is shown as it would fail", async () => {
    await using site = await MisbehavingSite.start({ "/gone": status(404), "/private": status(403) });
    const gone = await preview({ url: site.url("/gone"), strategy: "http" });
    assert.deepEqual(
      [gone.failure_code, gone.failure_reason, gone.http_status],
      ["bad_response", "http_not_found", 404],
    );
    const refused = await preview({ url: site.url("/private"), strategy: "http" });
    assert.deepEqual([refused.failure_code, refused.failure_reason], ["blocked", "http_forbidden"]);
  });

  test("what cannot be tried is refused by field: rules, addresses, nothing at all", async () => {
    for (const [body, path] of [
      [{ html: "<p>", fields: { a: { css: ":::" } } }, /fields/],
      [{ url: "ftp://shop.example/" }, /url/],
      [{ url: "http://10.0.0.1/" }, /not allowed|private|forbidden/i],
      [{}, /url/],
    ] as const) {
      const answer = await server.api.post("/extract/preview", body);
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.text, path);
    }
  });

  test("who goes away does not leave the site a request that nobody waits for", async () => {
    await using site = await MisbehavingSite.start({ "/": hang });
    const gone = new AbortController();
    const asking = fetch(`${server.api.url}/extract/preview`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ url: site.url("/"), strategy: "http" }),
      signal: gone.signal,
    });
    await site.visited("/");
    gone.abort();
    await assert.rejects(asking);
    await site.when(() => site.open === 0, "the request is dropped");
  });

  test("a site that asked for patience is not asked behind its back", async () => {
    await using site = await MisbehavingSite.start({ "/": tooMany("30") });
    const { id } = await server.begin({ target_url: site.url("/") });
    await server.said(id, /^Rate limited/);
    const answer = await server.api.post("/extract/preview", { url: site.url("/") });
    assert.deepEqual([answer.status, answer.json<{ code: string }>().code], [409, "site_waits"]);
    assert.equal(site.count("/"), 1);
    await server.api.post(`/jobs/runs/${id}/cancel`);
  });
});

test("many runs are listed newest first, page by page, and narrowed by what is asked for [slow]", async () => {
  await using server = await TestServer.open();
  await using site = await MisbehavingSite.start({ "/good": page("Good"), "/gone": status(404) });
  const good = await server.job({ target_url: site.url("/good"), name: "Good things", tags: ["kept"] });
  const gone = await server.job({ target_url: site.url("/gone"), name: "100%_gone", tags: ["lost"] });
  const ids: string[] = [];
  for (let index = 0; index < RUNS; index += 1) ids.push((await server.begin(index % 6 === 0 ? gone.id : good.id)).id);
  await Promise.all(ids.map((id) => server.ended(id)));
  const listed: string[] = [];
  let path: string | undefined = "/runs?limit=7";
  while (path !== undefined) {
    const answer = await server.api.get(path);
    listed.push(...answer.json<RunView[]>().map(({ id }) => id));
    path = nextOf(answer.headers["link"]);
    // What comes in meanwhile does not shift the pages that follow.
    if (listed.length === 21) await server.run(good.id);
  }
  assert.deepEqual(listed, ids.toReversed());
  const count = async (query: string) => (await server.api.get(`/runs?limit=1000&${query}`)).json<RunView[]>().length;
  assert.equal(await count("status=failed"), RUNS / 6);
  assert.equal(await count("status=completed"), (RUNS * 5) / 6 + 1);
  assert.equal(await count("status=paused"), 0);
  assert.equal(await count("kind=page"), RUNS + 1);
  assert.equal(await count("kind=crawl"), 0);
  assert.equal(await count(`site=${site.name}`), RUNS + 1);
  assert.equal(await count("site=elsewhere.example"), 0);
  assert.equal(
    await count(`q=${encodeURIComponent("100%_g")}`),
    RUNS / 6,
    "wildcards of the database are plain letters",
  );
  assert.equal(await count("q=_"), RUNS / 6);
  assert.equal(await count(`q=${ids[3]}`), 1);
  const jobs = async (query: string) => (await server.api.get(`/jobs?${query}`)).json<JobView[]>().map(({ id }) => id);
  assert.deepEqual(await jobs("tag=kept"), [good.id]);
  assert.deepEqual(await jobs("q=gone"), [gone.id]);
  assert.deepEqual(await jobs(`site=${site.name}`), [gone.id, good.id]);
  assert.equal((await server.api.get("/runs?cursor=nonsense")).status, 422);
  assert.equal((await server.api.get("/runs?limit=0")).status, 422);
});

test("a list is read on after what was read is deleted", async () => {
  await using server = await TestServer.open({}, { worker: false });
  const origin = "https://shop.example";
  for (let n = 0; n < 5; n += 1) {
    await server.job({ target_url: `${origin}/${n}` });
    await server.session({ origin, name: String(n), headers: { "x-key": "1" } });
  }
  for (const list of ["/jobs", "/sessions"]) {
    const seen: string[] = [];
    for (let path: string | undefined = `${list}?limit=2`; path !== undefined;) {
      const answer = await server.api.get(path);
      assert.equal(answer.status, 200, answer.text);
      const page = answer.json<{ id: string }[]>();
      for (const { id } of page) {
        seen.push(id);
        assert.equal((await server.api.call("DELETE", `${list}/${id}`)).status, 204);
      }
      path = nextOf(answer.headers["link"]);
    }
    assert.equal(new Set(seen).size, 5, list);
    assert.deepEqual((await server.api.get(list)).json(), []);
  }
});

function nextOf(link: string | string[] | undefined): string | undefined {
  return /<([^>]+)>; rel="next"/.exec(String(link ?? ""))?.[1];
}
