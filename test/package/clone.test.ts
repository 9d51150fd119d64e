/** A clone as whoever tries the product has it: it is installed, started and tested, and keeps to itself. */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { root } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";

/** What git does not keep. */
const NOT_CLONED = new Set([".git", "node_modules", "dist", "data"]);
const SMALL_TEST = "test/base/gauge.test.ts";

const temp = tempDir();
const [home, scratch, place] = ["home", "tmp", "place"].map((name) => join(temp.path, name)) as [
  string,
  string,
  string,
];
const clone = join(place, "clone");

const env = () => ({
  // npm of the machine, and its Node: `npm test` puts others first.
  PATH: (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => !folder.endsWith(join("node_modules", ".bin")))
    .join(delimiter),
  HOME: home,
  TMPDIR: scratch,
  npm_config_cache: join(temp.path, "npm-cache"),
});
const npm = (...words: string[]) => promisify(execFile)("npm", words, { cwd: clone, env: env() });

/** Where nothing belongs, and what is there. Node keeps npm's own compiled code with the temporary files. */
function strewn(): string[] {
  const inScratch = readdirSync(scratch).filter((name) => name !== "node-compile-cache");
  return [...readdirSync(home), ...inScratch, ...readdirSync(place).filter((name) => name !== basename(clone))];
}

/** The first line with this in what it says, which is waited for. */
function said(child: ChildProcess, words: RegExp): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (more: string) => {
        text += more;
        const found = words.exec(text);
        if (found !== null) resolve(found[0]);
      });
    child.once("close", (code) => reject(new Error(`it ended with ${code}: ${text}`)));
  });
}

describe("a fresh clone", () => {
  before(() => {
    for (const folder of [home, scratch, clone]) mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(root).filter((name) => !NOT_CLONED.has(name)))
      cpSync(join(root, name), join(clone, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  });
  after(() => temp[Symbol.dispose]());

  test("can be imported once its packages are there", async () => {
    await npm("run", "prepare");
    const program = `const { Orchestrator } = await import("orbweaver"); await import("orbweaver/handlers"); console.log(typeof Orchestrator.start);`;
    const words = ["--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: clone, env: env() });
    assert.equal(stdout, "function\n");
    // Without them a program that links the clone reads its sources, which its settings refuse (TS5097).
    for (const door of ["index", "api-client/client"])
      assert.ok(existsSync(join(clone, "dist", "types", `${door}.d.ts`)), `the types of ${door}`);
  });

  test("is installed as well where it cannot be built", async () => {
    const bare = join(temp.path, "bare");
    mkdirSync(bare);
    for (const name of ["package.json", "package-lock.json"]) cpSync(join(root, name), join(bare, name));
    const prepare = () => promisify(execFile)("npm", ["run", "prepare"], { cwd: bare, env: env() });
    await prepare();
    for (const name of ["scripts", "bin"]) cpSync(join(root, name), join(bare, name), { recursive: true });
    await prepare();
    assert.equal(existsSync(join(bare, "dist")), false);
    rmSync(bare, { recursive: true });
  });

  test("npm start and npm test leave nothing outside of it", async () => {
    // The dashboard of the original: it would be built alike.
    cpSync(join(root, "dist", "web"), join(clone, "dist", "web"), { recursive: true });
    const entries = readdirSync(clone);
    const running = spawn("npm", ["start", "--", "--port", "0"], { cwd: clone, env: env() });
    const ended = new Promise((resolve) => running.once("close", resolve));
    try {
      const url = await said(running, /http:\/\/127\.0\.0\.1:\d+/);
      assert.equal((await fetch(`${url}/health`)).status, 200);
      const shown = processesIn(clone);
      assert.ok(shown === null || shown.includes("orb serve"), String(shown));
    } finally {
      running.kill("SIGTERM");
      await ended;
    }
    assert.deepEqual(strewn(), []);
    const { stdout } = await npm("test", "--", SMALL_TEST);
    assert.match(stdout, /\n\d+ passed, 0 failed\n$/);
    assert.deepEqual(strewn(), []);
    assert.deepEqual(
      readdirSync(clone).filter((name) => !entries.includes(name)),
      ["data"],
    );
  });
});

/** What lists of processes show of those that work in this folder; null where there is no such list. */
function processesIn(folder: string): string[] | null {
  if (process.platform !== "linux") return null;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const isThere = readlinkSync(`/proc/${pid}/cwd`) === folder;
        return isThere ? [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim()] : [];
      } catch {
        return [];
      }
    });
}
