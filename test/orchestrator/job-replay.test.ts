import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JobInput } from "../../src/orchestrator/jobs/input.ts";
import { showJob } from "../../src/orchestrator/jobs/manage.ts";
import { refusedField } from "../contract/store/kit.ts";
import { openJobs } from "./jobs-kit.ts";

describe("the call of an api_replay", () => {
  const withRequest = (request: object): JobInput => ({
    strategy: "api_replay",
    replay: { request: { url: "https://a.example/api", ...request } },
  });

  test("secrets in it are refused by their field, with the place where they belong", async (t) => {
    const place = await openJobs(t);
    const refusals: [string, object][] = [
      ["replay.request.headers.Authorization", { headers: { Authorization: "Bearer abc" } }],
      ["replay.request.headers.cookie", { headers: { accept: "*/*", cookie: "sid=crumb" } }],
      ["replay.request.headers.X-Api-Key", { headers: { "X-Api-Key": "sesame" } }],
      ["replay.request.headers.x-csrf-token", { headers: { "x-csrf-token": "sesame" } }],
      ["replay.request.headers.x-who", { headers: { "x-who": "Bearer sesame" } }],
      ["replay.request.url", { url: "https://ann:sesame@a.example/api" }],
      ["replay.request.url", { url: "https://sesame@a.example/api" }],
    ];
    const job = await place.make(withRequest({ headers: { accept: "application/json", "x-page": "1" } }));
    for (const [path, request] of refusals) {
      const wrong = withRequest(request);
      await refusedField(path, place.make(wrong));
      await refusedField(path, place.change(job.id, wrong));
      await assert.rejects(place.make(wrong), (error: Error) => {
        assert.match(error.message, /headers.*cookies.*session_id/);
        assert.doesNotMatch(error.message, /sesame|crumb|abc/);
        return true;
      });
    }
  });

  test("the same secrets in the job's headers are sealed, and not shown", async (t) => {
    const place = await openJobs(t);
    const job = await place.make({ ...withRequest({}), headers: { authorization: "Bearer sesame" } });
    assert.deepEqual(job.header_names, ["authorization"]);
    assert.doesNotMatch(JSON.stringify(await place.store.job(job.id)), /sesame/);
    assert.deepEqual((await place.secrets(job.id))?.origin, "https://a.example");
  });

  test("the strategy without a call is refused, from the first or by a change", async (t) => {
    const place = await openJobs(t);
    await refusedField("replay", place.make({ strategy: "api_replay" }));
    await refusedField("replay", place.make({ strategy: "api_replay", replay: null }));
    const job = await place.make();
    await refusedField("replay", place.change(job.id, { strategy: "api_replay" }));
    const good = await place.make(withRequest({}));
    await refusedField("replay", place.change(good.id, { replay: null }));
    assert.equal((await showJob(place.deps, job.id)).strategy, "auto");
  });
});
