// Which tests `npm test` runs (tier `fast`), and which `npm run test:rest` adds (tier `rest`). A test is fast unless
// its title ends with [slow] or its file is listed here.

import { dirname, join } from "node:path";

/** Files with mostly expensive tests, by reason. A folder stands for all of its files. */
export const REST = [
  // Real processes that are killed, frozen and restarted.
  ...["chaos/", "cluster/", "engine/bullmq.test", "jobs/workers", "mcp/stdio", "supervisor/children"],
  ...[
    "store/copy",
    "store/postgres-faults",
    "store/postgres-lock-order",
    "store/postgres-plans",
    "store/sqlite-crashes",
  ],
  ...["workflows/bucket", "workflows/custom-faults", "workflows/custom-served"],
  // Installing, building, packing, and the scripts that do it.
  ...["bootstrap.test", "deploy/probe", "package/", "scripts.test"],
  // A browser in each test.
  ...["demo/", "fetch/browser/", "firecrawl/browser", "jobs/failures-browser", "jobs/people", "web/"],
  // Much data, or many calls.
  ...["api/board", "api/fuzz", "docs/monitoring", "firecrawl/refusals", "firecrawl/webhooks", "jobs/crawl-magazine"],
  ...["jobs/crawl-traps", "jobs/memory-limit", "net/memory"],
];

/** Exceptions: the end-to-end test of each feature. */
export const FAST = [
  "chaos/crawl.",
  "cluster/first.",
  "demo/door.",
  "fetch/browser/pages.",
  "web/logic-",
  "web/overview.",
];

export function isInRest(file) {
  return REST.some((start) => file.startsWith(start)) && !FAST.some((start) => file.startsWith(start));
}

export const SLOW = "\\[slow\\]$";

/** The files with tests of a tier, in sets that share a title filter. */
export function setsOf(tier, files, textOf) {
  if (tier === "all") return [{ files }];
  if (tier === "fast") return [{ files: files.filter((file) => !isInRest(file)), skip: SLOW }];
  const hasSlow = slowIn(textOf);
  return [
    { files: files.filter(isInRest) },
    { files: files.filter((file) => !isInRest(file) && hasSlow(file)), only: SLOW },
  ];
}

/** Whether a file has slow tests, itself or through an imported contract or kit. */
function slowIn(textOf) {
  const known = new Map();
  const hasSlow = (file) => {
    if (known.has(file)) return known.get(file);
    known.set(file, false);
    const text = textOf(file);
    const imports = [...text.matchAll(/from "(\.{1,2}\/[^"]+\.ts)"/g)].map(([, path]) => join(dirname(file), path));
    const found = text.includes("[slow]") || imports.filter((path) => !path.startsWith("..")).some(hasSlow);
    known.set(file, found);
    return found;
  };
  return hasSlow;
}

/** Long files start first: one of them at the end would delay everything. `--cpu` lists them. */
const LONG = [
  ...[
    "store/postgres.test",
    "cluster/services",
    "package/",
    "web/hostile",
    "cluster/",
    "docs/recipes",
    "docs/examples",
  ],
  ...[
    "chaos/jobs",
    "store/postgres",
    "demo/",
    "chaos/",
    "engine/bullmq",
    "simulation/",
    "fetch/browser/",
    "engine/",
    "cli/",
  ],
  ...["jobs/", "proxies/", "web/", "lanes/worker", "store/", "supervisor/", "workflows/"],
];

export function byCost(a, b) {
  return turnOf(a) - turnOf(b) || (a < b ? -1 : 1);
}

function turnOf(file) {
  const turn = LONG.findIndex((start) => file.startsWith(start));
  return turn === -1 ? LONG.length : turn;
}
