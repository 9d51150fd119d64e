// node scripts/bundle.mjs FOLDER OUT: bundles the program of a clone. Only our own code: packages stay external, so
// that npm manages their versions, licences and security fixes, and a user's program shares them with ours.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [, , folder = "", out = ""] = process.argv;
const require = createRequire(join(folder, "package.json"));
const { rolldown } = await import(pathToFileURL(require.resolve("rolldown")).href);

/** Entry points; `main` is the command line. */
const DOORS = { main: "src/main.ts", index: "src/index.ts", handlers: "src/lanes/handlers/user/define.ts" };
/** Also runs in browsers: a single file. */
const CLIENT = "src/api-client/client.ts";
/** How a file refers to another one that it reads, or starts as a thread or process. */
const BESIDE = /new URL\(\s*"([^"]+)",\s*import\.meta\.url,?\s*\)/g;

const doors = new Map(Object.entries(DOORS).map(([name, path]) => [join(folder, path), name]));
for (const entry of readdirSync(join(folder, "src"), { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (!entry.isFile() || !path.endsWith(".ts")) continue;
  for (const [, beside] of readFileSync(path, "utf8").matchAll(BESIDE)) {
    const started = resolve(dirname(path), beside);
    if (!started.endsWith(".ts") || doors.has(started)) continue;
    doors.set(started, relative(join(folder, "src"), started).slice(0, -3).replaceAll(/[\\/]/g, "-"));
  }
}

/** All files end up in one folder, dist/code, wherever they were. */
function besideBuilt(code, id) {
  return code.replaceAll(BESIDE, (_, beside) => {
    const named = resolve(dirname(id), beside);
    const door = doors.get(named);
    const path = door === undefined ? `../../${relative(folder, named).replaceAll("\\", "/")}` : `./${door}.js`;
    return `new URL(${JSON.stringify(path)}, import.meta.url)`;
  });
}

/** Of code, not of types alone: those are erased. */
const IMPORT = /^(?:import|export)(?! type\b)[^;]*? from "(\.[^"]+)";|^import "(\.[^"]+)";/gm;
const IMPORT_LATER = /\bimport\("(\.[^"]+)"\)/g;

/** A file and all that it imports; `later`: also what it imports while it runs. */
function importedBy(path, { later }, found = new Set()) {
  if (found.has(path) || !existsSync(path)) return found;
  found.add(path);
  const text = readFileSync(path, "utf8");
  const names = [...text.matchAll(IMPORT), ...(later ? text.matchAll(IMPORT_LATER) : [])];
  for (const [, name, effect] of names) importedBy(resolve(dirname(path), name ?? effect), { later }, found);
  return found;
}

/** What commands import together: all of them, those that open the store, those that call the API, those that work. */
const PARTS = {
  start: DOORS.main,
  store: "src/app/context.ts",
  api: "src/app/local-api.ts",
  work: "src/app/worker.ts",
};

/**
 * The files of each part become one: finding, reading and linking a hundred small ones takes longer than what is in
 * them. Without what threads and processes import, too, as they would load all of it, and without the commands
 * themselves, which the library does not need.
 */
function partsOfCommands() {
  const taken = new Set();
  for (const [path, name] of doors)
    if (!Object.hasOwn(DOORS, name)) for (const one of importedBy(path, { later: true })) taken.add(one);
  return Object.entries(PARTS).map(([name, path]) => {
    const all = [...importedBy(join(folder, path), { later: false })].filter((one) => !taken.has(one));
    for (const one of all) taken.add(one);
    const files = new Set(all.filter((one) => !one.startsWith(COMMANDS) && !doors.has(one)));
    return { name, test: (id) => files.has(id) };
  });
}
const COMMANDS = join(folder, "src", "cli");

const build = await rolldown({
  cwd: folder,
  input: Object.fromEntries([...doors].map(([path, name]) => [name, path])),
  platform: "node",
  external: (id) => !/^[./]|^[a-z]:[\\/]/i.test(id),
  plugins: [
    {
      name: "files beside",
      transform: {
        filter: { id: /\.ts$/, code: /import\.meta\.url/ },
        handler: (code, id) => ({ code: besideBuilt(code, id), map: null }),
      },
    },
  ],
  onLog: (level, log, pass) => {
    // Line numbers do not change.
    if (log.code !== "SOURCEMAP_BROKEN") pass(level, log);
  },
});
const output = {
  dir: out,
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "[name].[hash].js",
  // For --enable-source-maps; the sources are in the clone and at the version's tag.
  sourcemap: true,
  sourcemapExcludeSources: true,
};
// Only these files: what they import may belong to a thread, too.
const codeSplitting = { groups: partsOfCommands(), includeDependenciesRecursively: false };
await build.write({ ...output, codeSplitting });

const client = await rolldown({ cwd: folder, input: { client: join(folder, CLIENT) }, platform: "browser" });
await client.write(output);
