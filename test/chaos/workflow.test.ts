import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { integerBelow } from "../../src/base/random.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { html, json, slow } from "../support/misbehaviours.ts";
import { assertSound, pause, withSeed } from "./kills.ts";
import { FULL, Orb } from "./orb.ts";
import { Served } from "./served.ts";

const KILLS = FULL ? 15 : 3;
const FILES = FULL ? 300 : 40;
const ENTRIES = FULL ? 60 : 15;

const bytes =
  (text: string): Route =>
  (_visit, response) =>
    void response.setHeader("content-type", "application/octet-stream").end(text);

interface WorkflowAnswer {
  status: string;
  error_message: string | null;
  current_step: number;
}
interface TaskAnswer {
  task_name: string;
  status: string;
  child_run_ids: string[];
  result: Record<string, unknown> | null;
}

describe("a workflow that is killed again and again", () => {
  test("does every step to its end once, with one child each, as if nothing had happened", async () => {
    await withSeed(async (random) => {
      const numbers = Array.from({ length: FILES }, (_, n) => n);
      const list = numbers.map((n) => `<li><a href="/file-${n}">File ${n}</a></li>`).join("");
      const routes: Record<string, Route> = { "/list": slow(100, html(`<title>List</title><ul>${list}</ul>`)) };
      for (const n of numbers) routes[`/file-${n}`] = slow(20 + (n % 5) * 20, bytes(`file ${n}`));
      await using site = await MisbehavingSite.start({ ...routes, "*": slow(50, json({ ok: true })) });
      await using orb = new Orb({ APP_MAX_PER_HOST: "5" });
      let served = await Served.start(orb);
      const definition = {
        name: "Files",
        steps: [
          {
            name: "list",
            task_type: "scrape",
            params: { url: site.url("/list"), items: { css: "li" }, fields: { link: { css: "a", attr: "href" } } },
          },
          { name: "files", task_type: "download", params: { field: "link" }, dependencies: ["list"] },
          {
            name: "each",
            task_type: "webhook",
            params: { url: `${site.origin}/entry-\${{ item }}` },
            for_each: { in: Array.from({ length: ENTRIES }, (_, n) => n), concurrency: 3 },
          },
          { name: "pause", task_type: "wait", params: { seconds: 0.5 }, dependencies: ["files"] },
          {
            name: "tell",
            task_type: "webhook",
            params: {
              url: `${site.origin}/tell`,
              body: { files: "${{ steps.files.output.downloaded }}", calls: "${{ steps.each.output.completed }}" },
            },
            dependencies: ["pause", "files", "each"],
          },
        ],
      };
      const answer = await served.api.post("/workflows", { definition });
      assert.equal(answer.status, 201, answer.text);
      const { id } = answer.json<{ id: string }>();
      for (let kill = 0; kill < KILLS; kill += 1) {
        await pause(200 + integerBelow(random, 600));
        await served.killed();
        served = await Served.start(orb);
      }
      await served.follow(id, () => false);
      const workflow = (await served.api.get(`/workflows/${id}`)).json<WorkflowAnswer>();
      assert.equal(workflow.status, "completed", workflow.error_message ?? "");
      const tasks = (await served.api.get(`/workflows/${id}/tasks`)).json<TaskAnswer[]>();
      const of = (name: string) => tasks.find((task) => task.task_name === name)!;
      assert.deepEqual(of("files").result, { downloaded: FILES, failed: 0 });
      assert.deepEqual(of("each").result, { total: ENTRIES, completed: ENTRIES, failed: 0, skipped: 0 });
      for (const name of ["list", "files"]) assert.equal(of(name).child_run_ids.length, 1, name);
      for (const { body } of site.of("/tell")) assert.deepEqual(JSON.parse(body), { files: FILES, calls: ENTRIES });
      const ends = (await served.events(id)).filter(({ message }) => /^Step \S+ completed/.test(message));
      assert.equal(ends.length, 5, "each step completes once");
      await served.terminated();
      assertSound(orb.database);
    });
  });
});
