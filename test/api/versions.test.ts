import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import { TestServer } from "../jobs/kit.ts";

describe("changes of what others change, too", () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open({}, { worker: false });
  });
  after(() => server[Symbol.asyncDispose]());

  const problemIn = (text: string) =>
    JSON.parse(text) as { code: string; detail: string; errors: { path: string; message: string }[] };

  test("a job that was changed since it was read is not overwritten, and what is different now is named", async () => {
    const { id, version } = await server.job({ name: "Mine", target_url: "https://a.example/" });
    const change = (body: object) => server.api.call("PATCH", `/jobs/${id}`, body);
    const first = await change({ version, name: "Theirs", max_attempts: 5 });
    assert.equal(first.status, 200, first.text);
    const next = first.json<JobView>();
    assert.notEqual(next.version, version);
    const stale = await change({ version, name: "Ours", tags: ["new"], max_attempts: 5 });
    assert.equal(stale.status, 409);
    const { code, errors } = problemIn(stale.text);
    assert.equal(code, "version_conflict");
    assert.deepEqual(errors, [
      { path: "name", message: 'is now "Theirs"' },
      { path: "tags", message: "is now []" },
      { path: "version", message: `is ${next.version} now` },
    ]);
    assert.equal((await server.api.get(`/jobs/${id}`)).json<JobView>().name, "Theirs");
    assert.equal((await change({ version: next.version, tags: ["new"] })).status, 200);
    assert.equal((await change({ name: "Whatever" })).status, 200, "without a version the last one wins");
  });

  test("what is saved again as it was is the same version, and a paused schedule is no change of the job", async () => {
    const { id, version } = await server.job({ target_url: "https://b.example/", schedule: "0 6 * * *" });
    assert.equal((await server.api.post(`/schedules/${id}/pause`)).status, 200);
    const again = await server.api.call("PATCH", `/jobs/${id}`, { version, timezone: null });
    assert.equal(again.status, 200, again.text);
    assert.equal(again.json<JobView>().version, version);
  });

  test("a crawl's settings are compared one by one, and secrets are not shown", async () => {
    const headers = { "x-key": "secret-Er44" };
    const { id, version } = await server.job({
      kind: "crawl",
      target_url: "https://c.example/",
      crawl: { max_pages: 10, headers },
    });
    await server.api.call("PATCH", `/jobs/${id}`, { crawl: { max_pages: 20 } });
    const stale = await server.api.call("PATCH", `/jobs/${id}`, { version, crawl: { max_pages: 30, headers } });
    assert.equal(stale.status, 409);
    assert.deepEqual(
      problemIn(stale.text).errors.map(({ path }) => path),
      ["crawl.max_pages", "version"],
    );
    assert.doesNotMatch(stale.text, /secret-Er44/);
  });

  test("a site's settings and a template are refused in the same way", async () => {
    const set = (body: object) => server.api.call("PATCH", "/sites/d.example", body);
    const { version } = (await set({ max_concurrency: 2 })).json<{ version: string }>();
    assert.equal((await set({ version, max_concurrency: 3 })).status, 200);
    assert.equal((await set({ version, burst: 3 })).status, 409);
    assert.equal((await set({ paused: true })).status, 200);

    const definition = (seconds: number) => ({
      name: "mine",
      steps: [{ name: "a", task_type: "wait", params: { seconds } }],
    });
    const put = (body: object) => server.api.call("PUT", "/workflows/templates/mine", body);
    assert.equal((await put({ version: 0, definition: definition(1) })).status, 200);
    assert.equal((await put({ version: 1, definition: definition(2) })).status, 200);
    const stale = await put({ version: 1, definition: definition(3) });
    assert.deepEqual([stale.status, problemIn(stale.text).code], [409, "version_conflict"]);
    assert.equal((await put({ version: 2, definition: definition(3) })).status, 200);
  });
});
