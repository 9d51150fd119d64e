import assert from "node:assert/strict";
import type { StoredText } from "../../../src/store/ports/seal-port.ts";
import { type Kit, LANE, type Scenario } from "./kit.ts";
import { newWorkflow } from "./workflow-kit.ts";

const CLEAR = "https://ana:s3cret@a.example/";

/** Everything that is to be looked at, each text once; the function says what is put in its place. */
async function lookThrough(
  { store }: Pick<Kit, "store">,
  seal: (text: StoredText) => string | null,
): Promise<StoredText[]> {
  const seen: StoredText[] = [];
  for (let part = await store.unsealedTexts(); part !== null; part = await store.unsealedTexts()) {
    seen.push(...part.texts);
    const changes = part.texts.flatMap((was) => {
      const text = seal(was);
      return text === null ? [] : [{ was, text }];
    });
    await store.sealTexts(changes, part.until);
  }
  return seen;
}

export function secretScenarios(scenario: Scenario): void {
  scenario("texts of an earlier version that may hold secrets are gone through once, and sealed", async (kit) => {
    const { store, now } = kit;
    const workflow = await newWorkflow(kit, { a: [] }, {}, { snapshot: { definition: { hook: CLEAR } } });
    await store.putTemplate("t", { hook: CLEAR }, 1, now);
    const job = { name: "j", url: "", site: "", tags: [], nextAt: null, nextOccurrenceAt: null };
    await store.createJob({ ...job, kind: "workflow", recipe: { workflow: { hook: CLEAR } } }, now);
    await store.createJob({ ...job, kind: "page", url: "https://a.example/", recipe: {} }, now);
    const { created: run } = await store.startRun({ kind: "queue", maxAttempts: 1, snapshot: null }, [], now);
    const task = { lane: LANE, site: "a.example", resolver: null, priority: 0, handler: null };
    await store.enqueue(
      run.id,
      [
        { ...task, key: "clear", url: CLEAR, payload: { more: CLEAR } },
        { ...task, key: "plain", url: "https://a.example/@ana", payload: { n: 1 } },
      ],
      now,
    );
    const seen = await lookThrough(kit, ({ text }) =>
      text.includes("s3cret") ? text.replaceAll("s3cret", "SEALED") : null,
    );
    assert.deepEqual(
      [...new Set(seen.filter(({ text }) => text.includes("s3cret")).map(({ kind }) => kind))].toSorted(),
      ["job", "job_version", "task_payload", "task_url", "template", "workflow"],
    );
    assert.match(JSON.stringify(await store.workflowSnapshot(workflow.id)), /SEALED/);
    assert.match(JSON.stringify((await store.template("t"))?.definition), /SEALED/);
    assert.match(JSON.stringify((await store.jobs({ limit: 10 })).map(({ recipe }) => recipe)), /SEALED/);
    const sealed = (await store.jobs({ limit: 10 })).find(({ kind }) => kind === "workflow");
    assert.match(JSON.stringify((await store.jobVersion(sealed!.id, 1))?.definition.recipe), /SEALED/);
    const clear = await store.taskByKey(run.id, "clear");
    assert.deepEqual(
      [clear?.url, clear?.payload],
      [CLEAR.replace("s3cret", "SEALED"), { more: CLEAR.replace("s3cret", "SEALED") }],
    );
    assert.equal((await store.taskByKey(run.id, "plain"))?.url, "https://a.example/@ana");
    assert.equal(await (await kit.open()).unsealedTexts(), null, "nobody looks again");
  });

  scenario("a text that has changed since it was read stays as it is now", async (kit) => {
    const { store, now } = kit;
    await store.putTemplate("t", { hook: CLEAR }, 1, now);
    await lookThrough(kit, (was) => {
      if (was.kind !== "template") return null;
      return was.text;
    });
    const stale: StoredText = { kind: "template", row: ["t", 1], text: "what was there before" };
    await store.sealTexts([{ was: stale, text: "{}" }], "all");
    assert.deepEqual((await store.template("t"))?.definition, { hook: CLEAR });
  });

  scenario("a login that was ended has ended for every process, until its cookies end by themselves", async (kit) => {
    const { store, now } = kit;
    assert.equal(await store.hasLoginEnded("one"), false);
    await store.endLogin("one", now + 1000, now);
    await store.endLogin("one", now + 1000, now);
    const other = await kit.open();
    assert.deepEqual([await other.hasLoginEnded("one"), await other.hasLoginEnded("two")], [true, false]);
    await other.endLogin("two", now + 9000, now + 2000);
    assert.deepEqual([await store.hasLoginEnded("one"), await store.hasLoginEnded("two")], [false, true]);
  });
}
