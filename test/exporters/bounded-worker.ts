/** Runs one export of many records inside a heap that could not hold them. */
import { parentPort, workerData } from "node:worker_threads";
import type { ExportRecord } from "../../src/exporters/exporter.ts";
import { exporterNamed } from "../../src/exporters/registry.ts";
import { record } from "./records.ts";

const { format, count } = workerData as { format: string; count: number };

async function* many(): AsyncGenerator<ExportRecord> {
  for (let number = 0; number < count; number += 1) {
    const text = `${number} `.repeat(150);
    yield record({ title: `Item ${number}`, text, price: number / 4, tags: ["a", "b"] }, number);
  }
}

let bytes = 0;
for await (const chunk of exporterNamed(format).export(many())) bytes += chunk.length;
parentPort?.postMessage(bytes);
