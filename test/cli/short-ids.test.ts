import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { Installation } from "./installation.ts";

describe("ids on the command line", () => {
  test("their first characters do, and last is the newest run", async () => {
    await using installation = Installation.prepared();
    const job = await installation.json<JobView>(
      "jobs",
      "create",
      "--target-url",
      "http://127.0.0.1:9/",
      "--name",
      "one",
    );
    const first = await installation.json<RunView>("jobs", "run", job.id);
    const second = await installation.json<RunView>("jobs", "run", job.id);
    assert.equal(second.job_id, job.id);
    assert.equal((await installation.json<RunView>("runs", "show", first.id.slice(0, 8))).id, first.id);
    assert.equal((await installation.json<RunView>("runs", "show", "last")).id, second.id);
    assert.deepEqual(await installation.json("runs", "results", "last"), []);
    assert.ok((await installation.json<unknown[]>("runs", "events", first.id.slice(0, 8))).length > 0);
    const listed = await installation.json<RunView[]>("runs", "list", "--job", job.id);
    assert.deepEqual(
      listed.map(({ id }) => id),
      [second.id, first.id],
    );
    const open = await installation.json<RunView[]>("runs", "list", "--status", "queued,running");
    assert.equal(open.length, 2, "in one of several states");
    const wrong = await installation.run(["runs", "list", "--status", "failed,lost"]);
    assert.deepEqual([wrong.code, /"lost" is not one of queued, /.test(wrong.stderr)], [2, true], wrong.stderr);
    const short = await installation.run(["runs", "show", first.id.slice(0, 5)]);
    assert.equal(short.code, 2);
    assert.match(short.stderr, /run_id: expected an id, .* or at least its first 6 characters/);
    const begun = await installation.run(["jobs", "delete", job.id.slice(0, 8)]);
    assert.deepEqual(
      [begun.code, /job_id: expected an id/.test(begun.stderr)],
      [2, true],
      "ids of jobs all begin alike",
    );
    const nobody = await installation.run(["crawl", "--resume", "last"]);
    assert.match(nobody.stderr, /there is no crawl yet/);
  });

  test("runs that a workflow has started are listed with --all [slow]", async () => {
    await using installation = new Installation();
    const file = installation.file(
      "flow.json",
      JSON.stringify({
        name: "flow",
        steps: [{ name: "pages", task_type: "crawl", params: { url: "http://127.0.0.1:9/" } }],
      }),
    );
    const { stderr } = await installation.run(["workflows", "run", file]);
    const kinds = async (...words: string[]) => {
      const runs = await installation.json<RunView[]>("runs", "list", ...words);
      return runs.map(({ parent }) => (parent === null ? "own" : "started by a step")).sort();
    };
    assert.deepEqual(await kinds(), ["own"], stderr);
    assert.ok((await kinds("--all")).includes("started by a step"));
  });
});
