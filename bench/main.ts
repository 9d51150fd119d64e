/** npm run bench -- NAME [--rounds N] […]: measures one thing against peers and the physical limit, as ratios in one run. */
import { parseArgs } from "node:util";

interface BenchOptions {
  part?: string;
  pages?: string;
  sites?: string;
  only?: string;
  sets?: string;
  limit?: string;
  train?: boolean;
  validate?: boolean;
  folders: string[];
}

interface Bench {
  defaultRounds?: number;
  run(rounds: number, options: BenchOptions): Promise<boolean>;
}

const BENCHES: Record<string, () => Promise<Bench>> = {
  queue: () => import("./queue/index.ts"),
  download: () => import("./download/index.ts"),
  api: () => import("./api/index.ts"),
  browser: () => import("./browser/index.ts"),
  crawl: () => import("./crawl/index.ts"),
  extract: () => import("./extract/index.ts"),
  content: () => import("./content/index.ts"),
  learn: () => import("./learn/index.ts"),
  repair: () => import("./repair/index.ts"),
  workflow: () => import("./workflow/index.ts"),
  "store-thread": () => import("./store-thread/index.ts"),
  cluster: () => import("./cluster/index.ts"),
  postgres: () => import("./postgres/index.ts"),
  dashboard: () => import("./dashboard/index.ts"),
  million: () => import("./million/index.ts"),
  real: () => import("./real/index.ts"),
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string" },
    part: { type: "string" },
    pages: { type: "string" },
    sites: { type: "string" },
    only: { type: "string" },
    sets: { type: "string" },
    limit: { type: "string" },
    train: { type: "boolean" },
    validate: { type: "boolean" },
  },
});
const bench = BENCHES[positionals[0] ?? ""];
if (bench === undefined) {
  process.stderr.write(
    `usage: npm run bench -- ${Object.keys(BENCHES).join(" | ")} [--rounds N]; api (stalls), cluster, crawl, dashboard, million and workflow take --part NAME, cluster, crawl, million and postgres --pages N, million --sites N, and crawl --only NAMES, too; real takes --part, --only, --sets NAMES and --limit FILES; content, learn and repair take folders of marked pages, repair --limit CASES, too; workflow takes --limit TEXTS\n`,
  );
  process.exitCode = 2;
} else {
  const { run, defaultRounds = 5 } = await bench();
  const { rounds = defaultRounds, ...options } = values;
  const reached = await run(Number(rounds), { ...options, folders: positionals.slice(1) });
  process.exitCode = reached ? 0 : 1;
}
