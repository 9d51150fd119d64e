import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ensureCode } from "../../scripts/code.mjs";
import type * as Client from "../../src/api-client/client.ts";
import { openShop } from "../cli/site.ts";
import { TestServer } from "../jobs/kit.ts";
import { browserGate } from "../support/browser-kit.ts";
import { root } from "../support/source.ts";
import { launchBrowser, openPage } from "../web/kit.ts";
import { openGate } from "./kit.ts";

test("a page in a browser imports the client as it is shipped, and works with it [slow]", browserGate, async () => {
  await ensureCode();
  const built = readFileSync(join(root, "dist/code/client.js"), "utf8");
  assert.doesNotMatch(built, /^\s*(?:import|export)\b[^;]*\bfrom\b/m, "it is one file, and needs no other");
  await using shop = await openShop();
  await using server = await TestServer.open();
  // One origin for the page, the client and the API, as behind a reverse proxy.
  await using gate = await openGate(server.api.url, ({ url }) => {
    if (url === "/client.js") return { status: 200, headers: { "content-type": "text/javascript" }, body: built };
    if (url !== "/page") return undefined;
    const body = '<!doctype html><html lang="en"><title>Page</title><link rel="icon" href="data:,"></html>';
    return { status: 200, headers: { "content-type": "text/html" }, body };
  });
  await using browser = await launchBrowser();
  await using opened = await openPage(browser, gate.url, "/page", { expected: /404|422/ });
  const seen = await opened.page.evaluate(
    async ({ list, url }) => {
      const address = "/client.js";
      const { createClient, isOrbweaverError } = (await import(address)) as typeof Client;
      const client = createClient({ url });
      for (const name of ["a", "b", "c"]) await client.jobs.create({ name, target_url: list, tags: ["page"] });
      const names: string[] = [];
      for await (const job of client.jobs.list({ tag: "page", limit: 1 })) names.push(job.name ?? "");
      const { id } = await client.runs.start({ target_url: list, items: "li.t", fields: { name: "a" } });
      const states: string[] = [];
      const run = await client.waitForRun(id, { onProgress: ({ status }) => states.push(status) });
      const events: string[] = [];
      for await (const { message } of client.followRun(id)) events.push(message);
      const csv = await client.open("get /jobs/runs/{run_id}/results", {
        params: { run_id: id },
        query: { format: "csv" },
      });
      const refused: unknown = await client.runs
        .get("0197c3a1-5a2e-7c3f-9d52-1c8d5f1a2b3c")
        .catch((error: unknown) => error);
      const stop = new AbortController();
      const live = client.followLive({ signal: stop.signal });
      const first = await live.next();
      stop.abort(new Error("enough"));
      const ended = await live.next().then(
        () => "went on",
        (error: unknown) => String(error),
      );
      return {
        names,
        status: run.status,
        last: states.at(-1),
        events,
        csv: await csv.text(),
        code: isOrbweaverError(refused) ? refused.code : String(refused),
        hello: first.value?.event,
        ended,
      };
    },
    { list: shop.url("/list"), url: gate.url },
  );
  assert.deepEqual(seen.names.toSorted(), ["a", "b", "c"]);
  assert.deepEqual([seen.status, seen.last, seen.code, seen.hello], ["completed", "completed", "not_found", "hello"]);
  assert.match(seen.events.join("\n"), /Run created[\s\S]*Run completed/);
  assert.match(seen.csv, /Thing 3/);
  // What comes between is told or cut off; either way it ends.
  assert.match(seen.ended, /enough|went on/);
});
