import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { json, status } from "../support/misbehaviours.ts";
import { FULL, Orb } from "./orb.ts";
import { Served } from "./served.ts";

const ENTRIES = [1, 2, 3, 4, 5];

function definition(site: MisbehavingSite) {
  const call = (name: string, dependencies: string[], more: object = {}) => ({
    name,
    task_type: "webhook",
    dependencies,
    params: { url: site.url(`/${name}`), body: {} },
    max_retries: 0,
    ...more,
  });
  return {
    name: "Recovered",
    max_recovery_attempts: 3,
    steps: [
      call("first", []),
      call("beside", ["first"]),
      call("each", ["first"], {
        params: { url: `${site.origin}/each/\${{ item }}`, body: {} },
        for_each: { in: ENTRIES, concurrency: 2, on_error: "finish" },
      }),
      call("broken", ["beside"]),
      call("after", ["broken", "each"]),
    ],
  };
}

describe("a failed workflow that is recovered", () => {
  for (const killed of FULL ? [true, true, true, false] : [true, false])
    test(`${killed ? "by a server that is killed as soon as it has answered" : "after the server was stopped and started"} does again what failed, and what waited for it, once`, async () => {
      await using site = await MisbehavingSite.start({ "*": json({}), "/broken": status(500), "/each/3": status(500) });
      await using orb = new Orb();
      let served = await Served.start(orb);
      const created = await served.api.post("/workflows", { definition: definition(site) });
      assert.equal(created.status, 201, created.text);
      const { id } = created.json<{ id: string }>();
      assert.equal((await served.ended(id)).status, "failed");
      const hits = () =>
        ["first", "beside", "broken", "after", ...ENTRIES.map((n) => `each/${n}`)].map((path) =>
          site.count(`/${path}`),
        );
      assert.deepEqual(hits(), [1, 1, 1, 0, 1, 1, 1, 1, 1]);

      if (!killed) {
        await served.terminated();
        served = await Served.start(orb);
      }
      site.on("/broken", json({}));
      site.on("/each/3", json({}));
      const answer = await served.api.post(`/workflows/${id}/recover`);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.json<{ status: string }>().status, "recovering");
      if (killed) {
        await served.killed();
        served = await Served.start(orb);
      }
      await served.said(id, /^Run completed/);
      const ends = (await served.events(id)).filter(({ message }) => /^Run (failed|completed)/.test(message));
      assert.equal(ends.length, 2, "one end of each generation");
      const [first, beside, broken, after, ...entries] = hits();
      assert.deepEqual([first, beside, entries[0], entries[1], entries[3], entries[4]], [1, 1, 1, 1, 1, 1]);
      // A step that the kill met in mid-step may have asked once more; nothing else may.
      for (const again of [broken! - 1, after!, entries[2]! - 1])
        assert.ok(again === 1 || (killed && again === 2), JSON.stringify(hits()));
      await served.terminated();
      await orb.audit();
    });
});
