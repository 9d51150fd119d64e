import assert from "node:assert/strict";
import { mostKnown } from "../../../src/domain/crawl/crawl-end.ts";
import { scoreOfPriority } from "../../../src/domain/crawl/goal-score.ts";
import type { Discovered } from "../../../src/domain/run/outcome.ts";
import type { ClaimedTask, LaneHold } from "../../../src/store/ports/port.ts";
import { DONE, type Kit, LANE, movedTo, newTask, type Scenario } from "./kit.ts";

const OTHER = "site:b.example";

function found(key: string, score: number, lane = LANE): Discovered {
  const site = lane.replace("site:", "");
  return { key, url: `https://${site}/${key}`, lane, site, depth: 1, score };
}

async function next(kit: Kit, lane: LaneHold): Promise<ClaimedTask> {
  const { tasks } = await kit.claim(lane, 1);
  return tasks[0]!;
}

const scored = (tasks: readonly ClaimedTask[]) => tasks.map(({ key, priority }) => [key, scoreOfPriority(priority)]);

export function goalScenarios(scenario: Scenario): void {
  scenario("a better page takes the place of the worst that waits, never of one with a history", async (kit) => {
    const run = { kind: "crawl", maxAttempts: 3, snapshot: { options: {} }, pagesLimit: 10 } as const;
    const { created } = await kit.store.startRun(run, [newTask("s1"), newTask("s2")], kit.now);
    await kit.store.admitCrawls(1000, kit.now);
    const lane = await kit.take("A");
    const first = await next(kit, lane);
    await kit.report(lane, [first], DONE, { discovered: [found("moved", 0.05)] });
    const second = await next(kit, lane);
    const moved = await next(kit, lane);
    assert.equal(moved.key, "moved");
    await kit.settle(lane, [moved], movedTo(OTHER));
    const fill = mostKnown(10) - 6;
    await kit.report(lane, [second], DONE, {
      discovered: [
        found("low", 0.1),
        found("twice", 0.2),
        found("low there", 0.1, OTHER),
        ...Array.from({ length: fill }, (_, n) => found(`fill ${n}`, 0.5)),
        found("twice", 0.6),
        found("moved", 0.06),
        found("good", 0.8),
        found("good there", 0.8, OTHER),
        found("best there", 0.9, OTHER),
        found("too low", 0.01),
      ],
    });
    assert.equal((await kit.store.run(created.id))?.pagesKnown, mostKnown(10));
    assert.deepEqual(scored((await kit.claim(lane, 3)).tasks), [
      ["good", 0.8],
      ["twice", 0.6],
      ["fill 0", 0.5],
    ]);
    const there = (await kit.claim(await kit.take("A", OTHER))).tasks;
    assert.deepEqual(scored(there), [
      ["best there", 0.9],
      ["moved", 0.06],
    ]);
    assert.deepEqual(
      there.map(({ nextUrl, redirects }) => [nextUrl, redirects.length]),
      [
        [null, 0],
        ["https://b.example/", 1],
      ],
    );
    assert.deepEqual(await kit.store.taskByKey(created.id, "low"), null);
    await kit.expectClean();
  });
}
