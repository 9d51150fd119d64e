import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createClient, isOrbweaverError, type OrbweaverClient, OrbweaverError } from "../../src/api-client/client.ts";
import { TestServer } from "../jobs/kit.ts";
import { openGate } from "./kit.ts";

const PAGE = "https://books.test/";

describe("a program that calls the API with the client", () => {
  let testServer: TestServer;
  let client: OrbweaverClient;
  before(async () => {
    testServer = await TestServer.open({}, { worker: false });
    client = createClient({ url: testServer.api.url });
  });
  after(() => testServer[Symbol.asyncDispose]());

  test("makes a job, changes it, runs it and takes it away, each by its name", async () => {
    const job = await client.jobs.create({ name: "Books", target_url: PAGE, fields: { title: "h1" }, tags: ["a"] });
    assert.equal((await client.jobs.get(job.id)).target_url, PAGE);
    assert.equal((await client.jobs.change(job.id, { name: "Other" })).name, "Other");
    const run = await client.jobs.run(job.id);
    assert.deepEqual(
      (await client.jobs.runs(job.id).take()).map(({ id }) => id),
      [run.id],
    );
    assert.equal((await client.runs.cancel(run.id)).status, "cancelled");
    // A query of a call without a body is its last argument but one.
    assert.equal(await client.jobs.delete(job.id, { force: true }), null);
    await assert.rejects(client.jobs.get(job.id), { code: "not_found", status: 404 });
  });

  test("names a crawl by crawl_id, which is its task_id", async () => {
    const { crawl_id, task_id } = await client.crawls.start({ url: PAGE, name: "Books" });
    assert.equal(crawl_id, task_id);
    const view = await client.request("get /scraping/tasks/{task_id}/status", { params: { crawl_id } as never });
    assert.deepEqual([view.crawl_id, view.name], [crawl_id, "Books"]);
  });

  test("limits a concurrency key, also by its older name", async () => {
    const item = { url: PAGE, handler: "none" };
    await client.queue.add({ ...item, artifact_id: "new", concurrency_key: "api" });
    await client.queue.add({ ...item, artifact_id: "old", resolver: "api" });
    for (const name of ["new", "old"]) {
      const { concurrency_key, resolver } = await client.queue.get(name);
      assert.deepEqual([concurrency_key, resolver], ["api", "api"]);
    }
    assert.equal((await client.queue.setConcurrencyKey("api", { limit: 2 })).limit, 2);
    const view = { concurrency_key: "api", resolver: "api", limit: 2, configured: null };
    assert.deepEqual(await client.queue.concurrencyKey("api"), view);
    assert.deepEqual(await client.queue.resolver("api"), view);
    assert.equal((await client.queue.setResolver("api", { limit: null })).limit, null);
  });

  test("reads a list of several pages as one, and asks for no more than it wants", async () => {
    await using gate = await openGate(testServer.api.url);
    const through = createClient({ url: `${gate.url}/` });
    const made: string[] = [];
    for (let n = 0; n < 7; n += 1)
      made.push((await client.jobs.create({ name: `Job ${n}`, target_url: PAGE, tags: ["paged"] })).id);
    const listing = through.jobs.list({ tag: "paged", limit: 2 });
    const ids: string[] = [];
    for await (const job of listing) ids.push(job.id);
    assert.deepEqual(ids.toSorted(), made.toSorted());
    assert.equal(gate.seen.length, 4, "four pages");
    assert.deepEqual((await listing.take(3)).length, 3);
    assert.equal(gate.seen.length, 6, "two more");
    const { rows, next, total } = await through.runs.list({ limit: 1, total: true }).page();
    assert.equal(rows.length <= 1 && typeof total === "number", true);
    assert.equal(next === null, (total ?? 0) <= 1);
    const second = await through.list("get /jobs", { query: { tag: "paged", limit: 5 } }).page();
    const rest = await through.jobs.list({ tag: "paged", limit: 5, cursor: second.next ?? "" }).take();
    assert.deepEqual(
      [...second.rows, ...rest].map(({ id }) => id),
      ids,
    );
    // A list inside of something else.
    assert.deepEqual(await client.proxies.list().take(), []);
    assert.equal((await client.proxies.list().page()).answer.total, 0);
  });

  test("is told what was wrong: the code, the fields and what to do", async () => {
    const refused = await client.jobs
      .create({ name: "Wrong", target_url: "nonsense" })
      .catch((error: unknown) => error);
    assert.ok(refused instanceof OrbweaverError);
    assert.deepEqual([refused.status, refused.code, refused.name], [422, "input_invalid", "OrbweaverError"]);
    assert.deepEqual(
      refused.errors.map(({ path }) => path),
      ["target_url"],
    );
    assert.ok(refused.detail !== "" && refused.message === refused.detail && refused.problem?.status === 422);
    assert.ok(isOrbweaverError(refused, "input_invalid", "not_found") && !isOrbweaverError(refused, "not_found"));
    // Ids stand in addresses: none of them leads elsewhere.
    for (const id of ["", ".", ".."])
      await assert.rejects(client.jobs.get(id), {
        code: "input_invalid",
        status: 0,
        errors: [{ path: "path.job_id", message: "expected an id or a name" }],
      });
    await assert.rejects(client.sites.get("a/../../runs"), { status: 422 });
    assert.throws(() => createClient({ url: "somewhere" }), { code: "input_invalid" });
  });

  test("gets texts and files as they are", async () => {
    assert.match(await client.server.metrics(), /^# HELP/m);
    const made = await client.workflows.create(
      "name: Flow\nsteps: [{ name: w, task_type: wait, params: { seconds: 0 } }]",
    );
    assert.equal((await client.workflows.get(made.id)).name, "Flow");
    const answer = await client.open("get /metrics");
    assert.match(new TextDecoder().decode(await answer.bytes()), /^# HELP/m);
    await assert.rejects(answer.text(), /already read/);
  });

  test("waits for a server that is busy, and does nothing twice", async () => {
    // Its first answer is lost, a proxy says that nobody is there, then that it is too much; then it goes through.
    await using gate = await openGate(testServer.api.url, (_request, nth) => {
      if (nth === 1) return "break behind";
      if (nth === 2) return { status: 502, body: "<h1>Bad Gateway</h1>" };
      return nth === 3 ? { status: 429, headers: { "retry-after": "1" } } : undefined;
    });
    const job = await createClient({ url: gate.url }).jobs.create({ name: "Once", target_url: PAGE, tags: ["once"] });
    assert.equal(gate.seen.length, 4);
    const keys = new Set(gate.seen.map(({ headers }) => headers["idempotency-key"]));
    assert.equal(keys.size, 1);
    assert.match(String([...keys][0]), /^[0-9a-f]{8}-/);
    assert.ok((gate.seen[3]?.at ?? 0) - (gate.seen[2]?.at ?? 0) >= 950, "as long as it was asked to");
    assert.deepEqual(
      (await client.jobs.list({ tag: "once" }).take()).map(({ id }) => id),
      [job.id],
    );
  });

  test("repeats neither what may not be done twice nor what would fail again", async () => {
    await using gate = await openGate(testServer.api.url, (request) =>
      request.url === "/queue/items" ? "break" : request.url === "/health" ? { status: 503 } : undefined,
    );
    const through = createClient({ url: gate.url, retries: 1 });
    const items = { artifact_id: "a", url: PAGE };
    await assert.rejects(through.queue.add(items), { code: "unreachable", status: 0 });
    assert.equal(gate.seen.length, 1);
    await assert.rejects(through.runs.get("0197c3a1-5a2e-7c3f-9d52-1c8d5f1a2b3c"), { code: "not_found" });
    assert.equal(gate.seen.length, 2);
    await assert.rejects(through.server.health(), { code: "not_orbweaver", status: 503 });
    assert.equal(gate.seen.length, 4);
    const closed = await openGate(testServer.api.url);
    await closed[Symbol.asyncDispose]();
    await assert.rejects(createClient({ url: closed.url, retries: 0 }).server.health(), {
      code: "unreachable",
      detail: `no answer from ${closed.url}: the connection was refused`,
    });
  });

  test("does not wait for a server that wants to be left alone for long", async () => {
    await using gate = await openGate(testServer.api.url, () => ({ status: 503, headers: { "retry-after": "3600" } }));
    await assert.rejects(createClient({ url: gate.url }).server.health(), { status: 503, retryAfterMs: 3_600_000 });
    assert.equal(gate.seen.length, 1);
  });

  test("can be stopped at any time, and stops by itself when it takes too long", async () => {
    const reason = new Error("enough");
    await assert.rejects(client.server.health({ signal: AbortSignal.abort(reason) }), reason);
    const controller = new AbortController();
    let asked = 0;
    const never = createClient({
      url: testServer.api.url,
      fetch: (_url, { signal }) => {
        asked += 1;
        if (asked === 1) queueMicrotask(() => controller.abort(reason));
        return new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason as Error)),
        );
      },
    });
    await assert.rejects(never.server.health({ signal: controller.signal }), reason);
    assert.equal(asked, 1);
    await assert.rejects(never.server.health({ timeoutMs: 20 }), { code: "timed_out", status: 0 });
    // While it waits for its next try, too.
    await using gate = await openGate(testServer.api.url, () => ({ status: 503, headers: { "retry-after": "20" } }));
    const slow = createClient({ url: gate.url });
    await assert.rejects(slow.server.health({ timeoutMs: 300 }), { code: "timed_out" });
    const stop = new AbortController();
    const call = slow.server.health({ signal: stop.signal });
    while (gate.seen.length < 2) await new Promise((resolve) => void setTimeout(resolve, 5));
    stop.abort(reason);
    await assert.rejects(call, reason);
  });

  test("is told that somebody else answers at the address", async () => {
    await using gate = await openGate(testServer.api.url, () => ({
      status: 200,
      headers: { "content-type": "text/html" },
      body: "<h1>Welcome</h1>",
    }));
    await assert.rejects(createClient({ url: gate.url }).server.health(), { code: "not_orbweaver", status: 200 });
  });
});

test("the token is sent, and what is refused without it says so", async () => {
  const token = "a-token-of-good-length-4711";
  await using testServer = await TestServer.open({ APP_API_TOKEN: token }, { worker: false });
  await assert.rejects(createClient({ url: testServer.api.url }).runs.list().page(), {
    code: "unauthorized",
    status: 401,
  });
  assert.deepEqual(await createClient({ url: testServer.api.url, token }).runs.list().take(), []);
});
