/** A whole installation whose files are in a bucket. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type Client, openClient } from "../../src/app/context.ts";
import type { QueueItemDetail } from "../../src/orchestrator/queue/items.ts";
import type { WorkflowTaskView } from "../../src/orchestrator/workflows/task-view.ts";
import { sweepOrphanedFiles } from "../../src/supervisor/duties/sweep-orphaned-files.ts";
import { TestServer } from "../jobs/kit.ts";
import { readWarc } from "../jobs/warc-reader.ts";
import { until } from "../chaos/orb.ts";
import { makeImageSet } from "../support/images.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { BUCKET, S3_KEY, S3Server } from "../support/s3-server.ts";
import { tempDir } from "../support/temp-dir.ts";
import { readZip } from "../support/zip.ts";

const PICTURES = 20;
const HANDLERS = "export const handlers = { file: async (_, ctx) => { await ctx.download(); } };";
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const FOREVER = new AbortController().signal;

describe("an installation whose files are in a bucket", () => {
  const folder = tempDir();
  let server: S3Server;
  let testServer: TestServer;
  let client: Client;
  let site: MisbehavingSite;
  before(async () => {
    server = await S3Server.start();
    const handlers = join(folder.path, "handlers.ts");
    writeFileSync(handlers, HANDLERS);
    testServer = await TestServer.open({ ...server.env(), APP_HANDLERS: handlers, APP_MAX_PER_HOST: "20" });
    client = await openClient(testServer.config);
    site = await MisbehavingSite.start();
  });
  after(async () => {
    await client.close();
    // With an audit that reads every file again.
    await testServer[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const stored = () => server.keys().filter((key) => key.startsWith("files/sha256/"));
  const queued = async (id: string) => (await testServer.api.get(`/queue/items/${id}`)).json<QueueItemDetail>();

  /** The item, once it is done. */
  async function done(id: string): Promise<QueueItemDetail> {
    for (;;) {
      const item = await queued(id);
      assert.notEqual(item.status, "error", JSON.stringify(item));
      if (item.status === "done") return item;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  test("makes a dataset of pictures, and serves it", async () => {
    const set = await makeImageSet({ count: PICTURES, seed: 5 });
    for (const { name, bytes, contentType } of set.files)
      site.on(
        `/cats/${name}`,
        (_visit, response) => void response.writeHead(200, { "content-type": contentType }).end(bytes),
      );
    const answer = await testServer.api.post("/workflows", {
      template: "image-dataset",
      params: {
        urls: set.files.map(({ name }) => site.url(`/cats/${name}`)),
        min_width: set.validate.min_width,
        min_height: set.validate.min_height,
        distance: set.deduplicate.distance,
      },
    });
    assert.equal(answer.status, 201, answer.text);
    const { id } = answer.json<{ id: string }>();
    const ended = await testServer.ended(id);
    const list = (await testServer.api.get(`/workflows/${id}/tasks`)).json<WorkflowTaskView[]>();
    assert.equal(ended.status, "completed", JSON.stringify(list, null, 1));
    const tasks = new Map(list.map((task) => [task.task_name, task]));
    assert.deepEqual(tasks.get("validate")?.result, set.counts.validate);
    assert.deepEqual(tasks.get("deduplicate")?.result, set.counts.deduplicate);
    const { artifact_id: file, artifact_hash: hash, bytes } = tasks.get("export")!.result!;
    const archive = await testServer.api.get(`/artifacts/${String(file)}`);
    assert.deepEqual([archive.bytes.length, sha256(archive.bytes)], [bytes, hash]);
    const inside = readZip(archive.bytes);
    assert.equal(inside.size, set.counts.deduplicate.kept + 1);
    const originals = new Set(set.files.map((each) => sha256(each.bytes)));
    for (const [name, content] of inside)
      if (!name.startsWith("manifest")) assert.ok(originals.has(sha256(content)), name);
    assert.ok(stored().some((key) => key.endsWith(String(hash))));
    assert.equal(existsSync(join(testServer.dir, "data/artifacts/sha256")), false, "nothing of it is kept here");
  });

  test("keeps what servers sent, and gives it as an archive", async () => {
    const page = "<title>Start</title><p>Words of a page that is kept: ä ß.</p>";
    site.on("/start", html(page));
    const answer = await testServer.api.post("/scraping/async-scrape", {
      url: site.url("/start"),
      export_format: "warc",
    });
    const { task_id: id } = answer.json<{ task_id: string }>();
    await testServer.ended(id);
    const warc = await testServer.api.get(`/scraping/tasks/${id}/results?format=warc`);
    assert.equal(warc.status, 200, warc.text);
    const responses = (await readWarc(warc.bytes)).filter(({ type }) => type === "response");
    assert.ok(responses.some(({ url, payload }) => url === site.url("/start") && payload.toString().includes("Words")));
  });

  test("waits while the storage is away, and no item pays for it", async () => {
    const body = Buffer.alloc(100_000, "a file that comes while the storage is away ");
    for (const name of ["/before", "/plain", "/handled"])
      site.on(name, (_visit, response) => void response.writeHead(200).end(Buffer.concat([Buffer.from(name), body])));
    await testServer.api.post("/queue/items", { items: [{ artifact_id: "before", url: site.url("/before") }] });
    const kept = (await done("before")).files[0]!;
    assert.equal(kept.path, `s3://${BUCKET}/files/sha256/${kept.hash.slice(0, 2)}/${kept.hash}`);

    await server.stop();
    const items = [
      { artifact_id: "plain", url: site.url("/plain") },
      { artifact_id: "handled", url: site.url("/handled"), handler: "file" },
    ];
    assert.equal((await testServer.api.post("/queue/items", { items })).status, 201);
    while (!testServer.log.some((line) => line.includes("work paused: ")))
      await new Promise((resolve) => setTimeout(resolve, 20));
    const ready = await testServer.api.get("/ready");
    assert.equal(ready.status, 503, ready.text);
    assert.match(ready.text, /is unreachable: ECONNREFUSED/);
    const refused = await testServer.api.get(`/artifacts/${kept.id}`);
    assert.equal(refused.status, 503, refused.text);
    assert.equal(refused.json<{ code: string }>().code, "artifacts_unavailable");

    await server.start();
    for (const { artifact_id: name } of items) {
      const item = await done(name);
      assert.equal(item.attempts, 1, `${name} was tried once: ${JSON.stringify(item.history)}`);
      const file = await testServer.api.get(`/artifacts/${item.files[0]!.id}`);
      assert.equal(file.bytes.length, item.files[0]!.size);
    }
    await until(async () => (await testServer.api.get("/ready")).status === 200, "it is ready again");
  });

  test("removes what nothing names any more", async () => {
    const writer = client.artifacts.writer();
    await writer.write(Buffer.from("for a row that is never written"));
    const { hash } = await writer.finish();
    await client.store.recordOrphanedFiles([hash]);
    const sweep = () => sweepOrphanedFiles(client).run(FOREVER);
    await sweep();
    assert.equal(await client.store.isOrphaned(hash), true, "somebody may just have stored the same");
    for (let hours = 0; hours < 2; hours += 1) {
      server.age(hash);
      await sweep();
    }
    assert.deepEqual([await client.store.isOrphaned(hash), await client.artifacts.has(hash)], [false, false]);
    assert.ok(!server.keys().some((key) => key.includes(hash)));
  });

  test("shows its secrets to nobody, and leaves nothing half-written behind", async () => {
    const everything = [
      ...testServer.log,
      ...testServer.api.answered,
      ...testServer.stored().map(({ bytes }) => bytes.toString("latin1")),
    ];
    for (const secret of Object.values(S3_KEY)) assert.ok(!everything.some((text) => text.includes(secret)), secret);
    assert.deepEqual(readdirSync(join(testServer.dir, "data/artifacts/tmp")), []);
  });
});
