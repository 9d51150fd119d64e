import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Problem } from "../../src/api/problems.ts";
import { failure } from "../../src/domain/run/failure.ts";
import type { QueueItemDetail, QueueItemView } from "../../src/orchestrator/queue/items.ts";
import type { QueueStats } from "../../src/orchestrator/queue/stats.ts";
import { type Answer, openTestApi } from "./kit.ts";

const item = (name: string, more: object = {}) => ({ artifact_id: name, url: `http://a.test/${name}`, ...more });

function expectProblem(answer: Answer, status: number): Problem {
  assert.equal(answer.status, status, answer.text);
  return answer.json<Problem>();
}

/** The address in the Link header, if there is one. */
function nextOf({ headers }: Answer): string | null {
  const link = headers["link"];
  return link === undefined ? null : (/^<([^>]+)>; rel="next"$/.exec(String(link))?.[1] ?? "malformed");
}

describe("adding items", () => {
  test("one, and again: the second time nothing changes", async (t) => {
    const served = await openTestApi(t);
    const first = await served.send(
      "POST",
      "/queue/items",
      item("papers/2024 ü", { priority: 5, payload: { a: [1] } }),
    );
    assert.equal(first.status, 201);
    assert.deepEqual(first.json(), { added: 1, existing: 0 });
    assert.deepEqual(served.woken, [["site:a.test"]]);
    const again = await served.send("POST", "/queue/items", item("papers/2024 ü"));
    assert.equal(again.status, 200);
    assert.deepEqual(again.json(), { added: 0, existing: 1 });
    const shown = await served.get(String(first.headers["location"]));
    const { artifact_id, priority, payload, status, id } = shown.json<QueueItemDetail>();
    assert.deepEqual([artifact_id, priority, payload, status], ["papers/2024 ü", 5, { a: [1] }, "queued"]);
    assert.equal((await served.get(`/queue/items/${id}`)).text, shown.text, "by its id as well");
  });

  test("many at once; one that is bad refuses them all", async (t) => {
    const served = await openTestApi(t);
    const items = Array.from({ length: 1200 }, (_, index) => item(`i${index}`));
    const added = await served.send("POST", "/queue/items", { items: [...items, item("i0")] });
    assert.deepEqual([added.status, added.json()], [201, { added: 1200, existing: 1 }]);
    const bad = [item("new"), item("b", { url: "ftp://a.test/" }), item("c\u0000", { handler: "a b" })];
    const { code, errors } = expectProblem(await served.send("POST", "/queue/items", { items: bad }), 422);
    assert.equal(code, "input_invalid");
    assert.deepEqual(
      errors?.map(({ path }) => path),
      ["items[2].handler"],
      "the shape first",
    );
    const worse = [item("new"), item("b", { url: "ftp://a.test/" }), item("c\u0000")];
    const second = expectProblem(await served.send("POST", "/queue/items", { items: worse }), 422);
    assert.deepEqual(
      second.errors?.map(({ path }) => path),
      ["items[1].url", "items[2].artifact_id"],
    );
    assert.equal((await served.get("/queue/items/new")).status, 404);
    const one = expectProblem(await served.send("POST", "/queue/items", item("x", { url: "nowhere" })), 422);
    assert.deepEqual(one.errors, [{ path: "url", message: "expected an absolute http or https URL" }]);
    expectProblem(await served.send("POST", "/queue/items", { items: [] }), 422);
    expectProblem(await served.send("POST", "/queue/items", [item("x")]), 422);
    expectProblem(await served.send("POST", "/queue/items"), 422);
  });

  test("secrets in addresses are not shown", async (t) => {
    const served = await openTestApi(t);
    await served.send("POST", "/queue/items", item("a", { url: "http://user:hunter2@a.test/" }));
    for (const path of ["/queue/items", "/queue/items/a"]) {
      const { text } = await served.get(path);
      assert.ok(text.includes("a.test") && !text.includes("hunter2"), text);
    }
  });
});

describe("looking at the queue", () => {
  test("page by page, each item once, also while others come", async (t) => {
    const served = await openTestApi(t);
    await served.send("POST", "/queue/items", { items: Array.from({ length: 7 }, (_, index) => item(`i${index}`)) });
    const seen: string[] = [];
    const sizes: number[] = [];
    let path: string | null = "/queue/items?limit=3&status=queued";
    while (path !== null) {
      const answer: Answer = await served.get(path);
      assert.equal(answer.status, 200);
      const page = answer.json<QueueItemView[]>();
      seen.push(...page.map(({ artifact_id }) => artifact_id));
      sizes.push(page.length);
      if (seen.length === 3) await served.send("POST", "/queue/items", item("late"));
      path = nextOf(answer);
    }
    assert.deepEqual(seen, ["i0", "i1", "i2", "i3", "i4", "i5", "i6", "late"]);
    assert.deepEqual(sizes, [3, 3, 2]);
    const exact = await served.get("/queue/items?limit=8");
    assert.deepEqual([exact.json<unknown[]>().length, nextOf(exact)], [8, null], "no empty page at the end");
    assert.deepEqual((await served.get("/queue/items?status=error")).json(), []);
  });

  test("a cursor of nowhere is refused", async (t) => {
    const served = await openTestApi(t);
    await served.send("POST", "/queue/items", item("a"));
    const foreign = Buffer.from("1:00000000-0000-4000-8000-000000000000").toString("base64url");
    for (const cursor of ["x", "%00", "1:1", foreign, Buffer.from("2:x").toString("base64url")]) {
      const problem = expectProblem(await served.get(`/queue/items?cursor=${cursor}`), 422);
      assert.equal(problem.errors?.[0]?.path, "query.cursor", cursor);
    }
  });

  test("what was done and what failed, in numbers and one by one; and failed ones are tried again", async (t) => {
    const served = await openTestApi(t);
    const there = { url: "http://b.test/x" };
    await served.send("POST", "/queue/items", { items: [item("good"), item("bad"), item("elsewhere", there)] });
    await served.work("site:a.test", (key) =>
      key === "good"
        ? {
            kind: "completed",
            artifacts: [{ hash: "ab".repeat(32), size: 12, contentType: "text/plain", url: "http://a.test/good" }],
            results: [{ title: "T" }],
            detail: null,
          }
        : { kind: "failed", failure: failure("http_not_found", "the server answered 404", { httpStatus: 404 }) },
    );
    const stats = (await served.get("/queue/stats")).json<QueueStats>();
    assert.deepEqual([stats.done, stats.error, stats.queued, stats.total], [1, 1, 1, 3]);
    assert.deepEqual(
      stats.lanes.map(({ lane }) => lane),
      ["a.test", "b.test"],
    );
    const good = (await served.get("/queue/items/good")).json<QueueItemDetail>();
    assert.deepEqual([good.status, good.results], ["done", [{ title: "T" }]]);
    assert.equal(good.files[0]?.path, `/files/${"ab".repeat(32)}`);
    assert.equal(good.history.length, 1);
    const [failed] = (await served.get("/queue/items?status=error")).json<QueueItemView[]>();
    assert.deepEqual([failed?.artifact_id, failed?.failure_reason], ["bad", "http_not_found"]);
    assert.deepEqual((await served.send("POST", "/queue/retry-failed", { site: "b.test" })).json(), { requeued: 0 });
    assert.deepEqual((await served.send("POST", "/queue/retry-failed", { site: "a.test" })).json(), { requeued: 1 });
    assert.deepEqual((await served.send("POST", "/queue/retry-failed")).json(), { requeued: 0 });
    expectProblem(await served.send("POST", "/queue/retry-failed", { site: "no site" }), 422);
    expectProblem(await served.send("POST", "/queue/retry-failed", { sight: "a.test" }), 422);
  });

  test("an item that is not there", async (t) => {
    const served = await openTestApi(t);
    for (const name of ["nothing", "00000000-0000-4000-8000-000000000000", "%2e%2e%2fetc%2fpasswd", "a%00b"])
      assert.equal(expectProblem(await served.get(`/queue/items/${name}`), 404).code, "not_found");
  });
});

/** Both names of it lead to the same limit. */
const LIMIT_PATHS = ["/queue/concurrency-keys", "/queue/resolvers"];

describe("the limit of a concurrency key", () => {
  for (const path of LIMIT_PATHS)
    test(`is the configured one until it is changed at ${path}, and again afterwards`, async (t) => {
      const served = await openTestApi(t);
      const view = (name: string, limit: number | null, configured: number | null) => ({
        concurrency_key: name,
        resolver: name,
        limit,
        configured,
      });
      const read = async (name: string) =>
        Promise.all(LIMIT_PATHS.map(async (one) => (await served.get(`${one}/${name}`)).json()));
      assert.deepEqual(
        await read("crossref"),
        LIMIT_PATHS.map(() => view("crossref", 3, 3)),
      );
      const set = await served.send("PUT", `${path}/crossref`, { limit: 7 });
      assert.deepEqual(set.json(), view("crossref", 7, 3));
      assert.deepEqual(
        await read("crossref"),
        LIMIT_PATHS.map(() => view("crossref", 7, 3)),
      );
      assert.deepEqual(served.woken, [null], "running work is told");
      await served.send("PUT", `${path}/crossref`, { limit: null });
      assert.deepEqual(
        await read("crossref"),
        LIMIT_PATHS.map(() => view("crossref", 3, 3)),
      );
      assert.deepEqual(
        await read("toString"),
        LIMIT_PATHS.map(() => view("toString", null, null)),
      );
    });

  for (const path of LIMIT_PATHS)
    test(`is a whole number above 0 of a key that can exist, at ${path}`, async (t) => {
      const served = await openTestApi(t);
      for (const body of [
        { limit: 0 },
        { limit: 1.5 },
        { limit: "3" },
        {},
        { limit: 3, more: 1 },
        { limit: 1e300 },
        null,
      ])
        expectProblem(await served.send("PUT", `${path}/crossref`, JSON.stringify(body)), 422);
      for (const name of ["a%20b", "%C3%BC", "a%2Fb", "x".repeat(129)])
        expectProblem(await served.get(`${path}/${name}`), 422);
    });
});

describe("a concurrency key and its alias `resolver`", () => {
  test("an item may name either, and is shown with both", async (t) => {
    const served = await openTestApi(t);
    const given = {
      new: { concurrency_key: "crossref" },
      old: { resolver: "crossref" },
      both: { concurrency_key: "crossref", resolver: "crossref" },
      "copied, then set": { concurrency_key: "crossref", resolver: null },
    };
    const items = Object.entries(given).map(([name, more]) => item(name, more));
    assert.equal((await served.send("POST", "/queue/items", { items })).status, 201);
    const listed = (await served.get("/queue/items")).json<QueueItemView[]>();
    const keys = listed.map(({ concurrency_key, resolver }) => [concurrency_key, resolver]);
    assert.deepEqual(
      keys,
      [...Object.keys(given)].map(() => ["crossref", "crossref"]),
    );
    const shown = (await served.get("/queue/items/old")).json<QueueItemDetail>();
    assert.deepEqual([shown.concurrency_key, shown.resolver], ["crossref", "crossref"]);
  });

  test("an item with two different values is refused, and the error names both fields", async (t) => {
    const served = await openTestApi(t);
    const two = item("two", { concurrency_key: "crossref", resolver: "unpaywall" });
    const message =
      'differs from concurrency_key, of which it is an alias: "unpaywall" and "crossref"; set only one of them';
    const one = expectProblem(await served.send("POST", "/queue/items", two), 422);
    assert.deepEqual(one.errors, [{ path: "resolver", message }]);
    const many = expectProblem(await served.send("POST", "/queue/items", { items: [item("one"), two] }), 422);
    assert.deepEqual(many.errors, [{ path: "items[1].resolver", message }]);
    assert.deepEqual((await served.get("/queue/items")).json(), [], "nothing was added");
  });

  test("the description of the API says that `resolver` is deprecated", async (t) => {
    const served = await openTestApi(t);
    type Schema = { properties: Record<string, { deprecated?: boolean; description?: string }> };
    type Operation = {
      deprecated?: boolean;
      responses: { 200: { content: { "application/json": { schema: Schema & { items: Schema } } } } };
      requestBody: { content: { "application/json": { schema: { anyOf: Schema[] } } } };
    };
    const { paths } = (await served.get("/openapi.json")).json<{ paths: Record<string, Record<string, Operation>> }>();
    const answer = (path: string) => paths[path]?.["get"]?.responses[200].content["application/json"].schema;
    const alias = ({ properties }: Schema) => {
      const { deprecated, description } = properties["resolver"] ?? {};
      return [deprecated, description, properties["concurrency_key"]?.deprecated ?? false];
    };
    for (const schema of [
      paths["/queue/items"]?.["post"]?.requestBody.content["application/json"].schema.anyOf[0],
      answer("/queue/items")?.items,
      answer("/queue/items/{id}"),
      answer("/queue/concurrency-keys/{name}"),
      answer("/queue/resolvers/{name}"),
    ])
      assert.deepEqual(alias(schema!), [true, "alias of concurrency_key", false]);
    const isOld = (path: string) => [paths[path]?.["get"]?.deprecated, paths[path]?.["put"]?.deprecated];
    assert.deepEqual(isOld("/queue/resolvers/{name}"), [true, true]);
    assert.deepEqual(isOld("/queue/concurrency-keys/{name}"), [undefined, undefined]);
  });
});
