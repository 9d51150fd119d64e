import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import type { WorkflowTaskView } from "../../src/orchestrator/workflows/task-view.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { json } from "../support/misbehaviours.ts";
import { outputOf, type StepInput, Workshop } from "./kit.ts";

const text =
  (words: string): Route =>
  (_visit, response) =>
    void response.writeHead(200, { "content-type": "text/plain" }).end(words);

describe("files of a workflow", () => {
  let shop: Workshop;
  before(async () => {
    shop = await Workshop.open();
  });
  after(() => shop[Symbol.asyncDispose]());

  const download = (urls: readonly string[], name = "download"): StepInput => ({
    name,
    task_type: "download",
    params: { urls },
  });

  async function get(id: unknown): Promise<{ status: number; text: string }> {
    const { status, text: body } = await shop.server.api.get(`/artifacts/${String(id)}`);
    return { status, text: body };
  }

  it("that were archived are read as before, by people and by steps", async () => {
    const words = "the same words again and again ".repeat(2000);
    await using site = await MisbehavingSite.start({ "/a.txt": text(`a ${words}`), "/b.txt": text(`b ${words}`) });
    const { run, steps } = await shop.run([
      download([site.url("/a.txt"), site.url("/b.txt")]),
      { name: "kept", task_type: "archive", params: { older_than_days: 1 }, dependencies: ["download"] },
      { name: "archive", task_type: "archive", params: { min_bytes: 1 }, dependencies: ["kept"] },
      { name: "restore", task_type: "restore", dependencies: ["archive"] },
      { name: "pack", task_type: "export", params: { images: true, archive: "tar" }, dependencies: ["archive"] },
    ]);
    assert.equal(run.status, "completed", run.message ?? "");
    const archived = outputOf(steps.get("archive")) as Record<string, number>;
    assert.equal(archived["archived"], 2);
    assert.deepEqual(outputOf(steps.get("kept")), {
      archived: 0,
      kept: 2,
      missing: 0,
      bytes_before: 0,
      bytes_after: 0,
    });
    assert.deepEqual(outputOf(steps.get("restore")), { restored: 2, missing: 0, bytes: archived["bytes_before"] });
    assert.ok(archived["bytes_after"]! < archived["bytes_before"]! / 20);
    const [item] = await shop.items(steps.get("archive")!);
    assert.deepEqual(await get(item?.artifact_id), { status: 200, text: `a ${words}` });
    assert.equal((outputOf(steps.get("pack")) as Record<string, JsonValue>)["count"], 2);
    assert.ok(readdirSync(`${shop.server.dir}/data/artifacts/cold`).length >= 1);
    await shop.server.audit();
  });

  it("that its items do not name any more are gone after a cleanup; those that anything else names stay", async () => {
    await using site = await MisbehavingSite.start({
      "/good.txt": text("this is long enough to be kept"),
      "/bad.txt": text("no"),
      "/worse.txt": text("nope"),
    });
    const before = await shop.run([download([site.url("/bad.txt")])]);
    const [other] = await shop.items(before.steps.get("download")!);
    const { run, steps } = await shop.run([
      download(["/good.txt", "/bad.txt", "/worse.txt"].map((path) => site.url(path))),
      { name: "validate", task_type: "validate", params: { kind: "file", min_bytes: 10 }, dependencies: ["download"] },
      { name: "export", task_type: "export", params: { images: true }, dependencies: ["validate"] },
      { name: "cleanup", task_type: "cleanup", dependencies: ["export"] },
    ]);
    assert.equal(run.status, "completed", run.message ?? "");
    // The two bytes of bad.txt stay, as the first run names them.
    assert.deepEqual(outputOf(steps.get("cleanup")), { removed: 2, bytes: 4 });
    const statuses = new Map<unknown, number>();
    for (const item of await shop.items(steps.get("download")!))
      statuses.set(new URL(item.url!).pathname, (await get(item.artifact_id)).status);
    assert.deepEqual(Object.fromEntries(statuses), { "/good.txt": 200, "/bad.txt": 404, "/worse.txt": 404 });
    assert.deepEqual(await get(other?.artifact_id), { status: 200, text: "no" });
    assert.equal(await shop.store.isOrphaned(other!.hash!), false, "the first run names the same content");
    const tasks = await shop.server.api.get(`/workflows/${run.id}/tasks?limit=100`);
    const packed = tasks.json<WorkflowTaskView[]>().find(({ task_name: name }) => name === "export");
    assert.equal((await get(packed?.result?.["artifact_id"])).status, 200, "what was exported stays");
    await shop.server.audit();
  });

  it("that a step stored for itself, or before it failed, are swept away", async () => {
    await using site = await MisbehavingSite.start({ "/a.txt": text("long enough"), "/b.txt": text("short") });
    const good = await shop.run([
      download([site.url("/a.txt"), site.url("/b.txt")]),
      { name: "validate", task_type: "validate", params: { kind: "file", min_bytes: 8 }, dependencies: ["download"] },
    ]);
    assert.deepEqual(good.states, { download: "completed", validate: "completed" });
    const bad = await shop.run([{ ...download(["no address"]), max_retries: 0 }]);
    assert.deepEqual(bad.states, { download: "failed" });
    const { orphaned } = await shop.store.orphanedFiles({ limit: 100 });
    const stored = (hash: string) =>
      readFileSync(`${shop.server.dir}/data/artifacts/sha256/${hash.slice(0, 2)}/${hash}`, "utf8");
    const texts = orphaned.map(stored);
    const judged = texts.filter((lines) => ["/a.txt", "/b.txt"].every((path) => lines.includes(site.url(path))));
    assert.equal(judged.length, 1, "what was judged");
    assert.equal(texts.filter((lines) => lines.includes('"url":"no address"')).length, 1, "what was lost");
    for (const { task } of good.steps.values())
      for (const { hash } of await shop.store.artifactsOf(task.id)) assert.ok(!orphaned.includes(hash), stored(hash));
    await shop.server.audit();
  });

  it("that were exported are named by their id to later steps", async () => {
    await using site = await MisbehavingSite.start({ "/x.txt": text("words"), "/told": json({}) });
    const { run } = await shop.run([
      download([site.url("/x.txt")]),
      { name: "export", task_type: "export", params: { format: "csv" }, dependencies: ["download"] },
      {
        name: "tell",
        task_type: "webhook",
        params: { url: site.url("/told"), body: { file: "${{ steps.export.output.artifact_id }}" } },
        dependencies: ["export"],
      },
    ]);
    assert.equal(run.status, "completed", run.message ?? "");
    const { file } = JSON.parse(site.of("/told")[0]!.body) as { file: string };
    assert.match((await get(file)).text, /^url,/);
  });
});
