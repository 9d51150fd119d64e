import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { SiteView } from "../../src/orchestrator/sites/site-view.ts";
import { Target } from "../chaos/target.ts";
import { Installation } from "./installation.ts";

describe("orb sites", { concurrency: 2 }, () => {
  test("a limit that goes back to the default is the configured one again", async () => {
    await using orb = Installation.prepared();
    const limits = ["max-concurrency", "requests-per-second", "burst", "min-delay-ms"];
    const set = await orb.json<SiteView>("sites", "set", "shop.test", ...limits.flatMap((name) => [`--${name}`, "3"]));
    assert.deepEqual([set.max_concurrency, set.requests_per_second, set.burst, set.min_delay_ms], [3, 3, 3, 3]);
    const back = await orb.json<SiteView>(
      "sites",
      "set",
      "shop.test",
      ...limits.flatMap((name) => [`--${name}`, "default"]),
    );
    assert.deepEqual(
      [back.max_concurrency, back.requests_per_second, back.burst, back.min_delay_ms],
      [null, null, null, null],
    );
  });

  test("an item that is there already makes no site known by its other address", async () => {
    await using orb = Installation.prepared();
    await orb.run(["queue", "enqueue", "a", "http://one.test/"]);
    await orb.run(["queue", "enqueue", "a", "http://other.test/"]);
    assert.deepEqual(
      (await orb.json<SiteView[]>("sites", "list")).map((view) => view.site),
      ["one.test"],
    );
  });

  test("a drain that waits for a paused site says so [slow]", async () => {
    await using target = await Target.start(1);
    await using orb = new Installation();
    await orb.import([{ artifact_id: "a", url: target.url("/a") }]);
    await orb.run(["sites", "pause", target.sites[0] ?? ""]);
    const run = orb.start(["queue", "run", "--drain"]);
    await run.said("a site waits");
    await orb.run(["sites", "resume", target.sites[0] ?? ""]);
    assert.equal((await run.ended).code, 0);
  });

  test("files go where APP_ARTIFACTS_URL says, and a bucket without a key is refused", async () => {
    await using target = await Target.start(1);
    await using orb = Installation.prepared({ APP_ARTIFACTS_URL: "./elsewhere" });
    await orb.import([{ artifact_id: "a", url: target.url("/a") }]);
    assert.equal((await orb.run(["queue", "run", "--drain"])).code, 0);
    assert.ok(existsSync(join(orb.dir, "elsewhere", "sha256")));
    await using cloud = Installation.prepared({ APP_ARTIFACTS_URL: "s3://bucket/prefix" });
    const { code, stderr } = await cloud.run(["queue", "stats"]);
    assert.equal(code, 2);
    assert.match(stderr, /APP_S3_ACCESS_KEY_ID: expected a key for the bucket of APP_ARTIFACTS_URL/);
  });
});
