import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "undici";
import { failure } from "../../src/domain/run/failure.ts";
import { newTask } from "../contract/store/kit.ts";
import { openTestApi, type TestApi } from "./kit.ts";

async function failedRun(served: TestApi): Promise<string> {
  const { created } = await served.store.startRun(
    { kind: "page", url: "https://a.example/a", site: "a.example", maxAttempts: 1, snapshot: {} },
    [newTask("a")],
    Date.now(),
  );
  await served.work("site:a.example", () => ({ kind: "failed", failure: failure("http_not_found", "gone") }));
  return created.id;
}

describe("the types of events", () => {
  test("stand in lists and streams, which can be restricted to some", async (t) => {
    const served = await openTestApi(t);
    const id = await failedRun(served);
    const types = async (type?: string) =>
      (await served.client.runs.events(id, type === undefined ? {} : { type })).map((event) => event.type);
    const all = await types();
    assert.deepEqual([all[0], all.at(-1)], ["run.created", "run.failed"]);
    assert.deepEqual(await types("run.failed,run.created"), ["run.created", "run.failed"]);
    assert.deepEqual(await types("circuit.opened"), []);
    const followed: string[] = [];
    for await (const event of served.client.followRun(id, { type: "run.failed" })) followed.push(event.type);
    assert.deepEqual(followed, ["run.failed"]);
  });

  test("that no event of an ended run has leave nothing to stream", async (t) => {
    const served = await openTestApi(t);
    const id = await failedRun(served);
    const stream = `${served.url}/jobs/runs/${id}/events/stream`;
    assert.equal((await request(`${stream}?type=circuit.opened`)).statusCode, 204);
  });

  test("are checked: what looks like a slip of the finger is corrected", async (t) => {
    const served = await openTestApi(t);
    const id = await failedRun(served);
    for (const path of [`/jobs/runs/${id}/events`, `/jobs/runs/${id}/events/stream`, "/events/stream"]) {
      const { statusCode, body } = await request(`${served.url}${path}?type=run.failed,run.complete`);
      const { errors } = (await body.json()) as { errors: { path: string; message: string }[] };
      assert.equal(statusCode, 422);
      const message = "there is no event type run.complete; did you mean run.completed?";
      assert.deepEqual(errors, [{ path: "query.type", message }]);
    }
  });
});
