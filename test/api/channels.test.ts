import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openTestApi } from "./kit.ts";

interface Channel {
  id: string;
  name: string;
  enabled: boolean;
  rules: { jobs?: string[] }[];
  errors?: { path: string }[];
}

const NOBODY = "00000000-0000-4000-8000-000000000000";
const settings = { topic: "orb" };

describe("a notification channel with a rule for a job that was deleted since", () => {
  test("can be disabled, renamed and get other rules; no rule can name a job that never was in it", async (t) => {
    const served = await openTestApi(t);
    const page = { name: "shop", target_url: "https://a.example/", fields: { title: "h1" } };
    const { id: job } = (await served.send("POST", "/jobs", page)).json<{ id: string }>();
    const body = { name: "ops", kind: "ntfy", settings, rules: [{ jobs: [job] }] };
    const made = await served.send("POST", "/notifications/channels", body);
    assert.equal(made.status, 201, made.text);
    const change = (more: object) => served.send("PATCH", `/notifications/channels/${made.json<Channel>().id}`, more);
    assert.equal((await served.call({ method: "DELETE", path: `/jobs/${job}` })).status, 204);
    for (const more of [
      { enabled: false },
      { name: "mail" },
      { settings: { topic: "other" } },
      { rules: [{ jobs: [job], min_severity: "error" }, { types: ["run_failed"] }] },
    ]) {
      const answer = await change(more);
      assert.equal(answer.status, 200, answer.text);
    }
    const shown = (await served.get("/notifications/channels")).json<Channel[]>()[0];
    assert.deepEqual([shown?.name, shown?.enabled, shown?.rules[0]?.jobs], ["mail", false, [job]]);
    const refused = await change({ rules: [{ jobs: [job, NOBODY] }] });
    assert.deepEqual(
      [refused.status, refused.json<Channel>().errors?.map(({ path }) => path)],
      [422, ["rules[0].jobs[1]"]],
    );
    assert.equal((await change({ rules: [] })).status, 200);
    assert.equal((await change({ rules: [{ jobs: [job] }] })).status, 422, "it is no longer in it");
  });
});
