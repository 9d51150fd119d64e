import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import * as orb from "../src/index.ts";
import { bodyOf, Target } from "./chaos/target.ts";
import { tempDir } from "./support/temp-dir.ts";

function configure(t: TestContext, env: Record<string, string> = {}): orb.Config {
  const dir = tempDir();
  t.after(() => dir[Symbol.dispose]());
  return orb.loadConfig({ env: { APP_ALLOW_PRIVATE_NETWORKS: "true", ...env }, cwd: dir.path }).config;
}

test("a program enqueues, works, waits for the end and reads what came of it", async (t) => {
  await using target = await Target.start(1);
  const config = configure(t);
  await using worker = await orb.startWorker(config, orb.silentLog);
  assert.equal(worker.role, "engine");
  const items = [
    { artifact_id: "a", url: target.url("/a") },
    { artifact_id: "b", url: target.url("/b"), priority: 5 },
  ];
  assert.deepEqual(await orb.submitItems(worker, items), { added: 2, existing: 0 });
  const stats = await orb.queueDrained(worker);
  assert.deepEqual([stats.done, stats.error], [2, 0]);
  const shown = await orb.showItem(worker, "a", worker.pathOf);
  assert.deepEqual([shown.status, shown.files[0]?.size], ["done", Buffer.byteLength(bodyOf("/a"))]);
  assert.deepEqual(
    (await orb.listItems(worker, { limit: 10 })).map((item) => item.artifact_id),
    ["a", "b"],
  );
});

test("a client in the same program gives the worker work", async (t) => {
  await using target = await Target.start(1);
  const config = configure(t);
  await using _worker = await orb.startWorker(config, orb.silentLog);
  await using client = await orb.openClient(config);
  async function* file(): AsyncGenerator<Uint8Array> {
    for (let n = 0; n < 20; n += 1)
      yield Buffer.from(`${JSON.stringify({ artifact_id: `${n}`, url: target.url(`/${n}`) })}\n`);
  }
  const report = await orb.importItems(client, file(), { bad: () => assert.fail("every line is good") });
  assert.equal(report.added, 20);
  assert.equal((await orb.queueDrained(client)).done, 20);
});

test("two workers in one program: one works, the other takes over when it stops", async (t) => {
  await using target = await Target.start(1);
  const config = configure(t);
  const first = await orb.startWorker(config, orb.silentLog);
  let tell = (_role: string) => {};
  const became = new Promise<void>((resolve) => (tell = (role) => role === "engine" && resolve()));
  await using second = await orb.startWorker(config, orb.silentLog, { onRole: (role) => tell(role) });
  assert.deepEqual([first.role, second.role], ["engine", "standby"]);
  await first.stop();
  await first.stop();
  await became;
  await orb.submitItems(second, [{ artifact_id: "a", url: target.url("/a") }]);
  assert.equal((await orb.queueDrained(second)).done, 1);
});

test("what is wrong with items is told all at once, by item and field, and nothing is added", async (t) => {
  await using client = await orb.openClient(configure(t));
  const items = [{ artifact_id: "a", url: "http://a.test/" }, { artifact_id: "", url: "ftp://a.test/" }, {}];
  await assert.rejects(orb.submitItems(client, items), (error) => {
    assert.ok(orb.isOrbError(error, "input_invalid"));
    assert.deepEqual(
      error.fields.map((field) => field.path),
      ["[1].artifact_id", "[1].url", "[2].artifact_id", "[2].url"],
    );
    return true;
  });
  assert.equal((await orb.queueStats(client)).total, 0);
});

test("waiting for the end can be given up", async (t) => {
  await using client = await orb.openClient(configure(t));
  await orb.submitItems(client, [{ artifact_id: "a", url: "http://a.test/" }]);
  const stats = await orb.queueDrained(client, AbortSignal.abort());
  assert.equal(stats.queued, 1);
});

test("a database that this version cannot use is refused by its code", async (t) => {
  const config = configure(t, { APP_DATABASE_URL: "postgres://me@db.test/orb" });
  await assert.rejects(orb.openClient(config), (error) => orb.isOrbError(error, "config_invalid"));
  await assert.rejects(orb.startWorker(config, orb.silentLog), (error) => orb.isOrbError(error, "config_invalid"));
});

test("limits of a site are set and shown", async (t) => {
  await using client = await orb.openClient(configure(t));
  await orb.changeSite(client, "a.test", { maxConcurrency: 1 });
  assert.equal((await orb.showSite(client, "a.test")).max_concurrency, 1);
});

test("handlers keep their names and types", () => {
  const handlers = orb.defineHandlers({
    plain: (item) => ({ id: item.artifact_id }),
    patient: { timeoutSeconds: 900, run: async (_, context) => void (await context.download()) },
  });
  assert.deepEqual(Object.keys(handlers), ["plain", "patient"]);
  assert.equal(handlers.patient.timeoutSeconds, 900);
});
