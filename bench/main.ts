/** npm run bench -- NAME [--rounds N]: measures one thing against peers and the physical limit, as ratios in one run. */
import { parseArgs } from "node:util";

const BENCHES: Record<string, () => Promise<{ run(rounds: number): Promise<boolean> }>> = {
  queue: () => import("./queue/index.ts"),
  download: () => import("./download/index.ts"),
  api: () => import("./api/index.ts"),
  browser: () => import("./browser/index.ts"),
  extract: () => import("./extract/index.ts"),
  "store-thread": () => import("./store-thread/index.ts"),
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "5" } },
});
const bench = BENCHES[positionals[0] ?? ""];
if (bench === undefined) {
  process.stderr.write(`usage: npm run bench -- ${Object.keys(BENCHES).join(" | ")} [--rounds N]\n`);
  process.exitCode = 2;
} else {
  const reached = await (await bench()).run(Number(values.rounds));
  process.exitCode = reached ? 0 : 1;
}
