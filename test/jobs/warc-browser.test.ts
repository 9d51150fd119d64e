import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { rendered, sendTo } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";
import { readWarc } from "./warc-reader.ts";

describe("an archive of a crawl that needs a browser", browserGate, () => {
  test("has the page as the browser put it together, and says that it is that [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": sendTo("/app"), "/app": rendered("Application") });
    await using server = await TestServer.open();
    const body = { url: site.url("/"), strategy: "browser", export_format: "warc" };
    const { task_id: id } = (await server.api.post("/scraping/async-scrape", body)).json<{ task_id: string }>();
    assert.equal((await server.ended(id)).status, "completed");
    const records = await readWarc((await server.api.get(`/scraping/tasks/${id}/results?format=warc`)).bytes);
    assert.deepEqual(
      records.map(({ type }) => type),
      ["warcinfo", "resource", "metadata"],
    );
    const [, resource, metadata] = records;
    assert.equal(resource?.url, site.url("/app"));
    assert.match(resource?.payload.toString() ?? "", /<h1>Application<\/h1>/);
    assert.match(metadata?.payload.toString() ?? "", /^renderedBy: .*chromium.*\r\nhttpStatus: 200\r\n/);
    assert.match(metadata?.payload.toString() ?? "", new RegExp(`redirectedFrom: 302 ${site.url("/")}\r\n`));
  });
});
