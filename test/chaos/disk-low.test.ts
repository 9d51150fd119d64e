import assert from "node:assert/strict";
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { CrawlHealth } from "../../src/orchestrator/crawls/read.ts";
import type { CheckResult } from "../../src/orchestrator/health.ts";
import { AlertReceiver } from "../support/alert-receiver.ts";
import { gate } from "../support/gate.ts";
import { mayMount, smallDisk } from "../support/small-disk.ts";
import { Orb, until } from "./orb.ts";
import { Served } from "./served.ts";
import { Target } from "./target.ts";

const possible = gate("disks that run low", mayMount(), "it needs root and the right to mount a tmpfs");
const MB = 1024 * 1024;

/** Fills the disk until about this much is left. */
function leave(disk: string, megabytes: number): string {
  const { bavail, bsize } = statfsSync(disk);
  const ballast = join(disk, "ballast");
  writeFileSync(ballast, Buffer.alloc(bavail * bsize - megabytes * MB));
  return ballast;
}

test("a disk that runs low pauses the work, refuses more, and is told once", { ...possible }, async () => {
  using disk = smallDisk(48);
  await using receiver = await AlertReceiver.start();
  await using target = await Target.start(1);
  await using orb = new Orb({
    ...receiver.env,
    APP_DATA_DIR: disk.path,
    APP_DATABASE_URL: `sqlite:${disk.path}/orb.db`,
    APP_MIN_FREE_DISK_MB: "16",
  });
  const first = await Served.start(orb);
  const recipe = { target_url: target.url("/a"), strategy: "http" } as const;
  const job = await first.job(recipe);
  assert.equal((await first.run(job.id)).status, "completed");
  const checks = async (served: Served) => {
    const answer = await served.api.get("/ready");
    const list = answer.json<{ checks: CheckResult[] }>().checks;
    return { status: answer.status, disk: list.find(({ name }) => name === "disk") };
  };
  // A busy machine has not always an answer to everything in time.
  const ready = (served: Served) => until(async () => (await checks(served)).status === 200, "it is ready");
  await ready(first);
  assert.equal((await checks(first)).disk?.status, "ok");

  let ballast = leave(disk.path, 8);
  await first.process.said("work paused: ");
  const refused = await first.api.post(`/jobs/${job.id}/runs`);
  assert.equal(refused.status, 507, refused.text);
  assert.match(refused.json<{ detail: string }>().detail, /nearly full: \d+ MB are free .* 16 MB/);
  assert.deepEqual([(await checks(first)).status, (await checks(first)).disk?.status], [503, "failed"]);
  const { degraded } = (await first.api.get("/scraping/status")).json<CrawlHealth>();
  const ofTheDisk = degraded.filter(({ what }) => what === "disk" || what === "worker");
  assert.equal(ofTheDisk.length, 2, JSON.stringify(degraded));
  assert.ok(ofTheDisk.every(({ why, since }) => why.includes("MB") && Date.parse(since) <= Date.now()));
  await receiver.until(() => receiver.of("disk_low").length === 1, "the alert");
  assert.match(receiver.of("disk_low")[0]?.message ?? "", /^Disk low: \d+ MB are free/);
  await first.killed();

  // A process that starts with a low disk takes no work and does not repeat the alert.
  const second = await Served.start(orb);
  await second.process.said("work paused: ");
  assert.equal((await second.api.post(`/jobs/${job.id}/runs`)).status, 507);
  rmSync(ballast);
  await second.process.said("work resumed: ");
  assert.equal((await second.run(job.id)).status, "completed");
  await ready(second);
  assert.equal(receiver.of("disk_low").length, 1);

  ballast = leave(disk.path, 8);
  await receiver.until(() => receiver.of("disk_low").length === 2, "the next time is told, too");
  assert.notEqual(receiver.of("disk_low")[0]?.id, receiver.of("disk_low")[1]?.id);
  rmSync(ballast);
  await ready(second);
  assert.equal((await second.terminated()).code, 0);
  await orb.audit();
});
