import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import type { WorkflowTaskView } from "../../src/orchestrator/workflows/task-view.ts";
import type { WorkflowDetail } from "../../src/orchestrator/workflows/view.ts";
import { FULL } from "../chaos/orb.ts";
import { TestServer } from "../jobs/kit.ts";
import { type ImageSet, makeImageSet } from "../support/images.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { tempDir } from "../support/temp-dir.ts";
import { readZip } from "../support/zip.ts";

const PICTURES = FULL ? 500 : 120;
const ON_A_PAGE = 25;
const SPLIT = { train: 0.8, val: 0.1, test: 0.1 };

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** A site with pictures in two folders; copies lie in the folder of what they are copies of. */
class Pictures {
  readonly set: ImageSet;
  readonly site: MisbehavingSite;
  readonly paths: readonly string[];
  /** How many different good pictures there are in each folder. */
  readonly labels: Record<string, number> = { cats: 0, dogs: 0 };

  private constructor(set: ImageSet, site: MisbehavingSite) {
    this.set = set;
    this.site = site;
    this.paths = set.files.map(({ name, expected }) => {
      const original = expected.exactDuplicateOf ?? expected.nearDuplicateOf ?? name;
      const folder = sha256(Buffer.from(original)) < "6" ? "dogs" : "cats";
      if (expected.reason === null && original === name) this.labels[folder]! += 1;
      return `/${folder}/${name}`;
    });
    for (const [index, { bytes, contentType }] of set.files.entries())
      site.on(
        this.paths[index]!,
        (_visit, response) => void response.writeHead(200, { "content-type": contentType }).end(bytes),
      );
    const pages = Array.from({ length: Math.ceil(PICTURES / ON_A_PAGE) }, (_, page) => page);
    const links = pages.map((page) => `<a href="/gallery/${page}">Page ${page}</a>`).join(" ");
    site.on("/", html(`<!doctype html><title>All galleries</title>${links}`));
    for (const page of pages) {
      const here = this.paths.slice(page * ON_A_PAGE, (page + 1) * ON_A_PAGE);
      const pictures = [...here, ...(page === 0 ? ["/cats/missing.jpg"] : [])].map((path) => `<img src="${path}">`);
      site.on(`/gallery/${page}`, html(`<!doctype html><title>Page ${page}</title>${pictures.join("\n")}`));
    }
  }

  static async open(): Promise<Pictures> {
    return new Pictures(await makeImageSet({ count: PICTURES, seed: 11 }), await MisbehavingSite.start());
  }

  /** How many of each label are in each part. */
  get splits(): Record<string, number> {
    const sums = { train: 0, val: 0, test: 0 };
    for (const count of Object.values(this.labels)) {
      const [first, second] = [Math.round(SPLIT.train * count), Math.round((SPLIT.train + SPLIT.val) * count)];
      sums.train += first;
      sums.val += second - first;
      sums.test += count - second;
    }
    return sums;
  }
}

describe(`a dataset of ${PICTURES} pictures, good, broken and repeated ones [slow]`, () => {
  let server: TestServer;
  let pictures: Pictures;
  before(async () => {
    server = await TestServer.open({ APP_MAX_PER_HOST: "20" });
    pictures = await Pictures.open();
  });
  after(async () => {
    await pictures.site[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  async function run(params: Record<string, JsonValue>): Promise<{ id: string; tasks: Map<string, WorkflowTaskView> }> {
    const { validate, deduplicate } = pictures.set;
    const answer = await server.api.post("/workflows", {
      template: "image-dataset",
      params: {
        min_width: validate.min_width,
        min_height: validate.min_height,
        distance: deduplicate.distance,
        split: SPLIT,
        ...params,
      },
    });
    assert.equal(answer.status, 201, answer.text);
    const { id } = answer.json<WorkflowDetail>();
    const ended = await server.ended(id);
    const tasks = (await server.api.get(`/workflows/${id}/tasks`)).json<WorkflowTaskView[]>();
    assert.equal(ended.status, "completed", JSON.stringify(tasks, null, 1));
    return { id, tasks: new Map(tasks.map((task) => [task.task_name, task])) };
  }

  /** Each step says exactly what is there; gives the bytes of the archive. */
  async function archiveOf(tasks: Map<string, WorkflowTaskView>, failed: number): Promise<Buffer> {
    const { set, labels, splits } = pictures;
    const { kept } = set.counts.deduplicate;
    const result = (name: string) => tasks.get(name)?.result;
    const count = (name: string) => tasks.get(name)?.items_count;
    assert.deepEqual(result("download"), { downloaded: PICTURES, failed });
    assert.deepEqual(result("validate"), set.counts.validate);
    assert.deepEqual(result("deduplicate"), set.counts.deduplicate);
    assert.deepEqual(["download", "validate", "deduplicate", "label", "export"].map(count), [
      PICTURES,
      set.counts.validate.valid,
      kept,
      kept,
      kept,
    ]);
    assert.deepEqual(result("label")?.["labels"], labels);
    const { artifact_id: id, artifact_hash: hash, bytes, ...exported } = result("export")!;
    const { format, ...counts } = exported;
    assert.deepEqual(counts, { count: kept, splits, labels, missing: 0 }, String(format));
    const archive = await server.api.get(`/artifacts/${String(id)}`);
    assert.deepEqual([archive.bytes.length, sha256(archive.bytes)], [bytes, hash]);
    return archive.bytes;
  }

  /** What is packed is what the site has, each picture once, where its row of the manifest says. */
  function assertPacked(rows: readonly Record<string, JsonValue>[], files: ReadonlyMap<string, Buffer>): void {
    const { set, paths } = pictures;
    assert.equal(rows.length, set.counts.deduplicate.kept);
    assert.equal(files.size, rows.length);
    const originals = new Map(paths.map((path, index) => [path, set.files[index]!]));
    const seen = new Set<string>();
    for (const row of rows) {
      const { pathname } = new URL(String(row["url"]));
      const { bytes, name, expected } = originals.get(pathname)!;
      assert.equal(expected.reason, null, name);
      const shows = expected.exactDuplicateOf ?? expected.nearDuplicateOf ?? name;
      assert.ok(!seen.has(shows), `${shows} is there twice`);
      seen.add(shows);
      const packed = files.get(String(row["file"]));
      assert.ok(packed?.equals(bytes), `${String(row["file"])} has the bytes of ${name}`);
      assert.equal(row["label"], pathname.split("/")[1]);
      assert.ok(String(row["file"]).startsWith(`${String(row["split"])}/${String(row["label"])}/`));
    }
  }

  test("from their addresses, in a ZIP file [slow]", async () => {
    const urls = [...pictures.paths, "/cats/missing.jpg"].map((path) => pictures.site.url(path));
    const { id, tasks } = await run({ urls: [...urls, "ftp://files.example/not-http.jpg"] });
    assert.equal(tasks.get("crawl")?.status, "skipped");
    const found = readZip(await archiveOf(tasks, 2));
    const manifest = found.get("manifest.jsonl")!.toString("utf8").trimEnd().split("\n");
    found.delete("manifest.jsonl");
    assertPacked(
      manifest.map((line) => JSON.parse(line) as Record<string, JsonValue>),
      found,
    );
    const lines = async (step: string) => {
      const file = tasks.get(step)?.artifacts.find(({ role }) => role === "file");
      return (await server.api.get(`/artifacts/${file?.id}`)).text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    };
    const { invalid, reasons } = pictures.set.counts.validate;
    const refused = (await lines("validate")) as { reason: string }[];
    assert.equal(refused.length, invalid);
    for (const [reason, count] of Object.entries(reasons))
      assert.equal(refused.filter((one) => one.reason === reason).length, count, reason);
    const removed = (await lines("deduplicate")) as { duplicate_of: { match: string } }[];
    const { exact, near } = pictures.set.counts.deduplicate;
    const matches = (match: string) => removed.filter((one) => one.duplicate_of.match === match).length;
    assert.deepEqual([matches("exact"), matches("near")], [exact, near]);
    assert.deepEqual(((await lines("download")) as { url: string }[]).map(({ url }) => url).toSorted(), [
      "ftp://files.example/not-http.jpg",
      pictures.site.url("/cats/missing.jpg"),
    ]);
    assert.equal((await server.events(id)).filter(({ message }) => message.startsWith("Run completed")).length, 1);
  });

  test("from the pages of a crawl, in a TAR file that `tar` unpacks [slow]", async () => {
    const { tasks } = await run({ crawl: { url: pictures.site.url("/") }, format: "json", archive: "tar.gz" });
    assert.equal(tasks.get("crawl")?.status, "completed");
    using folder = tempDir();
    const archive = join(folder.path, "archive.tar.gz");
    writeFileSync(archive, await archiveOf(tasks, 1));
    const inside = join(folder.path, "inside");
    execFileSync("sh", ["-c", 'mkdir "$1" && tar -xzf "$2" -C "$1"', "sh", inside, archive]);
    const files = new Map<string, Buffer>();
    for (const entry of readdirSync(inside, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) {
        const path = join(entry.parentPath, entry.name);
        files.set(path.slice(inside.length + 1), readFileSync(path));
      }
    const manifest = JSON.parse(files.get("manifest.json")!.toString("utf8")) as Record<string, JsonValue>[];
    files.delete("manifest.json");
    assertPacked(manifest, files);
  });
});
