import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { loadConfig } from "../../src/config/load.ts";
import { Orchestrator } from "../../src/app/library/library.ts";
import { FULL, Orb, until } from "./orb.ts";

const COUNT = FULL ? 60_000 : 15_000;

/** Texts of 120 words, every third one a copy with some other words. */
const MODULE = `
let state = 1;
const number = () => {
  state ^= state << 13; state ^= state >>> 17; state ^= state << 5;
  return state >>> 0;
};
function* texts(count) {
  const known = [];
  for (let n = 0; n < count; n += 1) {
    const words = n % 3 === 0 && known.length > 0
      ? known[number() % known.length].split(" ")
      : Array.from({ length: 120 }, () => "w" + (number() % 9000));
    for (let times = n % 3 === 0 ? number() % 8 : 0; times > 0; times -= 1) words[number() % 120] = "x" + (number() % 9000);
    const text = words.join(" ");
    if (n % 3 !== 0 && known.length < 500) known.push(text);
    yield { url: "https://texts.example/" + n, text };
  }
}
export const steps = [
  { kind: "texts", params: { type: "object" }, run: (_, { count }) => ({ output: {}, items: texts(count) }) },
];
`;

const STEPS = [
  { name: "texts", task_type: "texts", params: { count: COUNT } },
  { name: "filter", task_type: "filter", dependencies: ["texts"], params: { min_words: 100 } },
  {
    name: "deduplicate",
    task_type: "deduplicate",
    dependencies: ["filter"],
    params: { text: "text", keep: "longest" },
  },
];

describe("texts that are filtered and deduplicated", () => {
  test("come out the same when the worker is killed in the middle of each step [slow]", async () => {
    await using orb = new Orb();
    orb.env["APP_HANDLERS"] = orb.file("steps.mjs", MODULE);
    const { config } = loadConfig({ env: orb.env, cwd: orb.dir });
    await using program = await Orchestrator.start(config, { work: false });
    const create = async () => (await program.workflows.create({ definition: { name: "texts", steps: STEPS } })).id;
    const tasks = async (id: string) =>
      new Map((await program.workflows.tasks(id)).map((task) => [task.task_name, task] as const));
    /** Results, and files by their content. */
    const outcome = async (id: string) => {
      assert.equal((await program.workflows.wait(id)).status, "completed");
      return [...(await tasks(id)).values()].map(({ task_name, result, items_count, artifacts }) => [
        task_name,
        result,
        items_count,
        artifacts.map(({ hash }) => hash).toSorted(),
      ]);
    };
    const work = async () => {
      const worker = orb.start(["worker"]);
      await worker.said("working on runs");
      return worker;
    };

    const disturbed = await create();
    let worker = await work();
    for (const step of ["filter", "deduplicate"]) {
      await until(async () => {
        const task = (await tasks(disturbed)).get(step);
        assert.notEqual(task?.status, "completed", `the worker is killed before ${step} is done`);
        return task?.status === "running";
      }, `${step} is in the middle`);
      await worker.killed();
      assert.equal((await tasks(disturbed)).get(step)?.result ?? null, null);
      worker = await work();
    }
    const after = await outcome(disturbed);
    const undisturbed = await create();
    assert.deepEqual(after, await outcome(undisturbed));
    const { kept, near } = (await tasks(undisturbed)).get("deduplicate")!.result as { kept: number; near: number };
    assert.ok(near > COUNT / 20 && kept > COUNT / 2, `${near} near duplicates, ${kept} kept`);
    worker.kill("SIGTERM");
    assert.equal((await worker.end()).code, 0);
    await orb.audit();
    // A kill between creating and unlinking a file leaves it, but empty.
    const spilled = readdirSync(orb.dir, { recursive: true, encoding: "utf8" })
      .filter((path) => path.includes("w-texts-"))
      .filter((path) => statSync(join(orb.dir, path)).size > 0);
    assert.deepEqual(spilled, [], "no temporary file is left behind");
  });
});
