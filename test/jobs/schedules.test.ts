import assert from "node:assert/strict";
import { test } from "node:test";
import type { ScheduleView, OccurrenceView } from "../../src/orchestrator/schedules.ts";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import { until } from "../chaos/orb.ts";
import { Installation } from "../cli/installation.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { page } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

test("a schedule shows its next five times and what became of the last ones, and can be paused", async () => {
  await using site = await MisbehavingSite.start({ "/": page("Page") });
  await using server = await TestServer.open();
  const every = await server.job({ name: "every second", target_url: site.url("/"), schedule: "* * * * * *" });
  const daily = await server.job({
    kind: "crawl",
    crawl: { url: site.url("/") },
    schedule: { cron: "0 6 * * *", timezone: "Europe/Berlin", overlap: "queue", jitter_seconds: 60 },
  });
  const plain = await server.job({ target_url: site.url("/") });
  const get = async <T>(path: string) => (await server.api.get(path)).json<T>();
  const listed = await get<ScheduleView[]>("/schedules");
  assert.deepEqual(
    listed.map(({ job_id, kind, timezone, overlap }) => [job_id, kind, timezone, overlap]),
    [
      [daily.id, "crawl", "Europe/Berlin", "queue"],
      [every.id, "page", "UTC", "skip"],
    ],
  );
  assert.equal(listed[0]?.next_times.length, 5);
  assert.ok(
    listed[0]?.next_times.every((time) => /T0[45]:00:00/.test(time)),
    JSON.stringify(listed[0]?.next_times),
  );
  const first = await server.api.get("/schedules?limit=1");
  assert.match(String(first.headers["link"]), /rel="next"/);
  await until(async () => (await get<ScheduleView>(`/schedules/${every.id}`)).counts.started >= 2, "it has started");
  const paused = (await server.api.post(`/schedules/${every.id}/pause`)).json<ScheduleView>();
  assert.deepEqual([paused.paused, paused.next_at], [true, null]);
  const slots = await get<OccurrenceView[]>(`/schedules/${every.id}/slots?outcome=started&limit=1`);
  assert.equal((await server.ended(slots[0]!.run_id!)).status, "completed");
  const resumed = (await server.api.post(`/schedules/${every.id}/resume`)).json<ScheduleView>();
  assert.deepEqual([resumed.paused, resumed.next_times.length], [false, 5]);
  assert.equal((await server.api.post(`/schedules/${every.id}/pause`)).status, 200);
  for (const id of [plain.id, plain.id.replace(/.$/, "0")])
    assert.equal((await server.api.get(`/schedules/${id}`)).status, 404);
  assert.equal((await server.api.get(`/schedules/${every.id}/slots?cursor=nonsense`)).status, 422);
});

test("while nobody works, a schedule says so, and shows times that are still to come [slow]", async () => {
  await using installation = new Installation();
  const what = ["--target-url", "https://shop.test/", "--schedule", "* * * * * *"];
  const { id, next_run_at: first } = await installation.json<JobView>("jobs", "create", ...what);
  await until(async () => Date.now() > Date.parse(first ?? ""), "its first time has passed");
  const asked = new Date().toISOString();
  const { next_at, next_times, waiting_for } = await installation.json<ScheduleView>("schedules", "show", id);
  assert.equal(next_times.length, 5);
  for (const time of [next_at ?? "", ...next_times]) assert.ok(time > asked, `${time} is to come`);
  assert.equal(waiting_for?.reason, "no_worker");
  const said = /No worker is running: scheduled jobs do not start until orb serve or orb worker is started/;
  assert.match((await installation.run(["schedules", "show", id])).stdout, said);
  assert.match((await installation.run(["schedules"])).stderr, said);
  assert.doesNotMatch((await installation.run(["schedules", "pause", id])).stdout, said);
});
