import assert from "node:assert/strict";
import { test } from "node:test";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

test("a site that answers 429 is left alone from the head of the answer on, however long its body takes [slow]", async () => {
  await using server = await TestServer.open({ APP_MAX_PER_HOST: "2" });
  const links = Array.from({ length: 8 }, (_, n) => `<a href="/p${n}">x</a>`).join("");
  await using site = await MisbehavingSite.start({ "/": html(`<title>Start</title>${links}`) });
  const headSent = Promise.withResolvers<void>();
  const bodyMayEnd = Promise.withResolvers<void>();
  const otherDone = Promise.withResolvers<void>();
  let refusals = 0;
  site.on("/p0", (_visit, response) => {
    if (refusals++ > 0) return void response.writeHead(200, { "content-type": "text/html" }).end("<title>P</title>");
    response.writeHead(429, { "content-type": "text/plain", "retry-after": "1" });
    response.write("too ");
    headSent.resolve();
    return void bodyMayEnd.promise.then(() => response.end("many"));
  });
  site.on("/p1", (_visit, response) => {
    // Ends after the other's head is there.
    return void headSent.promise.then(() =>
      response.writeHead(200, { "content-type": "text/html" }).end("<title>P1</title>", () => otherDone.resolve()),
    );
  });
  for (let n = 2; n < 8; n += 1) site.on(`/p${n}`, html(`<title>P${n}</title>`));
  const body = { url: site.url("/"), max_concurrent_articles: 2, strategy: "http" };
  const id = (await server.api.post("/scraping/async-scrape", body)).json<{ task_id: string }>().task_id;
  await otherDone.promise;
  // The page that was good is written: its place at the site has been free for some time then.
  for (let done = 0; done < 2;)
    done = (await server.api.get(`/scraping/tasks/${id}/status`)).json<{ completed_items: number }>().completed_items;
  const asked = site.visits.map(({ path }) => path).filter((path) => path.startsWith("/p"));
  assert.deepEqual(asked.toSorted(), ["/p0", "/p1"], "nothing was begun after the head");
  bodyMayEnd.resolve();
  const run = await server.ended(id);
  assert.equal(run.status, "completed", run.message ?? "");
  assert.equal(site.visits.filter(({ path }) => path.startsWith("/p")).length, 9);
});
