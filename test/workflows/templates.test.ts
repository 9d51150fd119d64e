import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { after, before, describe, it } from "node:test";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { completeParams } from "../../src/domain/workflow/params-check.ts";
import type { WorkflowTaskView } from "../../src/orchestrator/workflows/task-view.ts";
import type { WorkflowDetail } from "../../src/orchestrator/workflows/view.ts";
import { BUILT_IN_TEMPLATES } from "../../src/workflows/templates/registry.ts";
import { TestServer } from "../jobs/kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { article, html, json, product, status } from "../support/misbehaviours.ts";

const SECRET = "a-secret-of-24-characters";

type Tasks = Map<string, WorkflowTaskView>;

describe("a built-in template", { concurrency: 2 }, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open({ APP_MAX_PER_HOST: "20", APP_WEBHOOK_SECRET: SECRET });
  });
  after(() => server[Symbol.asyncDispose]());

  /** Runs it to its end over the API; its steps by name. */
  async function run(template: string, params: Record<string, JsonValue>): Promise<Tasks> {
    const answer = await server.api.post("/workflows", { template, params });
    assert.equal(answer.status, 201, answer.text);
    const { id } = answer.json<WorkflowDetail>();
    const ended = await server.ended(id);
    const tasks = (await server.api.get(`/workflows/${id}/tasks`)).json<WorkflowTaskView[]>();
    assert.equal(ended.status, "completed", JSON.stringify(tasks, null, 1));
    return new Map(tasks.map((task) => [task.task_name, task]));
  }

  const outputOf = (tasks: Tasks, name: string) => tasks.get(name)?.result as Record<string, never>;

  async function exported(tasks: Tasks): Promise<Buffer> {
    const { artifact_id: id, bytes, artifact_hash: hash } = outputOf(tasks, "export");
    const answer = await server.api.get(`/artifacts/${id}`);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.bytes.length, bytes);
    assert.equal(createHash("sha256").update(answer.bytes).digest("hex"), hash);
    return answer.bytes;
  }

  const linesOf = (bytes: Buffer) =>
    bytes
      .toString("utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, JsonValue>);

  it("is listed with its params, and is a definition that is taken as it is", async () => {
    const listed = (await server.api.get("/workflows/templates")).json<{ name: string; params: JsonValue }[]>();
    for (const [name, definition] of BUILT_IN_TEMPLATES) {
      assert.deepEqual(
        listed.find((one) => one.name === name)?.params,
        (definition as Record<string, JsonValue>)["params"],
      );
      const answer = await server.api.post("/workflows/validate", { definition });
      assert.deepEqual(answer.json(), { valid: true, errors: [] }, name);
    }
  });

  it("says what is wrong with the params it is given", () => {
    const faults = (name: string, params: Record<string, JsonValue>) =>
      (completeParams((BUILT_IN_TEMPLATES.get(name) as { params: JsonValue }).params, params).errors ?? []).map(
        ({ path, message }) => `${path}: ${message}`,
      );
    const urls = ["https://a.example/1.jpg"];
    assert.deepEqual(faults("image-dataset", { urls }), []);
    assert.deepEqual(faults("image-dataset", { crawl: { url: "https://a.example/" } }), []);
    for (const params of [{}, { urls, crawl: { url: "https://a.example/" } }])
      assert.deepEqual(faults("image-dataset", params), ["params: set either urls or crawl"]);
    assert.deepEqual(faults("image-dataset", { urls: "a" }), ["params.urls: expected array or null, got string"]);
    assert.deepEqual(faults("image-dataset", { urls: [] }), ["params.urls: must have at least one entry"]);
    assert.deepEqual(faults("image-dataset", { urls, distance: 17 }), ["params.distance: must be at most 16"]);
    assert.deepEqual(faults("article-dataset", { crawl: { url: "https://a.example/" }, min_words: 5 }), []);
    assert.notDeepEqual(faults("article-dataset", {}), []);
    assert.deepEqual(faults("price-monitor", { urls }), []);
    assert.notDeepEqual(faults("price-monitor", { urls, webhook: "x" }), []);
  });

  it("refuses at once what a step would refuse in the end, and names the param", async () => {
    const urls = ["https://a.example/1.jpg"];
    const refusal = async (template: string, params: Record<string, JsonValue>) => {
      const answer = await server.api.post("/workflows", { template, params, start: false });
      const { code, errors = [] } = answer.json<{ code?: string; errors?: { path: string }[] }>();
      return [code, ...errors.map(({ path }) => path)];
    };
    const image = (params: Record<string, JsonValue>) => refusal("image-dataset", { urls, ...params });
    assert.deepEqual(await image({ label_from: "bogus" }), ["input_invalid", "params"]);
    assert.deepEqual(await image({ rules: [{ label: "a", url: "/(/" }] }), ["input_invalid", "params.rules[0].url"]);
    assert.deepEqual(await image({ label: "a", rules: [{ label: "b" }] }), ["input_invalid", "params"]);
    assert.deepEqual(await image({ split: { Train: 1, train: 1 } }), ["input_invalid", "params.split.train"]);
    assert.deepEqual(await image({ endpoint: "http://169.254.169.254/" }), ["forbidden_target", "params.endpoint"]);
    const price = (params: Record<string, JsonValue>) => refusal("price-monitor", { urls, ...params });
    assert.deepEqual(await price({ urls: ["no address"] }), ["input_invalid", "params.urls[0]"]);
    assert.deepEqual(await price({ fields: { price: ".p" }, items: { css: "(((" } }), [
      "input_invalid",
      "params.items.css",
    ]);
    assert.deepEqual(await price({ webhook_url: "http://169.254.169.254/" }), [
      "forbidden_target",
      "params.webhook_url",
    ]);
    const crawl = { url: "https://a.example/", include: ["/(/"] };
    assert.deepEqual(await refusal("article-dataset", { crawl }), ["input_invalid", "params.crawl.include[0]"]);
    const valid = async (task_type: string, params: Record<string, JsonValue>) => {
      const definition = { name: "x", steps: [{ name: "a", task_type, params }] };
      return (await server.api.post("/workflows/validate", { definition })).json<{ valid: boolean }>().valid;
    };
    assert.equal(await valid("cleanup", { steps: ["none"] }), false);
    assert.equal(await valid("validate", { min_width: 100, max_width: 10 }), false);
    assert.equal(await valid("webhook", { url: "https://a.example/", method: "GET", body: 1 }), false);
    assert.equal(await valid("scrape", { url: "http://10.0.0.1/" }), false);
    assert.equal(await valid("scrape", { url: "https://a.example/" }), true);
  });

  it("makes a table of a site's articles, without the short ones and the repeated ones", async () => {
    const links = ["/a", "/b", "/copy", "/short"].map((path) => `<a href="${path}">${path}</a>`).join(" ");
    await using site = await MisbehavingSite.start({
      "/": html(`<!doctype html><title>Home</title>${links}`),
      "/a": article("About webs", 8),
      "/b": article("About threads", 12),
      "/copy": article("About webs", 8),
      "/short": article("Short", 1),
    });
    const tasks = await run("article-dataset", { crawl: { url: site.url("/") }, min_words: 100 });
    const rows = linesOf(await exported(tasks));
    assert.deepEqual(rows.map(({ title }) => title).toSorted(), ["About threads", "About webs"]);
    assert.deepEqual(Object.keys(rows[0]!), [
      "url",
      "title",
      "author",
      "published_at",
      "language",
      "word_count",
      "text",
    ]);
    assert.equal(outputOf(tasks, "export")["count"], 2);
  });

  it("watches prices, and tells only when one has changed since the last run", async () => {
    await using site = await MisbehavingSite.start({
      "/one": product("One", "10.00"),
      "/two": product("Two", "20.00"),
      "/told": json({}),
    });
    const params = { urls: [site.url("/one"), site.url("/two")], webhook_url: site.url("/told") };
    const first = await run("price-monitor", params);
    assert.equal(outputOf(first, "compare")["first_run"], true);
    assert.equal(first.get("notify")?.status, "skipped");
    site.on("/two", product("Two", "18.50"));
    const second = await run("price-monitor", params);
    assert.equal(second.get("notify")?.status, "completed");
    const third = await run("price-monitor", params);
    assert.equal(third.get("notify")?.status, "skipped");
    assert.equal(outputOf(third, "compare")["unchanged"], 2);
    assert.equal(site.count("/told"), 1);
    const { headers, body } = site.of("/told")[0]!;
    const signed = createHmac("sha256", SECRET).update(`${headers["x-orb-timestamp"]}.${body}`).digest("hex");
    assert.equal(headers["x-orb-signature"], `sha256=${signed}`);
    assert.deepEqual(JSON.parse(body), {
      changed: 1,
      added: 0,
      removed: 0,
      changes: [
        {
          kind: "changed",
          url: site.url("/two"),
          title: "Two",
          key: site.url("/two"),
          fields: { price: { before: 20, after: 18.5 } },
        },
      ],
      failed: 0,
      failed_pages: [],
    });
  });

  it("watches 30 products of which one is gone: the others are compared, written as a table, and the failing page is named", async () => {
    const names = Array.from({ length: 30 }, (_, n) => `/p${n}`);
    await using site = await MisbehavingSite.start({ "/told": json({}) });
    for (const [n, path] of names.entries()) site.on(path, product(`Product ${n}`, `${n + 1}.00`));
    site.on("/p7", status(404));
    const params = { urls: names.map((path) => site.url(path)), webhook_url: site.url("/told") };
    const first = await run("price-monitor", params);
    assert.deepEqual(
      [outputOf(first, "scrape")["pages"], outputOf(first, "scrape")["failed"], outputOf(first, "compare")["not_read"]],
      [29, 1, 1],
    );
    const gone = { url: site.url("/p7"), error: "the server answered 404 (not found)", http_status: 404 };
    assert.deepEqual(outputOf(first, "scrape")["failed_pages"], [gone]);
    site.on("/p3", product("Product 3", "3.50"));
    // One that was there before, and cannot be read now, has not changed and is not gone.
    site.on("/p9", status(404));
    const second = await run("price-monitor", params);
    const compared = outputOf(second, "compare");
    assert.deepEqual(
      [compared["changed"], compared["added"], compared["removed"], compared["unchanged"], compared["not_read"]],
      [1, 0, 0, 27, 2],
    );
    assert.equal(site.count("/told"), 1);
    const payload = JSON.parse(site.of("/told")[0]!.body) as Record<string, JsonValue>;
    assert.deepEqual(payload["changes"], [
      {
        kind: "changed",
        url: site.url("/p3"),
        title: "Product 3",
        key: site.url("/p3"),
        fields: { price: { before: 4, after: 3.5 } },
      },
    ]);
    assert.deepEqual([payload["failed"], (payload["failed_pages"] as JsonValue[]).length], [2, 2]);
    assert.deepEqual((payload["failed_pages"] as JsonValue[])[0], gone);
    const [header, ...rows] = (await exported(second)).toString("utf8").trimEnd().split(/\r?\n/);
    assert.equal(header, "url,title,price,currency,not_read");
    assert.equal(rows.length, 30);
    assert.ok(rows.includes(`${site.url("/p3")},Product 3,3.5,EUR,`));
    assert.ok(
      rows.includes(`${site.url("/p9")},Product 9,10,EUR,the server answered 404 (not found)`),
      "as it was last",
    );
    assert.ok(rows.includes(`${site.url("/p7")},,,,the server answered 404 (not found)`));
    // It is read again: what it says is compared with what was known of it.
    site.on("/p9", product("Product 9", "11.00"));
    site.on("/p7", product("Product 7", "8.00"));
    const third = outputOf(await run("price-monitor", params), "compare");
    assert.deepEqual([third["changed"], third["added"], third["removed"], third["not_read"]], [1, 1, 0, 0]);
  });

  it("fails as a whole when more pages fail than may, and names them [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/one": product("One", "10.00"), "/two": status(404) });
    const params = { urls: [site.url("/one"), site.url("/two")] };
    const { id } = (await server.api.post("/workflows", { template: "price-monitor", params })).json<WorkflowDetail>();
    assert.equal((await server.ended(id)).status, "failed");
    const { error_message: message } = (await server.api.get(`/workflows/${id}`)).json<WorkflowDetail>();
    assert.match(
      message ?? "",
      /1 of 2 pages failed, and max_failed_share is 0\.2: http.*\/two: the server answered 404/,
    );
  });
});
