// Which test files share a process. Loading the program and compiling what is used of it takes most of the time of a
// file that tests it from inside; files of one folder use much the same of it.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** So many at most: a process that dies takes the tests with it that it has not come to. */
const MOST = 24;

/**
 * Files that have a process to themselves: those that are long, as others run beside them meanwhile; those that start
 * processes and little else; and those that look at, or change, what belongs to the process as a whole.
 */
const ALONE = [
  ...["chaos/", "cluster/", "demo/", "deploy/", "docs/", "engine/bullmq", "fetch/browser/", "mcp/", "package/"],
  ...["simulation/", "store/", "web/"],
  ...["fetch/download", "jobs/crawl-traps", "jobs/memory-limit", "jobs/workers", "net/memory", "supervisor/services"],
];
/** Though the folder's others are: they are short, and start nothing. */
const NOT_ALONE = [
  ...["docs/crawling", "docs/images", "docs/pages", "docs/templates", "store/cleaned", "store/sqlite-audit"],
  ...["store/sqlite-files", "store/sqlite-lists", "store/sqlite-plans", "store/sqlite-workflow-", "web/logic-"],
];
/** What a file does before and after all of its tests, a process does before and after all of its files. */
const OWN_HOOKS = /^(?:before|after)(?:Each)?\(/m;

/** In the order of the files; a group stands where its first file does. */
export function groupsOf(folder, files) {
  const groups = [];
  const open = new Map();
  for (const file of files) {
    const place = dirname(file);
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

function isAlone(folder, file) {
  if (dirname(file) === ".") return true;
  if (NOT_ALONE.some((start) => file.startsWith(start))) return false;
  if (ALONE.some((start) => file.startsWith(start))) return true;
  return OWN_HOOKS.test(readFileSync(join(folder, file), "utf8"));
}
