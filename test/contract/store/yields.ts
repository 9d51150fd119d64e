import assert from "node:assert/strict";
import {
  DONE,
  evidence,
  type Kit,
  movedTo,
  NOBODY,
  refused,
  refusedField,
  retryAt,
  type Scenario,
  type Verdict,
  walk,
} from "./kit.ts";

const OTHER = "site:b.example";

function yielding(...results: unknown[]): Verdict {
  return { kind: "completed", artifacts: [], results, detail: null };
}

function file(letter: string) {
  return { hash: letter.repeat(64), size: 3, contentType: "text/plain", url: `https://a.example/${letter}` };
}

/** What the page's first attempt left behind, and the lane that goes on with it. */
async function failOnce(kit: Kit, letter: string) {
  const run = await kit.page(letter);
  const lane = await kit.take("A");
  const { tasks } = await kit.claim(lane);
  await kit.report(lane, tasks, retryAt(kit.now), { evidence: [evidence(letter)] });
  await kit.store.releaseLane(lane);
  const [kept] = await kit.store.artifactsOf(tasks[0]?.id ?? "");
  assert.ok(kept !== undefined);
  return { run, kept };
}

export function yieldScenarios(scenario: Scenario): void {
  scenario(
    "what servers sent is listed in order; what sent a page elsewhere stays, all else is replaced",
    async (kit) => {
      const sent = (letter: string, role: "exchange" | "redirect" = "exchange") => ({ ...file(letter), role });
      const run = await kit.page();
      const noise = await kit.page("noise");
      const first = await kit.take("A");
      const { tasks } = await kit.claim(first);
      const [mine, others] = [
        tasks.filter(({ runId }) => runId === run.id),
        tasks.filter(({ runId }) => runId === noise.id),
      ];
      await kit.settle(first, others, { ...DONE, artifacts: [sent("f"), file("e")] } as Verdict);
      await kit.report(first, mine, movedTo(OTHER), { evidence: [sent("a", "redirect")] });
      const second = await kit.take("A", OTHER);
      const attempt = async (letter: string) =>
        kit.report(second, (await kit.claim(second)).tasks, retryAt(kit.now), { evidence: [sent(letter)] });
      await attempt("b");
      await attempt("c");
      const letters = async (id: string) =>
        (await walk((position) => kit.store.exchanges(id, position), 1)).map(({ hash, role }) => `${hash[0]} ${role}`);
      assert.deepEqual(await letters(run.id), ["a redirect", "c exchange"]);
      await kit.work(second, { ...DONE, artifacts: [sent("d")] } as Verdict);
      assert.deepEqual(await letters(run.id), ["a redirect", "d exchange"]);
      assert.deepEqual(await letters(noise.id), ["f exchange"]);
      await refused("not_found", kit.store.exchanges(NOBODY, { limit: 1 }));
      await refusedField("after", kit.store.exchanges(run.id, { after: NOBODY, limit: 1 }));
    },
  );

  scenario("a page that turns out to be another keeps what servers sent on the way, and nothing else", async (kit) => {
    const run = await kit.runWith(["a", "b"], { kind: "queue" });
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const [known, alias] = [tasks.slice(0, 1), tasks.slice(1)];
    await kit.settle(lane, known, yielding("once"));
    const verdict = { ...yielding("twice"), artifacts: [{ ...file("a"), role: "exchange" }] } as Verdict;
    await kit.report(lane, alias, verdict, { landed: { key: known[0]?.key ?? "", url: "https://a.example/known" } });
    assert.deepEqual(await kit.counts(run), { completed: 1, skipped: 1 });
    assert.equal(await kit.store.countResults(run.id), 1);
    assert.deepEqual(
      (await kit.store.exchanges(run.id, { limit: 10 })).map(({ taskId }) => taskId),
      alias.map(({ id }) => id),
    );
  });

  scenario("files of an outcome that comes too late are orphaned", async (kit) => {
    const run = await kit.page();
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    await kit.settle(lane, tasks, { ...DONE, artifacts: [file("a")] } as Verdict);
    assert.equal(await kit.store.isOrphaned(file("a").hash), true);
    assert.deepEqual(await kit.store.artifactsOf(tasks[0]?.id ?? ""), []);
  });

  scenario("the records of a run come oldest first, in pages, while others are added", async (kit) => {
    const run = await kit.runWith(["a", "b", "c", "d"]);
    const noise = await kit.runWith(["n"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const mine = tasks.filter((task) => task.runId === run.id);
    const settle = async () => {
      const task = mine.shift();
      if (task !== undefined) await kit.settle(lane, [task], yielding(`${task.key} 0`, { of: task.key }, null));
    };
    await settle();
    await kit.settle(
      lane,
      tasks.filter((task) => task.runId === noise.id),
      yielding("noise"),
    );
    await settle();
    const seen = await walk((position) => kit.store.results(run.id, position), 2, settle);
    assert.deepEqual(
      seen.map(({ data, ordinal }) => [ordinal, data]),
      ["a", "b", "c", "d"].flatMap((key) => [
        [0, `${key} 0`],
        [1, { of: key }],
        [2, null],
      ]),
    );
    assert.equal(await kit.store.countResults(run.id), 12);
    assert.equal(await kit.store.countResults(noise.id), 1);
    const [first] = seen;
    const task = await kit.store.taskByKey(run.id, "a");
    assert.deepEqual(
      { ...first, id: "" },
      { id: "", taskId: task?.id, runId: run.id, url: task?.url, ordinal: 0, data: "a 0", createdAt: kit.now },
    );
  });

  scenario("a record names the address it really came from, and its run after a move", async (kit) => {
    const run = await kit.runWith(["a"]);
    await kit.work(await kit.take("A"), movedTo(OTHER));
    await kit.work(await kit.take("A", OTHER), yielding("there"));
    const [record] = await kit.store.results(run.id, { limit: 10 });
    assert.deepEqual([record?.url, record?.data, record?.runId], ["https://b.example/", "there", run.id]);
    assert.equal(await kit.store.countResults(run.id), 1);
  });

  scenario("records of an unknown run, and positions that are none, are refused", async (kit) => {
    const run = await kit.runWith(["a"]);
    assert.deepEqual(await kit.store.results(run.id, { limit: 10 }), []);
    assert.equal(await kit.store.countResults(run.id), 0);
    for (const id of [NOBODY, "not an id", ""]) {
      await refused("not_found", kit.store.results(id, { limit: 10 }));
      await refused("not_found", kit.store.countResults(id));
    }
    const task = await kit.store.taskByKey(run.id, "a");
    for (const after of [NOBODY, "not an id", "", task?.id ?? ""]) {
      await refusedField("after", kit.store.results(run.id, { after, limit: 10 }));
      await refusedField("after", kit.store.tasks(run.id, { after: `${after}x`, limit: 10 }));
    }
  });

  scenario("a file is found by its id, with what it is", async (kit) => {
    await kit.runWith(["a"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const snapshot = { ...file("b"), role: "snapshot" as const, contentType: null };
    await kit.settle(lane, tasks, { kind: "completed", artifacts: [file("a"), snapshot], results: [], detail: null });
    const kept = await kit.store.artifactsOf(tasks[0]?.id ?? "");
    assert.deepEqual(
      kept.map(({ role }) => role),
      ["file", "snapshot"],
    );
    const other = await kit.open();
    for (const one of kept) assert.deepEqual(await other.artifact(one.id), one);
    for (const id of [NOBODY, "not an id", "", tasks[0]?.id ?? ""]) assert.equal(await kit.store.artifact(id), null);
  });

  scenario("a file that belongs into a record stands there by its id, at every try", async (kit) => {
    const run = await kit.page("a");
    const lane = await kit.take("A");
    // What sent the page here stays, and has the first place among its files.
    const redirect = { ...file("c"), role: "redirect" as const };
    const first = await kit.claim(lane);
    await kit.report(lane, first.tasks, retryAt(kit.now), { evidence: [redirect, evidence("d")] });
    const { tasks } = await kit.claim(lane);
    const picture = (letter: string, ...way: (string | number)[]) => ({
      ...file(letter),
      role: "screenshot" as const,
      into: [1, ...way, "artifact_id"] as [number, ...(string | number)[]],
    });
    const empty = { artifact_id: null };
    await kit.settle(lane, tasks, {
      kind: "completed",
      artifacts: [file("f"), picture("a", "shown"), picture("b", "list", 1)],
      results: [{ shown: empty }, { shown: empty, list: [empty, empty, 3], kept: "as it was" }],
      detail: null,
    });
    const files = await kit.store.artifactsOf(tasks[0]?.id ?? "");
    const idOf = (letter: string) => files.find(({ hash }) => hash.startsWith(letter))?.id;
    assert.ok(idOf("c") !== undefined && idOf("a") !== undefined && idOf("d") === undefined);
    assert.deepEqual(
      (await kit.store.results(run.id, { limit: 10 })).map(({ data }) => data),
      [
        { shown: empty },
        { shown: { artifact_id: idOf("a") }, list: [empty, { artifact_id: idOf("b") }, 3], kept: "as it was" },
      ],
    );
  });

  scenario("the id of a picture that was replaced never becomes another file's", async (kit) => {
    const { run, kept } = await failOnce(kit, "a");
    const lane = await kit.take("A");
    // The page is had at the second try, and yields records but no file.
    await kit.work(lane, yielding("had"));
    assert.equal(await kit.status(run), "completed");
    assert.equal(await kit.store.artifact(kept.id), null);
    await kit.store.releaseLane(lane);
    const next = await failOnce(kit, "b");
    assert.notEqual(next.kept.id, kept.id);
    assert.ok(next.kept.row > kept.row, "whoever reads on behind a file sees the new ones");
    assert.equal(await kit.store.artifact(kept.id), null);
    await kit.work(await kit.take("A"), DONE);
  });

  const needsBrowser = (page: string) =>
    ({ site: "a.example", url: `https://a.example/${page}`, needed: "browser", because: "it was empty" }) as const;

  scenario("what a site was found to need is known until it is forgotten", async (kit) => {
    await kit.page("a");
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.report(lane, tasks, DONE, { learned: needsBrowser("a") });
    const learned = (await kit.store.site("a.example"))?.learned;
    assert.deepEqual(
      [learned?.strategy, learned?.reason, learned?.scope, learned?.pages.length],
      ["browser", "it was empty", "page", 1],
    );
    assert.deepEqual((await kit.store.sites({ limit: 10 }, kit.now))[0]?.learned, learned);
    await kit.store.setSite("a.example", { burst: 2 });
    assert.deepEqual((await (await kit.open()).site("a.example"))?.learned, learned);
    const site = await kit.store.forgetLearned("a.example");
    assert.deepEqual([site.learned, site.burst], [null, 2]);
    assert.equal((await kit.store.site("a.example"))?.learned, null);
    assert.equal((await kit.store.forgetLearned("a.example")).learned, null);
    await refused("not_found", kit.store.forgetLearned("nobody.example"));
  });

  scenario("pages under way together each add what they found", async (kit) => {
    await kit.runWith(["a", "b", "c", "d"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    for (const task of tasks.slice(0, 3)) await kit.report(lane, [task], DONE, { learned: needsBrowser(task.key) });
    assert.deepEqual(
      [(await kit.store.site("a.example"))?.learned?.scope, (await kit.store.site("a.example"))?.learned?.pages.length],
      ["site", 3],
    );
    const plain = { site: "a.example", url: "https://a.example/d", needed: "plain", because: "" } as const;
    await kit.report(lane, tasks.slice(3), DONE, { learned: plain });
    assert.equal((await kit.store.site("a.example"))?.learned?.mixed, true);
  });
}
