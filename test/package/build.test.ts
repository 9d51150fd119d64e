import assert from "node:assert/strict";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { ensureCode } from "../../scripts/code.mjs";
import { OrbProcess } from "../chaos/orb.ts";
import { root } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";

/** A clone with a program of two files, the second one loaded when it is needed. */
function makeClone(dir: string): void {
  for (const name of ["bin", "scripts"]) cpSync(join(root, name), join(dir, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));
  writeFileSync(join(dir, "package.json"), '{ "type": "module" }');
  for (const name of ["index.ts", "lanes/handlers/user/define.ts", "api-client/client.ts"]) {
    mkdirSync(dirname(join(dir, "src", name)), { recursive: true });
    writeFileSync(join(dir, "src", name), "export {};\n");
  }
  writeFileSync(join(dir, "src/later.ts"), 'export const said: string = "one";\n');
  writeFileSync(
    join(dir, "src/main.ts"),
    'export const main = async () => console.log(import.meta.url.split(".").at(-1), (await import("./later.ts")).said);\n',
  );
}

const parts = (dir: string) => readdirSync(join(dir, "dist/code")).filter((name) => name.startsWith("later."));

test("orb in a clone runs built code of the sources as they are now", async () => {
  using folder = tempDir();
  const dir = folder.path;
  makeClone(dir);
  const said = async () => {
    const orb = new OrbProcess([], { cwd: dir, env: { PATH: "" }, orb: join(dir, "bin/orb") });
    return (await orb.end()).stdout;
  };
  assert.equal(await said(), "js one\n");
  assert.equal(await ensureCode({ folder: dir }), false, "it is built once");
  utimesSync(join(dir, "src/later.ts"), 1, 1);
  assert.equal(await ensureCode({ folder: dir }), false, "a file's time alone is no change");
  writeFileSync(join(dir, "src/later.ts"), 'export const said: string = "two";\n');
  const before = parts(dir);
  assert.equal(await said(), "js two\n");
  assert.ok(
    before.every((name) => parts(dir).includes(name)),
    "what runs may still load its parts",
  );
  appendFileSync(join(dir, "src/index.ts"), "export const more = 1;\n");
  await ensureCode({ folder: dir, keepMs: 0 });
  assert.ok(!before.every((name) => parts(dir).includes(name)), "npm run build leaves nothing behind");
  // A stranger's mistake in the sources: they run as they are, and say what is wrong with them.
  writeFileSync(join(dir, "src/index.ts"), 'import "./nowhere.ts";\n');
  assert.equal(await said(), "ts two\n");
});

test("commands that only look load neither browser nor network client", async () => {
  await ensureCode();
  const code = join(root, "dist/code");
  const loaded = new Set<string>();
  const load = (name: string) => {
    if (loaded.has(name)) return;
    loaded.add(name);
    if (!name.startsWith("./")) return;
    const text = readFileSync(join(code, name), "utf8");
    for (const [, named = ""] of text.matchAll(/^(?:import|export)\b[^;]*?["']([^"']+)["'];$/gm)) load(named);
  };
  load("./main.js");
  assert.ok(loaded.size > 10, "it loads parts");
  const packages = [...loaded].filter((name) => !name.startsWith("./") && !name.startsWith("node:"));
  assert.deepEqual(packages, ["commander"]);
});
