// Groups test files that share a process. Loading and compiling the program takes most of the time of an in-process
// test file, and files of one folder use much the same code.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Limit per process: a process that dies takes its remaining tests with it. */
const MOST = 28;

/**
 * Files with their own process: long ones, so that others run beside them; those that mainly start processes; and those
 * that inspect or change process-wide state.
 */
const ALONE = [
  ...["chaos/", "cluster/", "demo/", "deploy/", "docs/", "engine/bullmq", "fetch/browser/", "mcp/", "package/"],
  ...["simulation/", "store/", "web/"],
  ...["fetch/download", "jobs/crawl-traps", "jobs/memory-limit", "jobs/workers", "net/memory", "supervisor/services"],
];
/** Exceptions in those folders: short, and start nothing. */
const NOT_ALONE = [
  ...["docs/crawling", "docs/images", "docs/pages", "docs/templates", "store/cleaned", "store/sqlite-audit"],
  ...["store/sqlite-files", "store/sqlite-lists", "store/sqlite-plans", "store/sqlite-workflow-", "web/logic-"],
];
/**
 * Files of several folders that share a process. The program, the first server and the first page of a process take
 * four seconds of CPU, most of the time of these files.
 */
const TOGETHER = [
  [
    ...["api-client/", "firecrawl/", "library.test", "mcp/bounds", "mcp/http", "pages/", "proxies/"],
    ...["shared-means.test", "sites/", "supervisor/alerts"],
  ],
  [
    ...["config/", "docs/figures", "docs/names", "docs/workflow-definitions"],
    ...["fetch/credential-headers", "fetch/proxies", "identity/", "support/"],
  ],
];
/** Hooks of a file would run before and after all files of the process. */
const OWN_HOOKS = /^(?:before|after)(?:Each)?\(/m;

/** In file order; a group is at the position of its first file. */
export function groupsOf(folder, files) {
  const groups = [];
  const open = new Map();
  for (const file of files) {
    const place = placeOf(file);
    if (isAlone(folder, file)) {
      groups.push([file]);
      continue;
    }
    let group = open.get(place);
    if (group === undefined || group.length === MOST) groups.push((group = []));
    group.push(file);
    open.set(place, group);
  }
  return groups;
}

/** What the files of a group have in common: the list they are in, or their folder. */
function placeOf(file) {
  return TOGETHER.find((starts) => isIn(starts, file)) ?? dirname(file);
}

const isIn = (starts, file) => starts.some((start) => file.startsWith(start));

function isAlone(folder, file) {
  const isShared = isIn([...TOGETHER.flat(), ...NOT_ALONE], file);
  if (!isShared && (dirname(file) === "." || isIn(ALONE, file))) return true;
  return OWN_HOOKS.test(readFileSync(join(folder, file), "utf8"));
}
