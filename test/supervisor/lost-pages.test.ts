import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../src/base/log.ts";
import type { HealthProfile } from "../../src/domain/health/profile.ts";
import { type Failure, failure } from "../../src/domain/run/failure.ts";
import type { ChangeCounts } from "../../src/domain/page/page-change.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { profileEndedRuns } from "../../src/supervisor/duties/profile-ended-runs.ts";
import { systemClock } from "../../src/base/clock.ts";

const CHANGES: ChangeCounts = { compared_with: null, new: 4, changed: 2, unchanged: 30, gone: 0, unknown: 0 };
const lacks = (fields?: string[]) =>
  failure("field_missing", "price: required", fields === undefined ? {} : { fields });

interface Ended {
  kind?: string;
  changes?: ChangeCounts;
  failed: { key: string; failure: Failure }[];
  /** Keys of pages that earlier runs read. */
  known: readonly string[];
}

/** The profile that is stored for such a run. */
async function profileOf({ kind = "crawl", changes, failed, known }: Ended): Promise<HealthProfile> {
  const stored: HealthProfile[] = [];
  const options = { urls: ["https://a.example/"], fields: { price: ".price" }, items: null, schema: null };
  const snapshot = kind === "crawl" ? { options } : { url: "https://a.example/", recipe: { fields: options.fields } };
  const facts = changes === undefined ? {} : { changes };
  const run = { id: "r", generation: 1, kind, snapshot, facts };
  const store = {
    runsWithoutHealth: async () => [{ runId: "r", generation: 1 }],
    run: async () => run,
    results: async () => [],
    runErrors: async () => [{ reason: "field_missing", count: failed.length }],
    tasks: async () => failed.map((one, n) => ({ id: `t${n}`, url: `https://a.example/${one.key}`, ...one })),
    pagesReadBefore: async (_run: string, _rules: string, keys: readonly string[]) =>
      keys.map((key) => known.includes(key)),
    recordRunHealth: async (_run: unknown, found: { profile: HealthProfile }) => {
      stored.push(found.profile);
      return null;
    },
  } as unknown as Store;
  const duty = profileEndedRuns({ store, clock: systemClock, wake: async () => {}, log: silentLog, deliver: false });
  await duty.run(new AbortController().signal);
  return stored[0]!;
}

test("failed pages that gave records before are counted among the known pages, whatever the run reached", async () => {
  const failed = ["a", "b", "list"].map((key) => ({ key, failure: lacks(["price", "sku"]) }));
  const { lost } = await profileOf({ changes: CHANGES, failed, known: ["a", "b"] });
  const examples = ["https://a.example/a", "https://a.example/b"];
  assert.deepEqual(lost, { pages: 34, fields: { price: { pages: 2, examples }, sku: { pages: 2, examples } } });
  const lists = await profileOf({ changes: CHANGES, failed, known: [] });
  assert.deepEqual(lists.lost, { pages: 32, fields: {} });
});

test("what is not known is not counted: a first run, failures without names of fields, a job of one page", async () => {
  const one = { failed: [{ key: "a", failure: lacks(["price"]) }], known: ["a"] };
  assert.equal((await profileOf(one)).lost, undefined);
  const unnamed = [...one.failed, { key: "b", failure: lacks() }];
  assert.equal((await profileOf({ ...one, changes: CHANGES, failed: unnamed })).lost, undefined);
  assert.equal((await profileOf({ ...one, changes: CHANGES, kind: "page" })).lost, undefined);
});
