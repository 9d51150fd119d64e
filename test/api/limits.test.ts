import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addFirecrawl } from "../../src/firecrawl/routes.ts";
import { openTestApi, type TestApi, TOKEN } from "./kit.ts";

const admin = { authorization: `Bearer ${TOKEN}` };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function made<T>(served: TestApi, path: string, body: unknown, headers: Record<string, string> = admin) {
  const answer = await served.send("POST", path, body, headers);
  assert.ok(answer.status >= 200 && answer.status < 300, `${path}: ${answer.status} ${answer.text}`);
  return answer.json<T>();
}

const keyWith = (served: TestApi, body: object) =>
  made<{ id: string; key: string }>(served, "/keys", { name: "k", ...body });

const page = (name: string, more: object = {}) => ({
  name,
  target_url: "https://a.example/",
  fields: { title: "h1" },
  ...more,
});

describe("a key with limits", () => {
  test("reads and changes nothing by the id of a job or run outside of them, on any route that takes one", async (t) => {
    const served = await openTestApi(t, { settings: { token: TOKEN }, routes: [addFirecrawl as never] });
    const job = await made<{ id: string }>(served, "/jobs", page("other", { tags: ["news"] }));
    const run = await made<{ id: string }>(served, `/jobs/${job.id}/runs`, undefined);
    const definition = { name: "W", steps: [{ name: "wait", task_type: "wait", params: { seconds: 1 } }] };
    const flow = await made<{ id: string }>(served, "/workflows", { definition });
    const crawl = await made<{ task_id: string }>(served, "/scraping/async-scrape", { url: "https://b.example/" });
    const [task] = (await served.get(`/jobs/runs/${run.id}/tasks`, admin)).json<{ id: string }[]>();
    const { key } = await keyWith(served, { role: "operator", tags: ["shop"] });
    const ids: Record<string, string> = {
      job_id: job.id,
      run_id: run.id,
      workflow_id: flow.id,
      artifact_id: run.id,
      id: crawl.task_id,
      version: "1",
      number: "1",
      task: "wait",
    };
    const withIds = served.api.routes.filter(
      ({ url, limited, role, method }) => url.includes("/:") && limited && role !== null && method !== "HEAD",
    );
    assert.ok(withIds.length > 60, `${withIds.length} routes`);
    const before = await served.get(`/jobs/${job.id}`, admin);
    for (const { method, url } of withIds) {
      const own = { ...ids, task_id: url.startsWith("/scraping") ? crawl.task_id : task!.id };
      const path = url.replace(/:(\w+)/g, (_, name: keyof typeof own) => own[name] ?? assert.fail(`${url}: ${name}`));
      const hasBody = method === "POST" || method === "PUT" || method === "PATCH";
      const answer = await served.call({
        method,
        path,
        headers: { ...bearer(key), ...(hasBody ? { "content-type": "application/json" } : {}) },
        ...(hasBody ? { body: {} } : {}),
      });
      // A body that is not valid is refused before anything is read.
      assert.ok(answer.status === 404 || answer.status === 422, `${method} ${path}: ${answer.status} ${answer.text}`);
      assert.doesNotMatch(answer.text, /a\.example|b\.example|news/, `${method} ${path}`);
    }
    assert.deepEqual((await served.get(`/jobs/${job.id}`, admin)).json(), before.json(), "nothing was changed");
    assert.equal((await served.get(`/jobs/runs/${run.id}`, admin)).json<{ status: string }>().status, "queued");
  });

  test("deletes a job, but neither deletes nor cancels runs of it that are outside of them", async (t) => {
    const served = await openTestApi(t, { settings: { token: TOKEN } });
    const job = await made<{ id: string }>(served, "/jobs", page("moved"));
    const run = await made<{ id: string }>(served, `/jobs/${job.id}/runs`, undefined);
    // From now on the job is of another site; its run is not.
    await served.send("PATCH", `/jobs/${job.id}`, { target_url: "https://b.example/" }, admin);
    const { key } = await keyWith(served, { role: "operator", sites: ["b.example"] });
    for (const path of ["/jobs", `/jobs/${job.id}`]) {
      const shown = await served.get(path, bearer(key));
      assert.equal([shown.json<{ last_run: unknown }>()].flat()[0]?.last_run, null, path);
    }
    const remove = (query: string) =>
      served.call({ method: "DELETE", path: `/jobs/${job.id}${query}`, headers: bearer(key) });
    const live = await remove("?force=true");
    assert.equal(live.status, 409, live.text);
    assert.ok(!live.text.includes(run.id), "it does not learn of the run");
    const status = async () => (await served.get(`/jobs/runs/${run.id}`, admin)).json<{ status: string }>().status;
    assert.equal(await status(), "queued");
    await served.send("POST", `/jobs/runs/${run.id}/cancel`, undefined, admin);
    const refused = await remove("?runs=delete");
    assert.deepEqual([refused.status, refused.json<{ code: string }>().code], [403, "outside_limits"], refused.text);
    assert.equal(await status(), "cancelled");
    assert.equal((await remove("")).status, 204);
    assert.equal(await status(), "cancelled", "the run stays");
  });
});

describe("a key with limits that sets which channels are notified of a job", () => {
  const forms = (id: string) => [id, "ops", "no-such-channel", "00000000-0000-4000-8000-000000000000"];

  test("keeps and drops those that the job has, and does not learn which others there are", async (t) => {
    const served = await openTestApi(t, { settings: { token: TOKEN } });
    const channel = (name: string) =>
      made<{ id: string }>(served, "/notifications/channels", { name, kind: "ntfy", settings: { topic: name } });
    const [own, ops] = [await channel("own"), await channel("ops")];
    const notify = [{ channel: own.id }];
    const job = await made<{ id: string }>(served, "/jobs", page("j", { notify }));
    const { key } = await keyWith(served, { role: "operator", sites: ["a.example"] });
    const change = (more: object) => served.send("PATCH", `/jobs/${job.id}`, more, bearer(key));
    const answers = new Set<string>();
    for (const name of forms(ops.id)) {
      for (const answer of [
        await change({ notify: [{ channel: name }] }),
        await served.send("POST", "/jobs", page("new", { notify: [{ channel: name }] }), bearer(key)),
      ]) {
        assert.equal(answer.status, 422, answer.text);
        answers.add(JSON.stringify(answer.json<{ errors: unknown }>().errors));
      }
    }
    assert.equal(answers.size, 1, [...answers].join("\n"));
    assert.match([...answers].join(""), /only channels that the job already has/);
    assert.equal((await change({ name: "renamed" })).status, 200);
    const types = ["run_failed"];
    for (const name of [own.id, "own"]) {
      const kept = await change({ notify: [{ channel: name, types }] });
      assert.deepEqual(kept.json<{ notify: unknown }>().notify, [{ channel: own.id, types }], kept.text);
    }
    assert.deepEqual((await change({ notify: [] })).json<{ notify: unknown }>().notify, []);
    assert.equal((await change({ notify })).status, 422, "it has none any more");
    const { key: whole } = await keyWith(served, { role: "operator" });
    const set = await served.send("PATCH", `/jobs/${job.id}`, { notify: [{ channel: "ops" }] }, bearer(whole));
    assert.equal(set.status, 200, set.text);
  });
});

describe("an Idempotency-Key", () => {
  test("is its caller's own: others neither get the answer nor learn that it was used", async (t) => {
    const served = await openTestApi(t, { settings: { token: TOKEN } });
    const [a, b] = [await keyWith(served, { role: "operator" }), await keyWith(served, { role: "operator" })];
    const start = (headers: Record<string, string>, name = "x") =>
      made<{ id: string }>(served, "/runs", page(name), { ...headers, "idempotency-key": "same" });
    const first = await start(bearer(a.key));
    assert.equal((await start(bearer(a.key))).id, first.id, "repeated");
    const others = [await start(bearer(b.key)), await start(admin, "another body")];
    assert.equal(new Set([first.id, ...others.map(({ id }) => id)]).size, 3);
    assert.equal((await start(admin, "another body")).id, others[1]!.id);
    // A caller cannot name the namespace of another.
    const forged = { ...admin, "idempotency-key": `key ${a.id} same` };
    assert.equal((await served.send("POST", "/runs", page("x"), forged)).status, 422);
  });

  test("of a Firecrawl client is its caller's own, too, and none of the other routes", async (t) => {
    const served = await openTestApi(t, { settings: { token: TOKEN }, routes: [addFirecrawl as never] });
    const [a, b] = [await keyWith(served, { role: "operator" }), await keyWith(served, { role: "operator" })];
    const crawl = (headers: Record<string, string>) =>
      served.send("POST", "/v2/crawl", { url: "https://a.example/" }, { ...headers, "x-idempotency-key": "same" });
    const ids: string[] = [];
    for (const headers of [bearer(a.key), bearer(b.key), admin]) {
      const started = await crawl(headers);
      assert.equal(started.status, 200, started.text);
      ids.push(started.json<{ id: string }>().id);
      assert.equal((await crawl(headers)).status, 409, "repeated");
    }
    assert.equal(new Set(ids).size, 3);
    for (const key of ["firecrawl:same", "same"])
      await made(served, "/runs", page("x"), { ...admin, "idempotency-key": key });
  });

  test("answers nothing any more that its key may not see, and nothing to a revoked key", async (t) => {
    const served = await openTestApi(t, { settings: { token: TOKEN } });
    const { id, key } = await keyWith(served, { role: "operator", sites: ["a.example", "b.example"] });
    const call = (path: string, body: unknown) =>
      served.send("POST", path, body, { ...bearer(key), "idempotency-key": `once ${path}`.replaceAll(/\W/g, "-") });
    const job = page("job", { headers: { "x-key": "s3cret" } });
    const calls: [string, unknown][] = [
      ["/runs", page("run")],
      ["/jobs", job],
      ["/scraping/async-scrape", { url: "https://a.example/list" }],
    ];
    const bodies = new Map<string, string>();
    for (const [path, body] of calls) {
      const answer = await call(path, body);
      assert.ok(answer.status < 300, answer.text);
      bodies.set(path, answer.text);
      assert.equal((await call(path, body)).text, answer.text, "repeated");
    }
    const narrowed = await served.send("PATCH", `/keys/${id}`, { sites: ["b.example"] }, admin);
    assert.equal(narrowed.status, 200, narrowed.text);
    for (const [path, body] of calls) {
      const answer = await call(path, body);
      const { code } = answer.json<{ code: string }>();
      assert.deepEqual([answer.status, code], [403, "outside_limits"], `${path}: ${answer.text}`);
      assert.doesNotMatch(answer.text, /a\.example/);
    }
    await served.send("PATCH", `/keys/${id}`, { sites: ["a.example"] }, admin);
    for (const [path, body] of calls) assert.equal((await call(path, body)).text, bodies.get(path), "visible again");
    await served.call({ method: "DELETE", path: `/keys/${id}`, headers: admin });
    for (const [path, body] of calls) assert.equal((await call(path, body)).status, 401);
  });
});
