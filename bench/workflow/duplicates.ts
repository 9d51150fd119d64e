/** Time and memory of `deduplicate` on many images with known hashes. */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { print, verdictAtMost } from "../support/measure.ts";
import type { DuplicatesFigures } from "./duplicates-process.ts";

const WANTED = { seconds: 60, peakMb: 500 };

export function measuredInProcess(what: "pictures" | "texts", count: number): Promise<DuplicatesFigures> {
  const child = fork(fileURLToPath(new URL("duplicates-process.ts", import.meta.url)), [what, String(count)]);
  return new Promise((resolve, reject) => {
    child.once("message", (figures) => resolve(figures as DuplicatesFigures));
    child.once("exit", (code) => reject(new Error(`a process of the benchmark ended with ${code}`)));
  });
}

export async function benchDuplicates(small: boolean): Promise<boolean> {
  const count = small ? 2000 : 20_000;
  print(`\ndeduplicate, ${count} pictures with known hashes, a tenth of them copies and a tenth look-alikes`);
  const { seconds, output, restingMb, peakMb } = await measuredInProcess("pictures", count);
  print(`  ${JSON.stringify(output)}`);
  print(`  ${seconds.toFixed(1)} s, at most ${peakMb.toFixed(0)} MB resident (${restingMb.toFixed(0)} MB before)`);
  const within = (name: string, value: number, wanted: number, unit: string) =>
    verdictAtMost(`deduplicate ${name}`, value, wanted, unit);
  return [within("time", seconds, WANTED.seconds, " s"), within("memory", peakMb, WANTED.peakMb, " MB")].every(Boolean);
}
