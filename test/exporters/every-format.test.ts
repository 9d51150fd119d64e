import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { isOrbError } from "../../src/base/errors.ts";
import type { ExportRecord } from "../../src/exporters/exporter.ts";
import { exportFileName } from "../../src/exporters/file-name.ts";
import { EXPORT_FORMATS, EXPORTERS, exporterNamed, formatNamed, RECORD_FORMATS } from "../../src/exporters/registry.ts";
import { bytesOf, record, stream } from "./records.ts";

test("the formats are known by their names, and each describes itself", () => {
  assert.deepEqual(RECORD_FORMATS, ["json", "jsonl", "csv", "csv-excel", "markdown", "markdown-zip", "parquet"]);
  assert.deepEqual(EXPORT_FORMATS, [...RECORD_FORMATS, "warc"]);
  const formats = EXPORT_FORMATS.map((name) => formatNamed(name));
  const [, , csv, csvForExcel] = formats;
  assert.equal(csvForExcel?.extension, csv?.extension);
  assert.equal(new Set(formats.map(({ extension }) => extension)).size, formats.length - 1);
  for (const { contentType, about } of formats) {
    assert.match(contentType, /^[a-z]+\/[a-z.-]+(; charset=utf-8)?$/);
    assert.ok(about.length > 0 && about.length < 80);
  }
});

test("a format that does not exist is refused with the name of the field and a suggestion", () => {
  assert.throws(
    () => exporterNamed("jsnl"),
    (error) =>
      isOrbError(error, "input_invalid") && error.fields[0]?.path === "format" && /"jsonl"/.test(error.message),
  );
  assert.throws(() => exporterNamed("xlsx"), /json, jsonl, csv, csv-excel, markdown, markdown-zip, parquet$/);
  assert.throws(() => exporterNamed("warc"), /json, jsonl, csv, csv-excel, markdown, markdown-zip, parquet$/);
  assert.throws(() => formatNamed("xlsx"), /parquet, warc$/);
});

test("a file is named after its run, in letters that every system takes", () => {
  assert.equal(exportFileName({ id: "run_01J9" }, "jsonl"), "run-run_01J9.jsonl");
  assert.equal(
    exportFileName({ id: "run_1", name: "Schuhe für März: 50 % / neu" }, "csv"),
    "schuhe-fur-marz-50-neu-run_1.csv",
  );
  assert.equal(exportFileName({ id: "../../etc/passwd", name: "靴" }, "markdown"), "run-etc-passwd.md");
  assert.equal(exportFileName({ id: "r", name: 'a"\r\nb'.repeat(50) }, "json").length, 60 + "-r.json".length);
});

for (const exporter of EXPORTERS) {
  test(`${exporter.name}: a consumer that takes its time holds the source back`, async () => {
    let pulled = 0;
    async function* endless(): AsyncGenerator<ExportRecord> {
      for (;;) {
        pulled += 1;
        yield record({ title: `Item ${pulled}`, text: "words ".repeat(100), pulled }, pulled);
      }
    }
    const chunks = exporter.export(endless())[Symbol.asyncIterator]();
    await chunks.next();
    const afterFirst = pulled;
    // Whatever could still run without being asked has run after a turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(pulled, afterFirst);
    assert.ok(pulled <= 5_001, `${pulled} records for the first chunk`);
    for (let asked = 0; asked < 20; asked += 1) await chunks.next();
    assert.ok(pulled > afterFirst && pulled <= 21 * 5_001, `${pulled} records for 21 chunks`);
    await chunks.return?.();
  });

  test(`${exporter.name}: a consumer that stops early lets the source clean up`, async () => {
    let closed = false;
    async function* source(): AsyncGenerator<ExportRecord> {
      try {
        for (let number = 1; ; number += 1) yield record({ text: "words ".repeat(1_000) }, number);
      } finally {
        closed = true;
      }
    }
    for await (const chunk of exporter.export(source())) {
      assert.ok(chunk.length > 0);
      break;
    }
    assert.ok(closed);
  });

  test(`${exporter.name}: a failure of the source reaches the consumer`, async () => {
    async function* failing(): AsyncGenerator<ExportRecord> {
      yield record({ title: "one" });
      throw new Error("the database went away");
    }
    await assert.rejects(bytesOf(exporter, failing()), /the database went away/);
  });

  test(`${exporter.name}: a record may have no fields at all`, async () => {
    const bytes = await bytesOf(exporter, stream([record({}), record({ title: "second" }, 2), record({}, 3)]));
    assert.ok(bytes.length > 0);
  });

  test(`${exporter.name}: 200,000 records pass through a heap that could not hold them [slow]`, async () => {
    const count = 200_000;
    const worker = new Worker(new URL("./bounded-worker.ts", import.meta.url), {
      workerData: { format: exporter.name, count },
      resourceLimits: { maxOldGenerationSizeMb: 80, maxYoungGenerationSizeMb: 16 },
    });
    // Ends with an error if the heap overflows.
    const [bytes] = (await once(worker, "message")) as [number];
    await worker.terminate();
    assert.ok(bytes > count * 20, `${bytes} bytes`);
  });
}
