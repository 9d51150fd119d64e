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
