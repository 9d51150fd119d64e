import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { codeOf, filesIn, importsOf, read, root, tableBelow } from "./support/source.ts";

interface Module {
  layer: number;
  name: string;
  mayImport: ReadonlySet<string>;
}

/** They put the modules together. */
const TOP = new Set(["src/main.ts", "src/index.ts"]);
const isComposition = (file: string) => TOP.has(file) || moduleOf(file) === "app";

/** The most that one sees at a glance. */
const MOST_FILES = 24;

const modules = readModules();
const files = filesIn("src", ".ts");
const sources = new Map(files.map((file) => [file, read(file)]));
const edges = files.flatMap((from) =>
  importsOf(sources.get(from) ?? "").map((name) => ({ from, name, to: resolve(from, name) })),
);

function readModules(): Map<string, Module> {
  const rows = tableBelow(read("docs/architecture.md"), "## Modules and layers").map((cells) => {
    const [layer = "", name = "", , allowed = ""] = cells;
    return { layer: Number(layer), name: name.replaceAll("`", ""), allowed };
  });
  return new Map(
    rows.map((row) => {
      const below = rows.filter((other) => other.layer < row.layer).map((other) => other.name);
      const match = /^all below(?: but (.*))?$/.exec(row.allowed);
      const names = ["nothing", "node only"].includes(row.allowed)
        ? []
        : list(match === null ? row.allowed : (match[1] ?? ""));
      const mayImport = new Set(match === null ? names : below.filter((name) => !names.includes(name)));
      return [row.name, { layer: row.layer, name: row.name, mayImport }];
    }),
  );
}

function list(text: string): string[] {
  return text.split(",").flatMap((part) => part.trim() || []);
}

function resolve(from: string, name: string): string | undefined {
  return name.startsWith(".") ? normalize(join(dirname(from), name)) : undefined;
}

function moduleOf(file: string): string {
  return file.split("/")[1] ?? "";
}

/** Collects `file:line` of every match in code (comments and strings do not count). */
function findInCode(pattern: RegExp, allowed: (file: string) => boolean): string[] {
  return files.flatMap((file) => {
    if (allowed(file)) return [];
    const lines = codeOf(sources.get(file) ?? "", { strings: false }).split("\n");
    return lines.flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : []));
  });
}

test("the table of modules can be read, and names only lower layers", () => {
  assert.ok(modules.size >= 12, "docs/architecture.md has a table of modules");
  for (const module of modules.values()) {
    assert.ok(Number.isInteger(module.layer), `${module.name} has a layer`);
    for (const name of module.mayImport) {
      const other = modules.get(name);
      assert.ok(other !== undefined, `${module.name} may import ${name}, which is not a module`);
      assert.ok(other.layer < module.layer, `${module.name} may import ${name}, which is not of a lower layer`);
    }
  }
});

test("every file belongs to a module of the table, and every module has files", () => {
  const strangers = files.filter((file) => !TOP.has(file) && !modules.has(moduleOf(file)));
  assert.deepEqual(strangers, []);
  const used = new Set(files.map(moduleOf));
  assert.deepEqual(
    [...modules.keys()].filter((name) => !used.has(name)),
    [],
  );
});

test("modules import only what their line allows", () => {
  const wrong = edges.filter(({ from, to }) => {
    if (to === undefined || TOP.has(from) || !to.startsWith("src/")) return false;
    if (TOP.has(to)) return true;
    const [own, other] = [moduleOf(from), moduleOf(to)];
    return own !== other && modules.get(own)?.mayImport.has(other) !== true;
  });
  assert.deepEqual(
    wrong.map(({ from, to }) => `${from} → ${to}`),
    [],
  );
});

test("the kernel of the store imports none of the folders that stand on it", () => {
  const kernel = "src/store/sql/kernel/";
  const wrong = edges.filter(
    ({ from, to }) => from.startsWith(kernel) && to?.startsWith("src/store/sql/") === true && !to.startsWith(kernel),
  );
  assert.deepEqual(
    wrong.map(({ from, to }) => `${from} → ${to}`),
    [],
  );
});

test("no folder of the program or of the dashboard holds more files than one sees at a glance", () => {
  const all = [...files, ...["ts", "tsx", "css"].flatMap((ending) => filesIn("web/src", `.${ending}`))];
  const folders = Map.groupBy(all, (file) => dirname(file));
  const full = [...folders].flatMap(([folder, held]) =>
    held.length > MOST_FILES ? [`${folder}: ${held.length} files`] : [],
  );
  assert.deepEqual(full, []);
});

test("imports name files that exist, with their ending, and stay inside src", () => {
  const wrong = edges.filter(({ to }) => to !== undefined && (!to.startsWith("src/") || !existsSync(join(root, to))));
  assert.deepEqual(
    wrong.map(({ from, name }) => `${from} → ${name}`),
    [],
  );
});

test("nobody imports src/index.ts, and modules have no barrel files", () => {
  assert.deepEqual(
    edges.filter(({ to }) => to === "src/index.ts").map(({ from }) => from),
    [],
  );
  assert.deepEqual(
    files.filter((file) => file.endsWith("/index.ts") && !TOP.has(file)),
    [],
  );
});

test("no file imports itself in a circle", () => {
  const next = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): void => {
    assert.ok(!path.includes(file), `circle: ${[...path.slice(path.indexOf(file)), file].join(" → ")}`);
    if (done.has(file)) return;
    for (const { to } of next.get(file) ?? []) if (to !== undefined) walk(to, [...path, file]);
    done.add(file);
  };
  for (const file of files) walk(file, []);
});

test("time, chance, environment and standard streams stay in their modules", () => {
  const inBase = (file: string) => moduleOf(file) === "base";
  const atEdge = (file: string) => inBase(file) || file === "src/main.ts";
  const mayPrint = (file: string) => inBase(file) || moduleOf(file) === "cli" || isComposition(file);
  assert.deepEqual(findInCode(/\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)/, inBase), []);
  assert.deepEqual(findInCode(/\bMath\.random\b/, inBase), []);
  assert.deepEqual(findInCode(/\bprocess\.env\b/, atEdge), []);
  assert.deepEqual(
    findInCode(/\bconsole\./, () => false),
    [],
  );
  assert.deepEqual(findInCode(/\bprocess\.(stdout|stderr)\b/, mayPrint), []);
});

/** Packages that are loaded together with a file, before anything of it runs. */
function packagesLoadedWith(entry: string): string[] {
  const packages = new Set<string>();
  const loaded = new Set([entry]);
  for (const from of loaded) {
    const code = codeOf(sources.get(from) ?? "", { strings: true });
    const statements = code.matchAll(/^(?:import|export)\b(?! type\b)(?:[^;"=(]*\bfrom)? "([^"]+)"/gm);
    for (const [, name = ""] of statements) {
      const file = resolve(from, name);
      if (file !== undefined) loaded.add(file);
      else if (!name.startsWith("node:")) packages.add(name);
    }
  }
  return [...packages].toSorted();
}

test("commands load what they need when they need it, so that the quick ones are quick", () => {
  assert.deepEqual(packagesLoadedWith("src/main.ts"), ["commander"]);
  const slow = new Set(["typebox", "undici", "playwright-core", "hyparquet-writer", "log-update"]);
  const loaded = packagesLoadedWith("src/app/local-api.ts");
  assert.ok(loaded.includes("fastify"));
  assert.deepEqual(
    loaded.filter((name) => slow.has(name)),
    [],
  );
});

test("BullMQ, its board and its Redis client are known to one engine alone, and modules know engines by their port", () => {
  const strangers = edges.filter(
    ({ from, name }) => /^(bullmq|ioredis|@bull-board\/.+)$/.test(name) && !from.startsWith("src/engine/bullmq/"),
  );
  assert.deepEqual(strangers, []);
  const past = edges.filter(
    ({ from, to }) =>
      to?.startsWith("src/engine/") === true &&
      to !== "src/engine/port.ts" &&
      !from.startsWith("src/engine/") &&
      !isComposition(from),
  );
  assert.deepEqual(past, []);
});

test("the client runs wherever there is fetch: it imports neither packages nor modules of Node", () => {
  const imported = edges.filter(({ from, to }) => moduleOf(from) === "api-client" && to === undefined);
  assert.deepEqual(imported, []);
});

/** Made from something else, and read by nobody. */
const MADE = "src/api-client/operations.ts";

test("a file has one subject: past 300 lines it is asked, past 400 it fails", (t) => {
  const written = files.filter((file) => file !== MADE);
  const lengths = written.map((file) => ({ file, lines: (sources.get(file) ?? "").trimEnd().split("\n").length }));
  for (const { file, lines } of lengths) {
    if (lines > 300) t.diagnostic(`${file} has ${lines} lines: does it still have one subject?`);
  }
  assert.deepEqual(
    lengths.filter(({ lines }) => lines > 400),
    [],
  );
});

test(
  "no tracked file holds a path of somebody's machine",
  { skip: existsSync(join(root, ".git")) ? false : "no git" },
  () => {
    const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" })
      .split("\0")
      .filter(Boolean);
    // In pieces, or this file would find itself.
    const places = ["home", "Users", "work", "root", "mnt"].join("|");
    const pattern = new RegExp(`(?<![\\w.:/*\\])}-])/(?:${places})/[\\w.-]|\\b[A-Z]:\\\\\\\\?Users`);
    const wrong = tracked.flatMap((file) => {
      if (!existsSync(join(root, file))) return [];
      const lines = read(file).split("\n");
      return lines.flatMap((line, index) =>
        pattern.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : [],
      );
    });
    assert.deepEqual(wrong, []);
  },
);

/** Names of our own for what the field has a word for: they were replaced, and stay away. */
const OLD_NAMES = [
  "BOARD_PLACE",
  "BucketPlace",
  "ColdPlace",
  "CustomPlace",
  "DiskRoom",
  "FolderPlace",
  "FruitlessTries",
  "HAS_PLACE",
  "HandBack",
  "KeepingPlace",
  "LeftLanes",
  "LineEnds",
  "MadeSnapshot",
  "Place",
  "PostgresLine",
  "SITS_MS",
  "ShownFailures",
  "Standstill",
  "StepPast",
  "StepPlace",
  "TOLD_ONE_BY_ONE",
  "TakesLists",
  "Tally",
  "TicketOffice",
  "WireNews",
  "WorkerPulse",
  "WorkerTrouble",
  "Yielding",
  "[A-Z][a-z]+Wish(?:es)?",
  "[A-Za-z]+Verbs",
  "asideLimit",
  "asideOf",
  "bytes_so_far",
  "crawl_pace",
  "disk-room",
  "drainAsked",
  "forsaken",
  "fruitless",
  "givenStarts",
  "got_at",
  "handOn",
  "handOnMany",
  "heard_lease",
  "isForeseen",
  "isLoose",
  "items_in_hand",
  "lane-line",
  "lateBoard",
  "likenessOf",
  "looseFiles",
  "loose_files",
  "made-database",
  "madeInMemory",
  "makeLine",
  "nextSlot",
  "next_slot",
  "noPlace",
  "noteLoose",
  "openDesk",
  "openPlace",
  "pages_in_hand",
  "passSlots",
  "passedOn",
  "placeInLine",
  "placesFor",
  "placesOf",
  "removeLoose",
  "saidOfHold",
  "shardPlace",
  "slot_counts",
  "sourceAsGiven",
  "splitDue",
  "split_due",
  "standstillWords",
  "startSlot",
  "stepPast",
  "tellAtOnce",
  "tellControl",
  "tellCrashLoops",
  "toldByOwner",
  "toldOf",
];

test("things have the names that the field has for them", () => {
  // Migrations that are published say what they said.
  const here = new Set(["test/architecture.test.ts", "test/store/before-renames.ts"]);
  const mayNameOld = (file: string) => here.has(file) || /node_modules|\/migrations\//.test(file);
  const roots = ["src", "web/src", "test", "docs", "bench"];
  const texts = roots.flatMap((folder) => [".ts", ".tsx", ".md"].flatMap((ending) => filesIn(folder, ending)));
  const old = new RegExp(`\\b(?:${OLD_NAMES.join("|")})\\b`);
  const found = texts.filter((file) => !mayNameOld(file) && old.test(read(file)));
  assert.deepEqual(found, []);
});

test("what a file exports is used by another one", () => {
  const roots = ["src", "web/src", "test", "bench", "scripts"];
  const all = roots.flatMap((folder) => [".ts", ".tsx", ".mjs"].flatMap((ending) => filesIn(folder, ending)));
  const users = new Map<string, number>();
  for (const file of all)
    for (const name of new Set(read(file).match(/[A-Za-z_$][\w$]*/g))) users.set(name, (users.get(name) ?? 0) + 1);
  const isPublic = (file: string) => TOP.has(file) || file === "src/api-client/operations.ts";
  const declared =
    /^export (?:declare |async |abstract )*(?:const|function\*?|class|interface|type) ([A-Za-z_$][\w$]*)/gm;
  const unused = all
    .filter((file) => /^(?:web\/)?src\//.test(file) && !isPublic(file))
    .flatMap((file) => [...read(file).matchAll(declared)].map(([, name = ""]) => ({ file, name })))
    .filter(({ name }) => users.get(name) === 1);
  assert.deepEqual(unused, []);
});

test("tests draw cases by the seed of the run", () => {
  const direct = filesIn("test", ".ts").filter((file) => importsOf(read(file)).includes("fast-check"));
  assert.deepEqual(direct, ["test/support/properties.ts"]);
});

test("the lock file names no registry", () => {
  assert.ok(!/"resolved":\s*"(?!file:)/.test(read("package-lock.json")));
});
