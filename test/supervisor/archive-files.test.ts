import assert from "node:assert/strict";
import { utimesSync } from "node:fs";
import { test } from "node:test";
import { createArtifactStore } from "../../src/artifacts/store.ts";
import { createLog } from "../../src/base/log.ts";
import type { ArchivePolicy } from "../../src/domain/run/retention.ts";
import { archiveFiles } from "../../src/supervisor/duties/archive-files.ts";
import { newTask } from "../contract/store/kit.ts";
import { openOrchestrator } from "../orchestrator/kit.ts";
import { tempDir } from "../support/temp-dir.ts";

const DAY = 86_400_000;
const LANE = "site:a.example";

test("old files of some size are archived in the background, each once, and stay readable", async (t) => {
  using dir = tempDir();
  const { store, clock, work } = await openOrchestrator(t);
  const artifacts = createArtifactStore({ dir: dir.path, clock });
  const touch = async (hash: string) => {
    const at = clock.now() / 1000;
    utimesSync(await artifacts.pathOf(hash), at, at);
  };
  const stored = async (text: string) => {
    const writer = artifacts.writer();
    await writer.write(Buffer.from(text));
    const { hash, size } = await writer.finish();
    await touch(hash);
    await store.startRun({ kind: "page", maxAttempts: 1, snapshot: {} }, [newTask(hash)], clock.now());
    const file = { hash, size, contentType: null, url: "https://a.example/" };
    await work(LANE, () => ({ kind: "completed", artifacts: [file], results: [], detail: null }));
    return hash;
  };
  const old = await stored("old and large ".repeat(1000));
  const small = await stored("old and small");
  const foundAgain = await stored("found again ".repeat(1000));
  await clock.advance(40 * DAY);
  await touch(foundAgain);
  const young = await stored("young ".repeat(1000));
  const lines: string[] = [];
  const log = createLog({ level: "info", pretty: false, write: (line) => void lines.push(line) });
  const dutyOf = (policy: ArchivePolicy) => archiveFiles({ store, artifacts, clock, log, policy });
  const duty = dutyOf({ afterMs: 30 * DAY, minBytes: 1000 });
  const { signal } = new AbortController();
  await duty.run(signal);
  const isCold = async (hash: string) => (await artifacts.ageOf(hash)) === null;
  assert.deepEqual(
    await Promise.all([old, small, foundAgain, young].map(isCold)),
    [true, false, false, false],
    "only what is old and large enough",
  );
  assert.ok(await artifacts.verify(old), "it is what it was");
  assert.match(lines.join(), /"files":1/);
  await duty.run(signal);
  await dutyOf({ afterMs: 0, minBytes: 0 }).run(signal);
  assert.equal(lines.length, 1, "what is archived is not moved again, and without a policy nothing is");
});
