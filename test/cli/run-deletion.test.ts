import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { Installation } from "./installation.ts";
import { openShop } from "./site.ts";

describe("orb runs keep and orb runs delete", () => {
  test("runs say how long they are kept, are kept, and are deleted one by one and by what they are [slow]", async () => {
    await using shop = await openShop();
    await using orb = new Installation();
    const job = await orb.json<JobView>(
      ...["jobs", "create", "--target-url", shop.url("/list"), "--items", "li.t", "--field", "name=a", "--tag", "shop"],
      ...["--keep-runs", "50", "--keep-days", "7"],
    );
    assert.deepEqual([job.keep_runs, job.keep_days], [50, 7]);
    assert.match((await orb.run(["jobs", "show", job.id])).stdout, /^retention +the newest 50 runs, for 7 days$/m);
    for (let n = 0; n < 3; n += 1) assert.equal((await orb.run(["jobs", "run", job.id, "--wait"])).code, 0);
    const runs = await orb.json<RunView[]>("runs", "list");
    const [newest, second, oldest] = runs.map(({ id }) => id) as [string, string, string];

    const shown = await orb.run(["runs", "show", newest]);
    assert.match(shown.stdout, /^kept +until \d{4}-\S+Z, but only while it is one of the newest 50 runs of its job$/m);
    const kept = await orb.run(["runs", "keep", oldest]);
    assert.equal(kept.stdout, `${oldest}: kept until you delete it\n`);
    assert.equal((await orb.json<RunView>("runs", "show", oldest)).kept, true);

    const one = await orb.run(["runs", "delete", newest]);
    assert.equal(one.stdout, `deleted ${newest}\n`);
    const none = await orb.run(["runs", "delete"]);
    assert.equal(none.code, 2);
    assert.match(none.stderr, /choose the runs to delete: .*--older-than 30d/);
    assert.equal((await orb.run(["runs", "delete", second, "--all"])).code, 2);
    assert.match(
      (await orb.run(["runs", "delete", "--older-than", "soon"])).stderr,
      /expected a duration, such as 30d/,
    );

    const old = await orb.run(["runs", "delete", "--older-than", "1d", "--dry-run"]);
    assert.equal(old.stdout, "0 runs would be deleted\n");
    const counted = await orb.run(["runs", "delete", "--tag", "shop", "--status", "completed", "--dry-run"]);
    assert.equal(counted.stdout, "1 run would be deleted\n");
    const many = await orb.run(["runs", "delete", "--tag", "shop", "--status", "completed"]);
    assert.equal(many.code, 0, many.stderr);
    assert.match(many.stdout, /^deleted 1 run; their rows and files are removed within minutes\n$/);
    assert.deepEqual(
      (await orb.json<RunView[]>("runs", "list")).map(({ id }) => id),
      [oldest],
    );
    const gone = await orb.run(["jobs", "delete", job.id, "--runs"]);
    assert.equal(gone.stdout, `deleted ${job.id} and 1 run\n`);
    assert.deepEqual(await orb.json<RunView[]>("runs", "list"), []);
    await orb.audit();
  });
});
