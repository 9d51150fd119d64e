import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { codeOf, filesIn, importsOf, read, root, tableBelow } from "./support/source.ts";

interface Room {
  floor: number;
  name: string;
  mayImport: ReadonlySet<string>;
  planned: boolean;
}

const TOP = new Set([
  "src/app.ts",
  "src/api-deps.ts",
  "src/client.ts",
  "src/cluster.ts",
  "src/choose-engine.ts",
  "src/migrate.ts",
  "src/doctor.ts",
  "src/doctor-extras.ts",
  "src/demo-host.ts",
  "src/demo-run.ts",
  "src/doctor-fix.ts",
  "src/port-in-use.ts",
  "src/shared-means.ts",
  "src/browser-there.ts",
  "src/serve.ts",
  "src/local-api.ts",
  "src/scrape.ts",
  "src/capture.ts",
  "src/login.ts",
  "src/page-tools.ts",
  "src/work-metrics.ts",
  "src/own-worker.ts",
  "src/probes.ts",
  "src/user-code.ts",
  "src/user-extractors.ts",
  "src/known-kinds.ts",
  "src/library.ts",
  "src/library-workflows.ts",
  "src/secret-key.ts",
  "src/supervise.ts",
  "src/main.ts",
  "src/index.ts",
]);
const rooms = readRooms();
const files = filesIn("src", ".ts");
const sources = new Map(files.map((file) => [file, read(file)]));
const edges = files.flatMap((from) =>
  importsOf(sources.get(from) ?? "").map((name) => ({ from, name, to: resolve(from, name) })),
);

function readRooms(): Map<string, Room> {
  const rows = tableBelow(read("docs/architecture.md"), "## Rooms").map((cells) => {
    const [floor = "", name = "", , allowed = "", now = ""] = cells;
    return { floor: Number(floor), name: name.replaceAll("`", ""), allowed, planned: now === "planned" };
  });
  return new Map(
    rows.map((row) => {
      const below = rows.filter((other) => other.floor < row.floor).map((other) => other.name);
      const match = /^all below(?: but (.*))?$/.exec(row.allowed);
      const names = ["nothing", "node only"].includes(row.allowed)
        ? []
        : list(match === null ? row.allowed : (match[1] ?? ""));
      const mayImport = new Set(match === null ? names : below.filter((name) => !names.includes(name)));
      return [row.name, { floor: row.floor, name: row.name, mayImport, planned: row.planned }];
    }),
  );
}

function list(text: string): string[] {
  return text.split(",").flatMap((part) => part.trim() || []);
}

function resolve(from: string, name: string): string | undefined {
  return name.startsWith(".") ? normalize(join(dirname(from), name)) : undefined;
}

function roomOf(file: string): string {
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

test("the table of rooms can be read, and names only lower floors", () => {
  assert.ok(rooms.size >= 12, "docs/architecture.md has a table of rooms");
  for (const room of rooms.values()) {
    assert.ok(Number.isInteger(room.floor), `${room.name} has a floor`);
    for (const name of room.mayImport) {
      const other = rooms.get(name);
      assert.ok(other !== undefined, `${room.name} may import ${name}, which is not a room`);
      assert.ok(other.floor < room.floor, `${room.name} may import ${name}, which is not on a lower floor`);
    }
  }
});

test("every file belongs to a room of the table, and the table knows which rooms exist", () => {
  const strangers = files.filter((file) => !TOP.has(file) && !rooms.has(roomOf(file)));
  assert.deepEqual(strangers, []);
  const used = new Set(files.map(roomOf));
  const built = [...rooms.values()].filter((room) => room.planned && used.has(room.name)).map((room) => room.name);
  assert.deepEqual(built, [], "these rooms exist: mark them in docs/architecture.md");
});

test("rooms import only what their line allows", () => {
  const wrong = edges.filter(({ from, to }) => {
    if (to === undefined || TOP.has(from) || !to.startsWith("src/")) return false;
    if (TOP.has(to)) return true;
    const [own, other] = [roomOf(from), roomOf(to)];
    return own !== other && rooms.get(own)?.mayImport.has(other) !== true;
  });
  assert.deepEqual(
    wrong.map(({ from, to }) => `${from} → ${to}`),
    [],
  );
});

test("imports name files that exist, with their ending, and stay inside src", () => {
  const wrong = edges.filter(({ to }) => to !== undefined && (!to.startsWith("src/") || !existsSync(join(root, to))));
  assert.deepEqual(
    wrong.map(({ from, name }) => `${from} → ${name}`),
    [],
  );
});

test("nobody imports src/index.ts, and rooms have no barrel files", () => {
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

test("time, chance, environment and standard streams stay in their rooms", () => {
  const inBase = (file: string) => roomOf(file) === "base";
  const atEdge = (file: string) => inBase(file) || file === "src/main.ts";
  const mayPrint = (file: string) => inBase(file) || roomOf(file) === "cli" || TOP.has(file);
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
  const loaded = packagesLoadedWith("src/local-api.ts");
  assert.ok(loaded.includes("fastify"));
  assert.deepEqual(
    loaded.filter((name) => slow.has(name)),
    [],
  );
});

test("BullMQ, its board and its Redis client are known to one engine alone, and rooms know engines by their port", () => {
  const strangers = edges.filter(
    ({ from, name }) => /^(bullmq|ioredis|@bull-board\/.+)$/.test(name) && !from.startsWith("src/engine/bullmq/"),
  );
  assert.deepEqual(strangers, []);
  const past = edges.filter(
    ({ from, to }) =>
      to?.startsWith("src/engine/") === true &&
      to !== "src/engine/port.ts" &&
      !from.startsWith("src/engine/") &&
      !TOP.has(from),
  );
  assert.deepEqual(past, []);
});

test("the client runs wherever there is fetch: it imports neither packages nor modules of Node", () => {
  const imported = edges.filter(({ from, to }) => roomOf(from) === "api-client" && to === undefined);
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

test("the lock file names no registry", () => {
  assert.ok(!/"resolved":\s*"(?!file:)/.test(read("package-lock.json")));
});
