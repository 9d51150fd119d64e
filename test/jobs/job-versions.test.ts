import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import { TestServer } from "./kit.ts";

const UNKNOWN = "00000000-0000-4000-8000-000000000000";

describe("versions of a job", () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open({}, { worker: false });
  });
  after(() => server[Symbol.asyncDispose]());

  const make = (more: object = {}) =>
    server.job({ target_url: "https://a.example/", fields: { price: ".price" }, ...more } as never);
  const versions = (id: string) => server.client.jobs.versions(id).take();

  test("every change is a version with what it changed, and an earlier one is restored as a new one", async () => {
    const { id } = await make({ schedule: "0 6 * * *" });
    await server.client.jobs.change(id, { fields: { price: ".amount", title: "h1" }, keep_runs: 5 });
    await server.client.jobs.change(id, { name: "Prices" }, { headers: { "orb-client": "dashboard" } });
    await server.client.jobs.change(id, { name: "Prices" });
    assert.deepEqual(
      (await versions(id)).map(({ version, author }) => [version, author]),
      [
        [3, "dashboard"],
        [2, "api"],
        [1, "api"],
      ],
    );
    const second = await server.client.jobs.version(id, "2");
    assert.deepEqual(
      [second.compared_with, second.changes],
      [
        1,
        [
          { path: "fields.price", before: ".price", after: ".amount" },
          { path: "fields.title", before: null, after: "h1" },
          { path: "keep_runs", before: null, after: 5 },
        ],
      ],
    );
    const first = await server.client.jobs.version(id, "1");
    assert.deepEqual([first.compared_with, first.changes, first.definition.schedule?.cron], [null, [], "0 6 * * *"]);

    const restored = await server.client.jobs.restore(id, "1");
    assert.deepEqual(
      [restored.version, restored.restored_version, restored.definition.fields],
      [4, 1, { price: ".price" }],
    );
    const job = await server.client.jobs.get(id);
    assert.deepEqual([job.fields, job.name, job.keep_runs], [{ price: ".price" }, null, null]);
    assert.notEqual(job.next_run_at, null);
    const same = await server.client.jobs.restore(id, "4");
    assert.equal(same.version, 4, "what is so already makes no version");
    assert.equal((await server.client.jobs.version(id, "3")).definition.name, "Prices", "nothing is lost");
  });

  test("secrets are in no version: names of headers show, a new value only that it is new", async () => {
    const { id } = await make({ headers: { "x-key": "first-secret" } });
    await server.client.jobs.change(id, { headers: { "x-key": "second-secret" } });
    const { changes, definition } = await server.client.jobs.version(id, "2");
    assert.deepEqual(changes, [{ path: "credentials", before: "(hidden)", after: "(hidden)" }]);
    assert.deepEqual(definition.header_names, ["x-key"]);
    assert.doesNotMatch(JSON.stringify([changes, definition]), /secret|sealed/);
    await server.client.jobs.restore(id, "1");
    const job = (await server.api.get(`/jobs/${id}`)).json<JobView>();
    assert.deepEqual(job.header_names, ["x-key"]);
  });

  test("crawls and workflows have versions, and the session of a restored one must still exist", async () => {
    const crawl = await server.job({
      kind: "crawl",
      target_url: "https://a.example/",
      crawl: { fields: { a: "h1" }, max_pages: 5 },
    } as never);
    await server.client.jobs.change(crawl.id, { crawl: { max_pages: 7 } } as never);
    assert.deepEqual((await server.client.jobs.version(crawl.id, "2")).changes, [
      { path: "crawl.max_pages", before: 5, after: 7 },
    ]);
    await server.client.jobs.restore(crawl.id, "1");
    assert.equal((await server.client.jobs.get(crawl.id)).crawl?.max_pages, 5);

    const definition = { name: "w", steps: [{ name: "a", task_type: "wait", params: { seconds: 1 } }] };
    const workflow = await server.job({ kind: "workflow", workflow: { definition } } as never);
    await server.client.jobs.change(workflow.id, { name: "other" });
    assert.deepEqual((await server.client.jobs.version(workflow.id, "2")).changes, [
      { path: "name", before: "w", after: "other" },
    ]);
    await server.client.jobs.restore(workflow.id, "1");
    assert.equal((await server.client.jobs.get(workflow.id)).name, "w");

    const session = await server.client.sessions.create({
      name: "shop",
      origin: "https://a.example",
      cookies: { a: "b" },
    } as never);
    const page = await make({ session_id: session.id });
    await server.client.jobs.change(page.id, { session_id: null });
    await server.client.sessions.delete(session.id);
    const refused = await server.api.post(`/jobs/${page.id}/versions/1/restore`);
    assert.deepEqual([refused.status, JSON.stringify(refused.json()).includes("session_id")], [422, true]);
    assert.equal((await versions(page.id)).length, 2);
  });

  test("wrong ids and numbers are refused, and so is a restore of a job that was changed since it was read", async () => {
    const { id, version } = await make();
    for (const [path, status] of [
      [`/jobs/${UNKNOWN}/versions`, 404],
      [`/jobs/${UNKNOWN}/versions/1`, 404],
      [`/jobs/${id}/versions/2`, 404],
      [`/jobs/${id}/versions/0`, 422],
      [`/jobs/${id}/versions/x`, 422],
      [`/jobs/${id}/versions?cursor=bm9uZQ`, 422],
    ] as const)
      assert.equal((await server.api.get(path)).status, status, path);
    assert.equal((await server.api.post(`/jobs/${id}/versions/9/restore`)).status, 404);
    await server.client.jobs.change(id, { name: "other" });
    const stale = await server.api.call("POST", `/jobs/${id}/versions/1/restore`, undefined, { "if-match": version });
    assert.equal(stale.status, 409);
    assert.equal((await versions(id)).length, 2);
    await server.client.jobs.delete(id);
    assert.equal((await server.api.get(`/jobs/${id}/versions`)).status, 404);
  });

  test("the hint of fields in items says where they belong, and auto_repair is refused for workflows", async () => {
    const inside = { target_url: "https://a.example/", items: { css: "li", fields: { a: "b" } } };
    const refused = await server.api.post("/jobs", inside);
    assert.equal(refused.status, 422);
    assert.match(JSON.stringify(refused.json()), /items\.fields.*fields stand beside items/);
    const workflow = { definition: { name: "w", steps: [{ name: "a", task_type: "wait", params: { seconds: 1 } }] } };
    for (const body of [
      { kind: "workflow", workflow, auto_repair: true },
      { target_url: "https://a.example/", auto_repair: "yes" },
    ])
      assert.match(JSON.stringify((await server.api.post("/jobs", body)).json()), /auto_repair/);
    const { id } = await server.job({ kind: "workflow", workflow } as never);
    const changed = await server.api.call("PATCH", `/jobs/${id}`, { auto_repair: true });
    assert.equal(changed.status, 422);
    assert.match(JSON.stringify(changed.json()), /"path":"auto_repair"/);
  });
});
