import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import type { JsonValue } from "../../src/domain/queue-item.ts";
import { completeParams } from "../../src/domain/workflow/params-check.ts";
import type { WorkflowTaskView } from "../../src/orchestrator/workflows/task-view.ts";
import type { WorkflowDetail } from "../../src/orchestrator/workflows/view.ts";
import { BUILT_IN_TEMPLATES } from "../../src/workflows/templates/registry.ts";
import { Place } from "../jobs/kit.ts";
import { makeImageSet } from "../support/images.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { article, html, json, product } from "../support/misbehaviours.ts";
import { readZip } from "../support/zip.ts";

const file =
  (bytes: Buffer, contentType: string): Route =>
  (_visit, response) =>
    void response.writeHead(200, { "content-type": contentType }).end(bytes);

type Tasks = Map<string, WorkflowTaskView>;

describe("a built-in template", { concurrency: 2 }, () => {
  let place: Place;
  before(async () => {
    place = await Place.open({ APP_MAX_PER_HOST: "20" });
  });
  after(() => place[Symbol.asyncDispose]());

  /** Runs it to its end over the API; its steps by name. */
  async function run(template: string, params: Record<string, JsonValue>): Promise<Tasks> {
    const answer = await place.api.post("/workflows", { template, params });
    assert.equal(answer.status, 201, answer.text);
    const { id } = answer.json<WorkflowDetail>();
    const ended = await place.ended(id);
    const tasks = (await place.api.get(`/workflows/${id}/tasks`)).json<WorkflowTaskView[]>();
    assert.equal(ended.status, "completed", JSON.stringify(tasks, null, 1));
    return new Map(tasks.map((task) => [task.task_name, task]));
  }

  const outputOf = (tasks: Tasks, name: string) => tasks.get(name)?.result as Record<string, never>;

  async function exported(tasks: Tasks): Promise<Buffer> {
    const { artifact_id: id, bytes, artifact_hash: hash } = outputOf(tasks, "export");
    const answer = await place.api.get(`/artifacts/${id}`);
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
    const listed = (await place.api.get("/workflows/templates")).json<{ name: string; params: JsonValue }[]>();
    for (const [name, definition] of BUILT_IN_TEMPLATES) {
      assert.deepEqual(
        listed.find((one) => one.name === name)?.params,
        (definition as Record<string, JsonValue>)["params"],
      );
      const answer = await place.api.post("/workflows/validate", { definition });
      assert.deepEqual(answer.json(), { valid: true, errors: [] }, name);
    }
  });

  it("says what is wrong with the params it is given", () => {
    const faults = (name: string, params: Record<string, JsonValue>) =>
      (completeParams((BUILT_IN_TEMPLATES.get(name) as { params: JsonValue }).params, params).errors ?? []).map(
        ({ path }) => path,
      );
    const urls = ["https://a.example/1.jpg"];
    assert.deepEqual(faults("image-dataset", { urls }), []);
    assert.deepEqual(faults("image-dataset", { crawl: { url: "https://a.example/" } }), []);
    for (const params of [{}, { urls, crawl: { url: "https://a.example/" } }, { urls: [] }, { urls, distance: 17 }])
      assert.notDeepEqual(faults("image-dataset", params), []);
    assert.deepEqual(faults("article-dataset", { crawl: { url: "https://a.example/" }, min_words: 5 }), []);
    assert.notDeepEqual(faults("article-dataset", {}), []);
    assert.deepEqual(faults("price-monitor", { urls }), []);
    assert.notDeepEqual(faults("price-monitor", { urls, webhook: "x" }), []);
  });

  it("makes a dataset of images from addresses: the good ones, each once, by label, with a manifest", async () => {
    const set = await makeImageSet({ count: 60, seed: 11 });
    const folder = (index: number) => (index % 3 === 0 ? "dogs" : "cats");
    const paths = set.files.map(({ name }, index) => `/${folder(index)}/${name}`);
    await using site = await MisbehavingSite.start(
      Object.fromEntries(set.files.map(({ bytes, contentType }, index) => [paths[index]!, file(bytes, contentType)])),
    );
    const urls = [...paths, "/cats/missing.jpg"].map((path) => site.url(path));
    const tasks = await run("image-dataset", {
      urls,
      min_width: set.validate.min_width,
      min_height: set.validate.min_height,
      distance: set.deduplicate.distance,
      split: { train: 0.5, test: 0.5 },
    });
    assert.equal(tasks.get("crawl")?.status, "skipped");
    assert.deepEqual(outputOf(tasks, "download"), { downloaded: 60, failed: 1 });
    assert.deepEqual(outputOf(tasks, "validate"), set.counts.validate);
    assert.deepEqual(outputOf(tasks, "deduplicate"), set.counts.deduplicate);
    const { kept } = set.counts.deduplicate;
    assert.equal(outputOf(tasks, "label")["labelled"], kept);
    const found = readZip(await exported(tasks));
    const manifest = linesOf(found.get("manifest.jsonl") as Buffer);
    assert.equal(manifest.length, kept);
    assert.equal(found.size, kept + 1);
    assert.equal(outputOf(tasks, "export")["count"], kept);
    for (const row of manifest) {
      const bytes = found.get(String(row["file"])) as Buffer;
      assert.equal(createHash("sha256").update(bytes).digest("hex"), row["hash"]);
      assert.equal(new URL(String(row["url"])).pathname.split("/")[1], row["label"]);
      assert.ok(String(row["file"]).startsWith(`${row["split"]}/${row["label"]}/`));
    }
  });

  it("makes a dataset of images from the pages of a crawl", async () => {
    const set = await makeImageSet({ count: 12, seed: 5 });
    const good = set.files.filter(({ expected }) => expected.reason === null).slice(0, 6);
    const pages = good.map((_, n) => `<a href="/page/${n}">${n}</a>`).join(" ");
    await using site = await MisbehavingSite.start({ "/": html(`<!doctype html><title>All</title>${pages}`) });
    for (const [n, { bytes, contentType, name }] of good.entries()) {
      site.on(`/page/${n}`, html(`<!doctype html><title>${n}</title><p>A picture:</p><img src="/img/${name}">`));
      site.on(`/img/${name}`, file(bytes, contentType));
    }
    const tasks = await run("image-dataset", {
      crawl: { url: site.url("/") },
      label: "things",
      distance: 0,
      split: null,
      format: "csv",
      archive: "tar.gz",
    });
    assert.equal(tasks.get("crawl")?.status, "completed");
    assert.equal(outputOf(tasks, "download")["downloaded"], good.length);
    const distinct = new Set(good.map(({ bytes }) => createHash("sha256").update(bytes).digest("hex"))).size;
    assert.deepEqual(outputOf(tasks, "export")["labels"], { things: distinct });
    const bytes = await exported(tasks);
    assert.equal(bytes.readUInt16BE(0), 0x1f8b);
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
    assert.deepEqual(JSON.parse(site.of("/told")[0]!.body), {
      changed: 1,
      added: 0,
      removed: 0,
      changes: [
        {
          kind: "changed",
          url: site.url("/two"),
          key: site.url("/two"),
          fields: { price: { before: 20, after: 18.5 } },
        },
      ],
    });
  });
});
