// node scripts/test/sum.mjs FILE: prints the totals of all recorded runs in one line. .ci/run ends with it.
import { readFileSync } from "node:fs";
import { addTotals, noTotals, sentence } from "./reporter.mjs";

const totals = noTotals();
for (const line of readFileSync(process.argv[2], "utf8").split("\n").filter(Boolean)) {
  const entry = JSON.parse(line);
  if (entry.totals !== undefined) addTotals(totals, entry.totals);
}
process.stdout.write(`\n${sentence(totals)}\n`);
