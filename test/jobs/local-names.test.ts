import assert from "node:assert/strict";
import { test } from "node:test";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import { TestServer } from "./kit.ts";

test("a crawl of a name of this machine fails at once and says why, with robots.txt and without", async () => {
  await using server = await TestServer.open({ APP_ALLOW_PRIVATE_NETWORKS: "false" });
  for (const respect_robots of [true, false])
    for (const url of ["http://localhost.:9/", "http://shop.localhost/"]) {
      const started = await server.api.post("/scraping/async-scrape", { url, respect_robots });
      // An address that can be seen to be forbidden is refused when it is sent.
      if (started.status === 422) {
        assert.match(started.text, /forbidden_target/);
        continue;
      }
      const id = started.json<{ task_id: string }>().task_id;
      await server.ended(id);
      const view = (await server.api.get(`/scraping/tasks/${id}/status`)).json<
        CrawlView & { error_groups: { failure_reason: string }[] }
      >();
      assert.equal(view.status, "failed");
      assert.deepEqual(
        view.error_groups.map(({ failure_reason }) => failure_reason),
        ["private_address"],
        `${url} ${respect_robots}`,
      );
    }
});
