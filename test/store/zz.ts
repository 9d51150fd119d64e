import { readFileSync } from "node:fs";
import { judge } from "./lock-order.ts";
const traced = JSON.parse(readFileSync("/tmp/h/traced.json", "utf8"));
const { problems, order, guarded } = judge(traced);
console.log(order, guarded);
const kinds = new Map<string, number>();
for (const p of problems) { const k = p.slice(0, 30); kinds.set(k, (kinds.get(k) ?? 0) + 1); if ((kinds.get(k) ?? 0) <= 2) console.log(p, "\n"); }
console.log(kinds);
