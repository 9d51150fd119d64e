import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../chaos/orb.ts";
import { TestServer } from "../jobs/kit.ts";
import type { QueueItemDetail, QueueItemView } from "../../src/orchestrator/queue/items.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { held, page } from "../support/misbehaviours.ts";

for (const where of ["by a call", "in the configuration"] as const)
  test(`what waits for a limit that was set ${where} is queued, and says so`, async () => {
    const answer = Promise.withResolvers<void>();
    const routes = { "/held": held(answer.promise, page("Held")) };
    await using first = await MisbehavingSite.start(routes);
    await using second = await MisbehavingSite.start(routes);
    await using third = await MisbehavingSite.start(routes);
    const env: Record<string, string> = where === "by a call" ? {} : { APP_MAX_PER_RESOLVER: '{"one": 1}' };
    await using server = await TestServer.open(env);
    if (where === "by a call") await server.api.call("PUT", "/queue/resolvers/one", { limit: 1 });
    const items = Array.from({ length: 20 }, (_, n) =>
      [first, second, third].map((site) => {
        const url = site.url(`/held?${n}`);
        return { artifact_id: url, url, resolver: "one" };
      }),
    ).flat();
    await server.api.post("/queue/items", { items });
    const list = async () => (await server.api.get("/queue/items?limit=100")).json<QueueItemView[]>();
    const atWork = (all: QueueItemView[]) => all.filter(({ status }) => status === "in_progress");
    await until(async () => atWork(await list()).length > 0, "one is at work");
    const all = await list();
    assert.equal(atWork(all).length, 1);
    const others = all.filter((item) => item.status === "queued");
    assert.equal(others.length, items.length - 1);
    for (const { waiting_for: waits } of others) assert.equal(waits?.reason, "concurrency_key");
    assert.match(others[0]?.waiting_for?.message ?? "", /one/);
    const stats = (await server.api.get("/queue/stats")).json<{ in_progress: number }>();
    assert.equal(stats.in_progress, 1);
    assert.equal(atWork(all)[0]?.waiting_for, null);
    answer.resolve();
    await until(async () => (await list()).every(({ status }) => status === "done"), "all are done");
  });

test("an item in progress shows which worker has it and until when; what waits for its site's delay is measured", async () => {
  const answer = Promise.withResolvers<void>();
  await using site = await MisbehavingSite.start({
    "/held": held(answer.promise, page("Held")),
    "/next": page("Next"),
  });
  await using server = await TestServer.open();
  await server.api.call("PATCH", `/sites/${encodeURIComponent(site.name)}`, { max_concurrency: 1, min_delay_ms: 300 });
  const add = (path: string) => server.api.post("/queue/items", { artifact_id: path.slice(1), url: site.url(path) });
  const item = async (name: string) => (await server.api.get(`/queue/items/${name}`)).json<QueueItemDetail>();
  await add("/held");
  await until(async () => (await item("held")).status === "in_progress", "it is at work");
  const { owner } = await item("held");
  const [worker] = (await server.api.get("/workers")).json<{ id: string; machine: string; pid: number }[]>();
  assert.deepEqual(
    [owner?.worker_id, owner?.machine, owner?.pid],
    [worker?.id, worker?.machine, process.pid],
    "as the list of workers has it",
  );
  assert.ok(Date.parse(owner?.lease_expires_at ?? "") > Date.now());
  await add("/next");
  answer.resolve();
  await until(async () => (await item("next")).status === "done", "the next one is done, too");
  assert.equal((await item("held")).owner, null, "it is done");
  const { text: body } = await server.api.get("/metrics");
  assert.match(body, /^# TYPE orb_rate_limit_wait_seconds histogram$/m);
  const counted = /^orb_rate_limit_wait_seconds_bucket\{worker="[^"]+",reason="min_delay",le="\+Inf"\} ([1-9]\d*)$/m;
  assert.match(body, counted);
  assert.match(body, /^orb_rate_limit_wait_seconds_sum\{[^}]*reason="min_delay"[^}]*\} \d/m);
});
