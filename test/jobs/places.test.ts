import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { hang, page } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

describe("pages that wait for a browser", browserGate, () => {
  test("do not keep plain pages of other sites waiting [slow]", async () => {
    await using slow = await MisbehavingSite.start({ "/1": hang, "/2": hang, "/3": hang });
    await using plain = await MisbehavingSite.start({ "/": page("Plain") });
    await using server = await TestServer.open({ APP_MAX_WORKERS: "2", APP_BROWSER_MAX_PAGES: "1" });
    const waiting = [];
    for (const path of ["/1", "/2", "/3"])
      waiting.push(await server.begin({ target_url: slow.url(path), strategy: "browser" }));
    await slow.visited("/1", 1);
    const { id } = await server.begin({ target_url: plain.url("/") });
    assert.equal((await server.ended(id)).status, "completed");
    for (const run of waiting) await server.api.post(`/jobs/runs/${run.id}/cancel`);
  });
});
