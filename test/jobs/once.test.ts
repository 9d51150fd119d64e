import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { held, page } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

const TIMES = 50;

test("the same start sent 50 times with one key is one run with one answer, also across a restart", async () => {
  const gate = Promise.withResolvers<void>();
  await using site = await MisbehavingSite.start({ "/": held(gate.promise, page("Once")) });
  await using server = await TestServer.open({ APP_SHUTDOWN_GRACE_SECONDS: "1" });
  const { id: job } = await server.job({ target_url: site.url("/"), strategy: "http" });
  const { id: other } = await server.job({ target_url: site.url("/"), strategy: "http" });
  const start = (of = job, key = "start-1") =>
    server.api.post(`/jobs/${of}/runs`, undefined, { "idempotency-key": key });
  const first = await Promise.all(Array.from({ length: TIMES / 2 }, () => start()));
  await site.visited("/");
  await server.stop();
  await server.start();
  gate.resolve();
  const then = await Promise.all(Array.from({ length: TIMES / 2 - 1 }, () => start()));
  const { id } = first[0]!.json<RunView>();
  await server.ended(id);
  const last = await start();
  const answers = [...first, ...then, last];
  assert.equal(answers.length, TIMES);
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1, "equal to the byte, whatever became of the run");
  const runs = (await server.api.get(`/jobs/${job}/runs`)).json<RunView[]>();
  assert.deepEqual(
    runs.map((run) => [run.id, run.status]),
    [[id, "completed"]],
  );
  assert.equal((await server.results(id)).length, 1);
  const conflict = await start(other);
  assert.equal(conflict.json<{ code: string }>().code, "idempotency_conflict", conflict.text);
  assert.deepEqual((await server.api.get(`/jobs/${other}/runs`)).json(), []);
  assert.equal((await start(job, "start-2")).status, 201);
  assert.equal((await server.api.get(`/jobs/${job}/runs`)).json<RunView[]>().length, 2, "another key is another run");
});

test("the same job and the same session sent again are made once; another body under the key is refused", async () => {
  await using server = await TestServer.open({}, { worker: false });
  const key = { "idempotency-key": "make-1" };
  const body = { target_url: "https://shop.example/", tags: ["a", "b"], name: "Shop" };
  const created = await Promise.all(Array.from({ length: 20 }, () => server.api.post("/jobs", body, key)));
  assert.equal(new Set(created.map(({ text }) => text)).size, 1);
  const reordered = { name: "Shop", tags: ["a", "b"], target_url: "https://shop.example/" };
  assert.equal((await server.api.post("/jobs", reordered, key)).text, created[0]?.text, "order is no difference");
  for (const other of [
    { ...body, tags: ["b", "a"] },
    { ...body, name: null },
  ]) {
    const refused = await server.api.post("/jobs", other, key);
    assert.equal(refused.json<{ code: string }>().code, "idempotency_conflict", refused.text);
  }
  const session = { origin: "https://shop.example", headers: { "x-key": "secret-9911" } };
  const elsewhere = await server.api.post("/sessions", session, key);
  assert.equal(elsewhere.json<{ code: string }>().code, "idempotency_conflict", "the key is used for a job already");
  const sessions = await Promise.all(
    Array.from({ length: 20 }, () => server.api.post("/sessions", session, { "idempotency-key": "make-2" })),
  );
  assert.equal(new Set(sessions.map(({ text }) => text)).size, 1);
  assert.equal((await server.api.get("/jobs")).json<JobView[]>().length, 1);
  assert.equal((await server.api.get("/sessions")).json<unknown[]>().length, 1);
  assert.ok(!server.stored().some(({ bytes }) => bytes.includes("secret-9911")), "what is remembered is no secret");
});

test("a call sent again is answered as it was, although what it was made from is deleted", async () => {
  await using server = await TestServer.open({}, { worker: false });
  const origin = "https://shop.example";
  const session = await server.session({ origin, headers: { "x-key": "1" } });
  const create = () =>
    server.api.post("/jobs", { target_url: `${origin}/`, session_id: session.id }, { "idempotency-key": "job" });
  const created = await create();
  const { id } = created.json<JobView>();
  const start = () => server.api.post(`/jobs/${id}/runs`, undefined, { "idempotency-key": "run" });
  const started = await start();
  await server.api.call("PATCH", `/jobs/${id}`, { max_attempts: 9 });
  assert.equal((await start()).text, started.text, "with the attempts it was started with");
  assert.equal((await server.api.call("DELETE", `/sessions/${session.id}`)).status, 204);
  assert.equal((await server.api.call("DELETE", `/jobs/${id}?force=true`)).status, 204);
  for (const [first, again] of [
    [created, await create()],
    [started, await start()],
  ] as const)
    assert.deepEqual([again.status, again.text], [201, first.text]);
  const other = await server.api.post(`/jobs/${id}/runs`, undefined, { "idempotency-key": "another" });
  assert.equal(other.status, 404, "a new call is not answered with an old run");
  assert.deepEqual((await server.api.get("/jobs")).json(), []);
});

test("a key that cannot be one is refused by name", async () => {
  await using server = await TestServer.open({}, { worker: false });
  for (const key of ["x".repeat(256), "two words"]) {
    const answer = await server.api.post("/jobs", { target_url: "https://shop.example/" }, { "idempotency-key": key });
    assert.equal(answer.status, 422);
    assert.match(answer.text, /idempotency-key/i);
  }
  assert.deepEqual((await server.api.get("/jobs")).json(), []);
});
