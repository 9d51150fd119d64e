import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { silentLog } from "../../src/base/log.ts";
import { fixtureWriter } from "../../src/lanes/handlers/fixtures.ts";
import type { EvidenceStore } from "../../src/pages/evidence.ts";
import { settled } from "../support/fake-clock.ts";

const nameOf = (page: string) => hash("sha256", page, "hex");

/** A store that answers when it is told to, and files in memory. */
function make() {
  const recorded: string[][] = [];
  const answers: PromiseWithResolvers<void>[] = [];
  const files: string[] = [];
  const store = {
    recordOrphanedFiles: (hashes: readonly string[]) => {
      recorded.push([...hashes]);
      const answer = Promise.withResolvers<void>();
      answers.push(answer);
      return answer.promise;
    },
  };
  const artifacts = {
    writer: () => {
      let bytes = Buffer.alloc(0);
      return {
        write: async (more: Buffer) => void (bytes = Buffer.concat([bytes, more])),
        finish: async () => {
          files.push(String(bytes));
          return { hash: hash("sha256", bytes, "hex"), size: bytes.length };
        },
      };
    },
  } as unknown as EvidenceStore;
  return { recorded, answers, files, keep: fixtureWriter(store, artifacts, silentLog) };
}

test("pages that are kept at the same time are recorded together, each before its file is written", async () => {
  const { recorded, answers, files, keep } = make();
  const first = keep(Buffer.from("first"));
  await settled();
  const others = ["a", "b", "c", "a"].map((page) => keep(Buffer.from(page)));
  await settled();
  assert.deepEqual(recorded, [[nameOf("first")]], "those that come meanwhile wait for the first");
  assert.deepEqual(files, []);
  answers[0]!.resolve();
  await first;
  await settled();
  assert.deepEqual(files, ["first"]);
  assert.deepEqual(recorded.slice(1), [["a", "b", "c"].map(nameOf)]);
  answers[1]!.resolve();
  assert.deepEqual(
    (await Promise.all(others)).map((file) => file?.hash),
    ["a", "b", "c", "a"].map(nameOf),
  );
  assert.equal(recorded.length, 2);
});

test("a page that cannot be recorded is not kept, and keeps no other from being kept", async () => {
  const { answers, files, keep } = make();
  const first = keep(Buffer.from("first"));
  await settled();
  const second = keep(Buffer.from("second"));
  answers[0]!.reject(new Error("no answer"));
  assert.equal(await first, null);
  await settled();
  answers[1]!.resolve();
  assert.equal((await second)?.size, "second".length);
  assert.deepEqual(files, ["second"]);
});
