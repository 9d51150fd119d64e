// npm test [-- OPTIONS] [part of a file name …]: runs test files and prints, as the very last line, how many tests passed
// and failed. Without file names it runs the fast tier; with them, all tests of those files.
//   --tier fast|rest|all   which tests (scripts/test/tiers.mjs)
//   --full                 all tiers, each test at its full size
//   --grep TEXT            only tests with that in their name (a regular expression)
//   --repeat N             everything N times
//   --cpu                  what each process took of the processors, and the most expensive ones and slowest tests
//   --alone                each file in a process of its own
import { appendFileSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { ensureInstalled, node24, root, script } from "./bootstrap.mjs";
import { ensureCode } from "./code.mjs";
import { ensureChromium, findChromium } from "./chromium.mjs";
import { ensureMailServer } from "./mail-server.mjs";
import { ensureServices } from "./services.mjs";
import { forEachAtOnce } from "./test/at-once.mjs";
import { groupsOf } from "./test/groups.mjs";
import { addTotals, describeFailure, noTotals, sentence } from "./test/reporter.mjs";
import { runTestFiles } from "./test/run-files.mjs";
import { clearTestFolder, makeTestFolder } from "./test/temp-folder.mjs";
import { byCost, setsOf } from "./test/tiers.mjs";
import { ensureWeb } from "./web.mjs";

const OPTIONS = {
  tier: { type: "string" },
  full: { type: "boolean", default: false },
  grep: { type: "string" },
  repeat: { type: "string", default: "1" },
  cpu: { type: "boolean", default: false },
  alone: { type: "boolean", default: false },
};
const MOST_EXPENSIVE = 20;

await script(async (args) => {
  const { values: options, positionals: names } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const tier = options.tier ?? (options.full || names.length > 0 || options.grep !== undefined ? "all" : "fast");
  if (!["fast", "rest", "all"].includes(tier)) throw new Error(`--tier: expected fast, rest or all, not ${tier}`);
  const repeat = Number(options.repeat);
  if (!Number.isInteger(repeat) || repeat < 1) throw new Error("--repeat: expected a whole number, 1 or more");
  await ensureInstalled();
  const folder = process.env.ORB_TEST_DIR ?? join(root, "test");
  const textOf = (file) => readFileSync(join(folder, file), "utf8");
  const sets = setsOf(tier, findFiles(folder, names), textOf);
  const files = sets.flatMap((set) => set.files);
  const chromium = await chromiumFor(files, textOf);
  const servicesLack = await lacksServices(files, textOf);
  const mailLacks = await lacksMailServer(files, textOf);
  // Built once, before many processes need it at the same time. Tests that start `orb` run the built program, as users
  // do.
  await ensureCode();
  // The dashboard tests report its build errors.
  const built = await ensureWeb().then(
    () => ({ ORB_BUILT: root }),
    () => ({}),
  );
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());
  const temporary = makeTestFolder();
  const settings = {
    node: node24(),
    cwd: root,
    // The files load much the same code: compile it once for all of them.
    env: {
      NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "tests"),
      ...process.env,
      // Test runs started by tests do not count as part of this one.
      ORB_TEST_RECORD: undefined,
      TMPDIR: temporary,
      ...built,
      ORB_TEST_CHROMIUM: chromium,
      ...(options.full ? { ORB_TEST_FULL: "1" } : {}),
    },
    // Only for hangs: longer than test/support/patience.ts, which reports what was awaited.
    testTimeoutMs: Number(process.env.ORB_TEST_TIMEOUT_MS ?? 600_000),
    spareMs: Number(process.env.ORB_TEST_SPARE_MS ?? 15_000),
    signal: stop.signal,
    cpu: options.cpu,
  };
  const started = Date.now();
  const groups = sets.flatMap((set) => {
    const lists = options.alone ? set.files.map((file) => [file]) : groupsOf(folder, set.files);
    return lists.map((list) => ({ list, only: options.grep ?? set.only, skip: set.skip }));
  });
  const totals = noTotals();
  const costs = [];
  const tests = [];
  const runGroup = async ({ list: group, only, skip }) => {
    const began = Date.now();
    const name = nameOf(group);
    const onFailure = (failure) => {
      const place = placeOf(folder, group, failure);
      process.stdout.write(describeFailure(place, failure));
      record({ failed: failure.name, place });
    };
    const paths = group.map((file) => join(folder, file));
    let cpuMs = 0;
    const onTest = (event) => {
      const place = placeOf(folder, group, event);
      tests.push({ name: `${place}: ${event.name}`, seconds: event.ms / 1000 });
      if (options.cpu) record({ test: event.name, place, ms: event.ms, cpuMs: event.cpuMs - cpuMs });
      cpuMs = event.cpuMs;
    };
    const result = await runTestFiles({ ...settings, files: paths, only, skip, onFailure, onTest });
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    const cpu = options.cpu ? `, ${result.cpuSeconds.toFixed(1)} s of CPU` : "";
    costs.push({ name, seconds: result.cpuSeconds });
    // Each process's output stays together, although they run concurrently.
    if (result.output.trim() !== "") process.stdout.write(result.output.replace(/\n*$/, "\n"));
    const mark = result.totals.failed > 0 ? "✖" : "✔";
    process.stdout.write(`${mark} ${name}: ${sentence(result.totals)} (${seconds} s${cpu})\n`);
    if (result.leftovers) process.stdout.write(`  ${name} left processes behind; they were ended\n`);
    addTotals(totals, result.totals);
  };
  const rounds = Array.from({ length: repeat }, () => groups).flat();
  await forEachAtOnce(rounds, runGroup, { signal: stop.signal });
  if (clearTestFolder(temporary)) process.stdout.write("programs were left behind; they were ended\n");
  if (options.cpu) {
    const sum = costs.reduce((total, { seconds }) => total + seconds, 0).toFixed(0);
    process.stdout.write(topTable("slowest tests, by the clock", tests));
    process.stdout.write(topTable(`most expensive of ${sum} s of CPU in all`, costs));
  }
  const browserLacks = chromium === "" && files.some((file) => needsBrowser(textOf(file)));
  const lacking = process.env.CI === "true" && (browserLacks || servicesLack || mailLacks);
  const ran = totals.passed + totals.failed;
  if (stop.signal.aborted) process.stdout.write("\ninterrupted\n");
  else if (ran === 0) process.stdout.write("\nno test ran: nothing matches, or everything was skipped\n");
  process.stdout.write(`\ntier ${tier}: ${((Date.now() - started) / 1000).toFixed(0)} s\n${sentence(totals)}\n`);
  record({ totals });
  return totals.failed > 0 || lacking || ran === 0 || stop.signal.aborted ? 1 : 0;
});

/** For programs that run this one: .ci/run and the soak. */
function record(entry) {
  const path = process.env.ORB_TEST_RECORD;
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(entry)}\n`);
}

function topTable(title, list) {
  const rows = list.toSorted((a, b) => b.seconds - a.seconds).slice(0, MOST_EXPENSIVE);
  return `\n${title}:\n${rows.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${name}\n`).join("")}`;
}

/** `a/b.test.ts`, or `a/ b, c and d` for files that share a process; of several folders, each has its own. */
function nameOf(group) {
  if (group.length === 1) return group[0];
  const place = dirname(group[0]);
  const isOne = group.every((file) => dirname(file) === place);
  const names = group.map((file) => file.slice(isOne ? place.length + 1 : 0, -".test.ts".length));
  return `${isOne ? `${place}/ ` : ""}${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** The file of a test. For tests that a kit defines, prefixed by the file that runs them. */
function placeOf(folder, group, { file }) {
  const place = file === undefined ? undefined : relative(folder, file).replaceAll("\\", "/");
  if (place === undefined) return nameOf(group);
  return group.includes(place) ? place : `${nameOf(group)}: ${place}`;
}

function findFiles(folder, names) {
  return readdirSync(folder, { recursive: true })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules/"))
    .filter((file) => names.length === 0 || names.some((name) => `test/${file}`.includes(name)))
    .sort(byCost);
}

/** The browser for the tests; "": unavailable. Installed only when one of the files needs it. */
async function chromiumFor(files, textOf) {
  if (process.env.ORB_TEST_CHROMIUM !== undefined) return process.env.ORB_TEST_CHROMIUM;
  const needed = files.some((file) => needsBrowser(textOf(file)));
  const path = needed ? await ensureChromium() : findChromium();
  if (path === null && needed)
    process.stdout.write(
      "SKIPPED: browser tests: no Chromium here, and it could not be installed; APP_BROWSER_PATH may name one\n",
    );
  return path ?? "";
}

function needsBrowser(text) {
  return /ORB_TEST_CHROMIUM|browser-kit\.ts/.test(text);
}

/** Whether Redis and Postgres are needed by some files and unavailable. */
async function lacksServices(files, textOf) {
  const needed = files.some((file) => textOf(file).includes("services-kit.ts"));
  if (!needed || (await ensureServices())) return false;
  process.stdout.write(
    "SKIPPED: tests of managed services: no Redis or Postgres here, and they could not be installed\n",
  );
  return true;
}

/** Whether Exim is needed by some files and unavailable. */
async function lacksMailServer(files, textOf) {
  const needed = files.some((file) => textOf(file).includes("./exim.ts"));
  // Only root may start it.
  if (!needed || process.getuid?.() !== 0 || (await ensureMailServer())) return false;
  process.stdout.write("SKIPPED: tests of e-mail with Exim: it is not here, and it could not be installed\n");
  return true;
}
