import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import fc from "../support/properties.ts";
import { type BadLine, importItems } from "../../src/orchestrator/queue/import.ts";
import { readLines } from "../../src/orchestrator/queue/lines.ts";
import { type TestOrchestrator, openOrchestrator, queueKeys } from "./kit.ts";

const item = (id: string, more: object = {}) =>
  JSON.stringify({ artifact_id: id, url: `http://a.test/${id}`, ...more });

async function* chunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function importText(orchestrator: TestOrchestrator, text: string | Buffer, chunkSize = 65_536) {
  const bad: BadLine[] = [];
  const report = await importItems(orchestrator, chunks(Buffer.from(text as string), chunkSize), {
    bad: (line) => bad.push(line),
  });
  return { report, bad, said: bad.map(({ line, errors }) => `${line} ${errors[0]?.path}: ${errors[0]?.message}`) };
}

test("every line becomes an item, and the engine hears which sites have work", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const { report } = await importText(
    orchestrator,
    `${item("1")}\n${item("2")}\n{"artifact_id":"3","url":"http://b.test/"}\n`,
  );
  assert.deepEqual(report, { lines: 3, added: 3, existing: 0, bad: 0 });
  assert.deepEqual(await queueKeys(orchestrator), ["1", "2", "3"]);
  assert.deepEqual(orchestrator.woken, [["site:a.test", "site:b.test"]]);
});

test("bad lines are reported with their number and skipped; nothing else is lost", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const lines = [
    item("1"),
    "not json",
    "",
    '{"artifact_id":"2"}',
    item("3"),
    '["4"]',
    item("5", { pririty: 1 }),
    item("6", { url: "ftp://a.test/" }),
    '{"artifact_id":"", "url":"http://a.test/"}',
    item("7"),
  ];
  const { report, said } = await importText(orchestrator, lines.join("\n"));
  assert.deepEqual(report, { lines: 9, added: 3, existing: 0, bad: 6 });
  assert.deepEqual(await queueKeys(orchestrator), ["1", "3", "7"]);
  assert.match(said[0] ?? "", /^2 : not JSON/);
  assert.match(said[1] ?? "", /^4 url: is required/);
  assert.match(said[2] ?? "", /^6 : expected an object/);
  assert.match(said[3] ?? "", /^7 pririty: unknown key, did you mean "priority"\?/);
  assert.match(said[4] ?? "", /^8 url: expected an http or https URL/);
  assert.match(said[5] ?? "", /^9 artifact_id: must not be empty/);
});

for (const chunk of [7, 1000, 65_536]) {
  test(`a line of two million characters is one bad line, in pieces of ${chunk} bytes too`, async (t) => {
    const orchestrator = await openOrchestrator(t);
    const long = item("long", { payload: "x".repeat(2_000_000) });
    const { report, said } = await importText(orchestrator, `${item("1")}\n${long}\n${item("2")}\n`, chunk);
    assert.deepEqual(report, { lines: 3, added: 2, existing: 0, bad: 1 });
    assert.match(said[0] ?? "", /^2 : the line is longer than 1048576 characters/);
    assert.deepEqual(await queueKeys(orchestrator), ["1", "2"]);
  });
}

test("a last line that is too long and has no end is one bad line", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const { report } = await importText(orchestrator, `${item("1")}\n${"y".repeat(1_500_000)}`);
  assert.deepEqual([report.added, report.bad], [1, 1]);
});

test("Windows line ends, a byte order mark and a missing last line end do not matter", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const { report } = await importText(orchestrator, `\uFEFF${item("1")}\r\n${item("2")}\r\n\r\n${item("3")}`);
  assert.deepEqual(report, { lines: 3, added: 3, existing: 0, bad: 0 });
});

test("letters of several bytes survive any cut between chunks", async (t) => {
  const ids = ["grüße", "日本語", "🕸️-orb", "ß".repeat(100)];
  const text = Buffer.from(ids.map((id) => JSON.stringify({ artifact_id: id, url: "http://a.test/" })).join("\n"));
  for (const size of [1, 2, 3, 5]) {
    const orchestrator = await openOrchestrator(t);
    const { report } = await importText(orchestrator, text, size);
    assert.deepEqual([report.added, report.bad], [4, 0]);
    assert.deepEqual(await queueKeys(orchestrator), ids);
  }
});

test("importing the same file twice adds nothing", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const text = Array.from({ length: 1200 }, (_, n) => item(String(n))).join("\n");
  assert.deepEqual((await importText(orchestrator, text)).report, { lines: 1200, added: 1200, existing: 0, bad: 0 });
  orchestrator.woken.length = 0;
  assert.deepEqual((await importText(orchestrator, text)).report, { lines: 1200, added: 0, existing: 1200, bad: 0 });
  assert.deepEqual(orchestrator.woken, []);
});

test("an artifact_id that comes twice in one file is taken once, the first time", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const { report } = await importText(orchestrator, `${item("1", { priority: 5 })}\n${item("1", { priority: 9 })}`);
  assert.deepEqual([report.added, report.existing], [1, 1]);
  const run = await orchestrator.store.runByAlias("queue");
  assert.equal((await orchestrator.store.taskByKey(run!.id, "1"))?.priority, 5);
});

test("a file that breaks off keeps what came before", async (t) => {
  const orchestrator = await openOrchestrator(t);
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(Array.from({ length: 600 }, (_, n) => `${item(String(n))}\n`).join(""));
    throw new Error("the disk was pulled out");
  }
  await assert.rejects(importItems(orchestrator, broken(), { bad: () => {} }), /pulled out/);
  const kept = await queueKeys(orchestrator);
  assert.equal(kept.length, 500, "whole batches are on disk");
});

test("an empty file is no error", async (t) => {
  const orchestrator = await openOrchestrator(t);
  for (const text of ["", "\n\n\r\n", "\uFEFF"]) {
    const { report } = await importText(orchestrator, text);
    assert.equal(report.added + report.existing, 0);
  }
});

test("progress is told as it goes", async (t: TestContext) => {
  const orchestrator = await openOrchestrator(t);
  const seen: number[] = [];
  const text = Buffer.from(Array.from({ length: 1100 }, (_, n) => item(String(n))).join("\n"));
  await importItems(orchestrator, chunks(text, 4096), { bad: () => {}, progress: (report) => seen.push(report.added) });
  assert.deepEqual(seen, [500, 1000, 1100]);
});

test("any text in any chunks gives the lines that it has", async () => {
  const text = fc
    .array(fc.constantFrom("a", "bc", "ü", "🕸", "\n", "\r\n", "\r", " "), { maxLength: 40 })
    .map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (whole, size) => {
      const got: string[] = [];
      for await (const line of readLines(chunks(Buffer.from(whole), size), 1000)) {
        got.push(line.text);
        assert.equal(line.number, got.length);
      }
      const expected = whole.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
      if (whole.endsWith("\n") || whole === "") expected.pop();
      assert.deepEqual(got, expected);
    }),
  );
});

test("lines with an address that may not be asked are told, and the others are added", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const bad: BadLine[] = [];
  const lines = Array.from({ length: 20 }, (_, n) =>
    n % 7 === 3 ? JSON.stringify({ artifact_id: String(n), url: "http://10.0.0.1/" }) : item(String(n)),
  );
  const report = await importItems(orchestrator, chunks(Buffer.from(lines.join("\n")), 4096), {
    bad: (line) => void bad.push(line),
  });
  assert.deepEqual([report.lines, report.added, report.bad], [20, 17, 3]);
  assert.deepEqual(
    bad.map(({ line, errors }) => [line, errors[0]?.path]),
    [
      [4, "url"],
      [11, "url"],
      [18, "url"],
    ],
  );
});
