// npm test [-- [--full] [--cpu] [--alone] [part of a file name …]]: runs the test files and prints, as the very last line,
// how many tests passed and failed. --full adds the long ones, --cpu says what was taken of the processors, --alone gives
// each file a process of its own.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ensureInstalled, node24, root, script } from "./bootstrap.mjs";
import { ensureCode } from "./code.mjs";
import { ensureChromium, findChromium } from "./chromium.mjs";
import { ensureServices } from "./services.mjs";
import { addTotals, describeFailure, noTotals, sentence } from "./reporter.mjs";
import { runTestFiles } from "./test-file.mjs";
import { groupsOf } from "./test-groups.mjs";
import { clearTestFolder, makeTestFolder } from "./test-folder.mjs";
import { eachAtGoodPace } from "./test-pace.mjs";
import { ensureWeb } from "./web.mjs";

/** Files that take long come first: one of them at the end would keep everybody waiting. `--cpu` says which they are. */
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
  ...["chaos/jobs", "store/postgres", "demo/", "chaos/", "simulation/", "fetch/browser/", "engine/", "cli/", "jobs/"],
  ...["proxies/", "web/", "lanes/worker", "store/", "supervisor/", "workflows/"],
];

await script(async (args) => {
  await ensureInstalled();
  const full = args.includes("--full");
  const folder = process.env.ORB_TEST_DIR ?? join(root, "test");
  const files = findFiles(
    folder,
    args.filter((arg) => !arg.startsWith("--")),
  );
  const chromium = await chromiumFor(folder, files);
  const servicesLack = await lacksServices(folder, files);
  // Once, before many processes at the same time would want them. Tests that start `orb` run what users run: the built program.
  await ensureCode();
  // The tests of the dashboard say what is wrong with it.
  const built = await ensureWeb().then(
    () => ({ ORB_BUILT: root }),
    () => ({}),
  );
  const compiled = join(root, "node_modules", ".cache", "tests");
  const totals = noTotals();
  const failures = [];
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());
  const temporary = makeTestFolder();
  const settings = {
    node: node24(),
    cwd: root,
    // The files load much the same code: it is compiled once, and not by each of them.
    env: {
      NODE_COMPILE_CACHE: compiled,
      ...process.env,
      TMPDIR: temporary,
      ...built,
      ORB_TEST_CHROMIUM: chromium,
      ...(full ? { ORB_TEST_FULL: "1" } : {}),
    },
    // No test takes so long; a slow machine that is busy with many of them must not make one fail.
    testTimeoutMs: Number(process.env.ORB_TEST_TIMEOUT_MS ?? (full ? 900_000 : 300_000)),
    spareMs: Number(process.env.ORB_TEST_SPARE_MS ?? 15_000),
    signal: stop.signal,
    cpu: args.includes("--cpu"),
  };
  let cpuSeconds = 0;
  const groups = args.includes("--alone") ? files.map((file) => [file]) : groupsOf(folder, files);
  const runGroup = async (group) => {
    const started = Date.now();
    const result = await runTestFiles({ ...settings, files: group.map((file) => join(folder, file)) });
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    cpuSeconds += result.cpuSeconds;
    const cpu = settings.cpu ? `, ${result.cpuSeconds.toFixed(1)} s of CPU` : "";
    // Each process's output stays together, although they run side by side.
    if (result.output.trim() !== "") process.stdout.write(result.output.replace(/\n*$/, "\n"));
    const mark = result.totals.failed > 0 ? "✖" : "✔";
    const name = nameOf(group);
    process.stdout.write(`${mark} ${name}: ${sentence(result.totals)} (${seconds} s${cpu})\n`);
    if (result.leftovers) process.stdout.write(`  ${name} left processes behind; they were ended\n`);
    addTotals(totals, result.totals);
    failures.push(...result.failures.map((failure) => describeFailure(placeOf(folder, group, failure), failure)));
  };
  await eachAtGoodPace(groups, runGroup, { signal: stop.signal });
  if (clearTestFolder(temporary)) process.stdout.write("programs were left behind; they were ended\n");
  process.stdout.write(failures.join(""));
  if (settings.cpu) process.stdout.write(`\n${cpuSeconds.toFixed(0)} s of CPU in all\n`);
  const browserLacks = chromium === "" && files.some((file) => needsBrowser(folder, file));
  const lacking = process.env.CI === "true" && (browserLacks || servicesLack);
  const ran = totals.passed + totals.failed;
  if (stop.signal.aborted) process.stdout.write("\ninterrupted\n");
  else if (ran === 0) process.stdout.write("\nno test ran: nothing matches, or everything was skipped\n");
  process.stdout.write(`\n${sentence(totals)}\n`);
  return totals.failed > 0 || lacking || ran === 0 || stop.signal.aborted ? 1 : 0;
});

/** `a/b.test.ts`, or `a/b, c and d` of those that share a process. */
function nameOf(group) {
  if (group.length === 1) return group[0];
  const place = dirname(group[0]);
  const names = group.map((file) => file.slice(place.length + 1, -".test.ts".length));
  return `${place}/ ${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** The file in which a test stands. Tests that a kit makes stand in the kit: then it is also said of whom they are. */
function placeOf(folder, group, { file }) {
  const place = file === undefined ? undefined : relative(folder, file).replaceAll("\\", "/");
  if (place === undefined) return nameOf(group);
  return group.includes(place) ? place : `${nameOf(group)}: ${place}`;
}

function findFiles(folder, filters) {
  return readdirSync(folder, { recursive: true })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules/"))
    .filter((file) => filters.length === 0 || filters.some((filter) => `test/${file}`.includes(filter)))
    .sort((a, b) => turnOf(a) - turnOf(b) || (a < b ? -1 : 1));
}

function turnOf(file) {
  const turn = LONG.findIndex((folder) => file.startsWith(folder));
  return turn === -1 ? LONG.length : turn;
}

/** The browser for the tests, "" when it cannot be had. It is installed only when one of the files asks for it. */
async function chromiumFor(folder, files) {
  if (process.env.ORB_TEST_CHROMIUM !== undefined) return process.env.ORB_TEST_CHROMIUM;
  const needed = files.some((file) => needsBrowser(folder, file));
  const path = needed ? await ensureChromium() : findChromium();
  if (path === null && needed)
    process.stdout.write(
      "SKIPPED: browser tests: no Chromium here, and it could not be installed; APP_BROWSER_PATH may name one\n",
    );
  return path ?? "";
}

function needsBrowser(folder, file) {
  return /ORB_TEST_CHROMIUM|browser-kit\.ts/.test(readFileSync(join(folder, file), "utf8"));
}

/** Whether the Redis and the Postgres that some of the files want cannot be had. */
async function lacksServices(folder, files) {
  const needed = files.some((file) => readFileSync(join(folder, file), "utf8").includes("services-kit.ts"));
  if (!needed || (await ensureServices())) return false;
  process.stdout.write(
    "SKIPPED: tests of managed services: no Redis or Postgres here, and they could not be installed\n",
  );
  return true;
}
